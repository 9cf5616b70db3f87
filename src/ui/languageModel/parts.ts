import type { CancellationToken, PreparedToolInvocation } from 'vscode';
import type { ComputeChanges } from '../../model/computeChanges.ts';
import type { Inventory } from '../../model/inventory.ts';
import type { Session } from '../../model/session.ts';
import type { Log } from '../log/log.ts';

/** Exactly those of the manifest, which a test compares. */
export const TOOL_NAMES = [
  'hostedPostgres_listComputes',
  'hostedPostgres_getCompute',
  'hostedPostgres_restartCompute',
  'hostedPostgres_resizeCompute',
] as const;

export type ToolName = (typeof TOOL_NAMES)[number];

/** What the tools work with: what the sidebar shows. Accounts and keys are not among it. */
export interface ToolParts {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly changes: ComputeChanges;
  readonly log: Pick<Log, 'clean' | 'error'>;
}

export interface Tool {
  /** What is said while it runs, and what is asked first. `undefined` for input that `invoke` refuses. */
  prepare(parts: ToolParts, input: unknown): PreparedToolInvocation | undefined;
  /** @returns JSON to be. @throws whatever went wrong; the model is told the words of it */
  invoke(parts: ToolParts, input: unknown, token: CancellationToken): Promise<unknown>;
}
