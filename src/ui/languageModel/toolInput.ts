/** What a tool receives: the state of the extension, and a model's input, which may not match the schema in package.json. */
import { fieldsOf } from '../../base/fieldsOf.ts';
import { l10n } from 'vscode';
import { isComputeId, isId } from '../../api/records/ids.ts';
import type { Compute } from '../../api/records/records.ts';
import { sizeProblem, type SizeRange } from '../../api/records/sizes.ts';
import type { ComputeActions } from '../../model/operations/computeActions.ts';
import type { Inventory } from '../../model/inventory/inventory.ts';
import type { AccountConnection } from '../../model/account/accountConnection.ts';
import type { Guards } from '../../model/account/guards.ts';
import type { Session } from '../../model/account/session.ts';
import type { Log } from '../log/log.ts';

/** Tools have no access to accounts and API keys. */
export interface ToolDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly guards: Guards;
  readonly computeActions: ComputeActions;
  readonly log: Pick<Log, 'clean' | 'error'>;
}

export interface Target {
  readonly projectId: string;
  readonly computeId: string;
}

export function targetOf(input: unknown): Target | undefined {
  const { projectId, computeId } = fieldsOf(input);
  return isId(projectId) && isComputeId(computeId) ? { projectId, computeId } : undefined;
}

/** Reads a size, which is fixed if there is no maximum. @returns undefined if the input has no valid minimum or maximum */
export function sizeOfInput(input: unknown): SizeRange | undefined {
  const { minCu: min, maxCu: max = min } = fieldsOf(input);
  return typeof min === 'number' && typeof max === 'number' ? { min, max } : undefined;
}

/** @throws {Error} with a message for the model */
export function requireSize(input: unknown): SizeRange {
  const size = sizeOfInput(input);
  if (size === undefined) throw new Error(l10n.t('minCu and maxCu must be numbers.'));
  const problem = sizeProblem(size);
  if (problem === 'not-a-size') throw new Error(l10n.t('The service has no compute of this size.'));
  if (problem === 'min-above-max') throw new Error(l10n.t('The minimum is greater than the maximum.'));
  // The service checks whether the plan allows the size.
  return size;
}

/** @throws {Error} without a connection */
export function requireToolConnection({ session }: ToolDependencies): AccountConnection {
  if (session.connection === undefined)
    throw new Error(l10n.t('Not connected. Run “Hosted Postgres: Connect…”.'));
  return session.connection;
}

/** Reads the compute from the service. @throws {Error} without a connection, and for invalid or unknown ids */
export async function findComputeOfTool(
  deps: ToolDependencies,
  input: unknown,
): Promise<{ readonly connection: AccountConnection; readonly compute: Compute }> {
  const connection = requireToolConnection(deps);
  const target = targetOf(input);
  if (target === undefined)
    throw new Error(l10n.t('projectId and computeId must be ids from the list of computes.'));
  await deps.inventory.refreshComputes(target.projectId);
  const compute = deps.inventory.compute(target.projectId, target.computeId);
  if (compute === undefined) throw new Error(l10n.t('{0} no longer exists.', target.computeId));
  return { connection, compute };
}
