/** What each tool receives, and what all tools of computes and branches begin with. */
import { l10n } from 'vscode';
import type { Compute } from '../../api/records/records.ts';
import type { AccountConnection } from '../../model/account/accountConnection.ts';
import type { Guards } from '../../model/account/guards.ts';
import type { Session } from '../../model/account/session.ts';
import type { AgentBranches } from '../../model/agents/agentBranches.ts';
import type { ToolInput, ToolName, ToolOutput } from '../../model/agents/toolSchemas.ts';
import type { Inventory } from '../../model/inventory/inventory.ts';
import type { BranchActions } from '../../model/operations/branchActions.ts';
import type { ComputeActions } from '../../model/operations/computeActions.ts';
import type { OperationTracker } from '../../model/operations/operationTracker.ts';
import type { Schemas } from '../../model/schema/schemas.ts';
import type { KnownHosts } from '../../model/workBranch/knownHosts.ts';
import type { Log } from '../log/log.ts';

/** Tools have no access to accounts and API keys. */
export interface ToolDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly guards: Guards;
  readonly computeActions: ComputeActions;
  readonly branchActions: BranchActions;
  readonly agentBranches: AgentBranches;
  readonly tracker: OperationTracker;
  readonly schemas: Schemas;
  readonly knownHosts: KnownHosts;
  readonly log: Pick<Log, 'clean' | 'info' | 'error'>;
}

/** Who calls, and how. */
export interface Caller {
  /** The name of the agent, as it calls itself. */
  readonly agent: string;
  /** The folder that the agent works in, if it is known. An agent in a git worktree is often outside the window's folders. */
  readonly folder: string | undefined;
  readonly signal: AbortSignal;
}

export interface ToolCall<Input> extends Caller {
  readonly deps: ToolDependencies;
  /** The git worktree of `folder`, or else `folder`. */
  readonly worktree: string | undefined;
  /** As the table describes it. */
  readonly input: Input;
}

/** @throws {Error} with a sentence for the model */
export type ToolFunction<N extends ToolName> = (call: ToolCall<ToolInput<N>>) => Promise<ToolOutput<N>>;

export interface ComputeIds {
  readonly projectId: string;
  readonly computeId: string;
}

/** @throws {Error} without a connection */
export function requireToolConnection({ session }: Pick<ToolDependencies, 'session'>): AccountConnection {
  if (session.connection === undefined)
    throw new Error(l10n.t('Not connected. Run “Hosted Postgres: Connect…”.'));
  return session.connection;
}

/** Reads the compute from the service. @throws {Error} without a connection, and for unknown ids */
export async function findComputeOfTool(
  deps: ToolDependencies,
  { projectId, computeId }: ComputeIds,
): Promise<{ readonly connection: AccountConnection; readonly compute: Compute }> {
  const connection = requireToolConnection(deps);
  await deps.inventory.refreshComputes(projectId);
  const compute = deps.inventory.compute(projectId, computeId);
  if (compute === undefined) throw new Error(l10n.t('{0} no longer exists.', computeId));
  return { connection, compute };
}
