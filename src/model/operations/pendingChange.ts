/** A change of a compute that was accepted and is under way: the operations of one call, followed together. */
import { isComputeId, isId } from '../../api/records/ids.ts';
import { isFinal } from '../../api/records/operationStatus.ts';

export const CHANGE_VERBS = ['create', 'edit', 'restart', 'delete'] as const;
export type ChangeVerb = (typeof CHANGE_VERBS)[number];

export interface TrackedOperation {
  readonly id: string;
  readonly action: string;
  readonly status: string;
  /** How often the service has tried in vain so far. */
  readonly failures: number;
  /** The service's words about a failure. */
  readonly error?: string | undefined;
}

export interface PendingChange {
  /** The first operation's id. */
  readonly id: string;
  /** See `accountId`: pending changes of another account are kept, not asked after. */
  readonly account: string;
  readonly verb: ChangeVerb;
  readonly projectId: string;
  readonly computeId: string;
  /** What the user calls the compute, where it has a name. */
  readonly name?: string;
  readonly operations: readonly TrackedOperation[];
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** `lost`: its project is no longer there. `stuck`: given up after `GIVE_UP_AFTER`. */
export interface ChangeEnd {
  readonly change: PendingChange;
  readonly outcome: 'finished' | 'failed' | 'lost' | 'stuck';
  readonly reason: string | undefined;
}

/** Operations that have not ended. */
export const openOperations = (changes: readonly PendingChange[]): number =>
  changes.reduce((sum, { operations }) => sum + operations.filter((one) => !isFinal(one)).length, 0);

/** Where a window keeps what is under way, for the one after it. */
export const PENDING_ENTRY = 'hostedPostgres.pendingChanges';

export const hasPending = (memory: { get(entry: string): unknown }): boolean =>
  parsePending(memory.get(PENDING_ENTRY)).length > 0;

/** Reads back what an earlier window has kept; what is not as written then is left out. */
export function parsePending(value: unknown): readonly PendingChange[] {
  return Array.isArray(value) ? value.filter(isPendingChange) : [];
}

function isPendingChange(value: unknown): value is PendingChange {
  if (typeof value !== 'object' || value === null) return false;
  const { id, account, verb, projectId, computeId, name, operations, since } =
    value as Partial<PendingChange>;
  const isKnownVerb = CHANGE_VERBS.some((known) => known === verb);
  const isAddressed =
    typeof id === 'string' && typeof account === 'string' && isId(projectId) && isComputeId(computeId);
  const isNamed = name === undefined || typeof name === 'string';
  return isAddressed && isKnownVerb && isNamed && typeof since === 'number' && areOperations(operations);
}

const areOperations = (value: unknown): value is readonly TrackedOperation[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(
    (operation: Partial<TrackedOperation> | null) =>
      typeof operation?.id === 'string' &&
      typeof operation.action === 'string' &&
      typeof operation.status === 'string' &&
      typeof operation.failures === 'number',
  );
