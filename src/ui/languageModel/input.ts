/** Reads what a model gives to a tool: anything at all, whatever the schema in the manifest says. */
import { l10n } from 'vscode';
import type { Compute } from '../../api/records.ts';
import { isComputeId, isId } from '../../api/ids.ts';
import type { ToolParts } from './parts.ts';

export interface Target {
  readonly projectId: string;
  readonly computeId: string;
}

export const fieldsOf = (input: unknown): Readonly<Record<string, unknown>> =>
  typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};

export function targetOf(input: unknown): Target | undefined {
  const { projectId, computeId } = fieldsOf(input);
  return isId(projectId) && isComputeId(computeId) ? { projectId, computeId } : undefined;
}

/** @throws {Error} when nobody is connected */
export function requireConnection({ session }: ToolParts): void {
  if (session.connection === undefined)
    throw new Error(l10n.t('Not connected. Run “Hosted Postgres: Connect…”.'));
}

/** The compute as the service tells it now. @throws {Error} for ids that are none, or that nothing has */
export async function computeAt(parts: ToolParts, input: unknown): Promise<Compute> {
  requireConnection(parts);
  const target = targetOf(input);
  if (target === undefined)
    throw new Error(l10n.t('projectId and computeId must be ids from the list of computes.'));
  await parts.inventory.refreshComputes(target.projectId);
  const compute = parts.inventory.compute(target.projectId, target.computeId);
  if (compute === undefined) throw new Error(l10n.t('{0} no longer exists.', target.computeId));
  return compute;
}
