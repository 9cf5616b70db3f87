/** A change that the service accepted and that hasn't ended yet, with its operations. */
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { ResourceRef } from '../account/refs.ts';
import type { ResourceNames } from '../inventory/names.ts';
import type { Memory } from '../window/memory.ts';

/** What a change does to a compute or branch. */
export type ChangeVerb =
  | 'create'
  | 'edit'
  | 'start'
  | 'suspend'
  | 'restart'
  | 'reset'
  | 'undo'
  | 'restore'
  | 'delete';

interface TrackedOperation {
  readonly id: string;
  readonly action: string;
  readonly status: string;
  /** How many attempts of the service have failed so far. */
  readonly failures: number;
  /** The service's message about a failure. */
  readonly error?: string | undefined;
}

/** A change whose operations haven't ended. */
export interface PendingChange extends ResourceRef {
  /** The first operation's id. */
  readonly id: string;
  /** The id of the account, see `accountId`. Only pending changes of the current account are polled. */
  readonly account: string;
  readonly verb: ChangeVerb;
  /** The names of the resource when the change was sent. Undefined if an earlier version has stored the change. */
  readonly names?: ResourceNames | undefined;
  readonly operations: readonly TrackedOperation[];
  /** Whether its success isn't shown or announced, because the user knows nothing of its target, such as a rehearsal's copy. */
  readonly isQuiet?: boolean | undefined;
  /** Whether a notification shows its progress, so that its beginning isn't announced. */
  readonly hasNotification?: boolean | undefined;
  /** What an edit changes, such as the size `1 CU`, for the user. */
  readonly edited?: string | undefined;
  /** When the change was sent, in milliseconds since 1970. */
  readonly since: number;
}

/** How a change ended. It is `lost` if the project was deleted, and `stuck` if it hasn't ended after `GIVE_UP_AFTER`. */
export interface ChangeEnd {
  readonly change: PendingChange;
  readonly outcome: 'finished' | 'failed' | 'lost' | 'stuck';
  /** Why the change failed, as the service says it. */
  readonly reason?: string | undefined;
}

/** The statuses of operations that have ended, including those that only the public service has. */
const FINAL_STATUSES: ReadonlySet<string> = new Set(['finished', 'failed', 'error', 'cancelled', 'skipped']);
const FAILED_STATUSES: ReadonlySet<string> = new Set(['failed', 'error', 'cancelled']);

/** Whether the operation has ended. */
export const isEndedOperation = ({ status }: Pick<TrackedOperation, 'status'>): boolean =>
  FINAL_STATUSES.has(status);

export const isFailedOperation = ({ status }: Pick<TrackedOperation, 'status'>): boolean =>
  FAILED_STATUSES.has(status);

/** The entry of the pending changes in the workspace state, for the next window. */
export const PENDING_ENTRY = 'hostedPostgres.pendingChanges';

export const hasPendingChange = (memory: Pick<Memory, 'get'>, now: number): boolean =>
  parsePending(memory.get(PENDING_ENTRY), now).length > 0;

/** Milliseconds after which changes are dropped, because those of a removed account would be kept forever. */
const FORGOTTEN_AFTER = 24 * 60 * 60_000;

/** Reads what an earlier window has stored. Only the times are checked, because only this extension writes the entry. */
export function parsePending(value: unknown, now: number): readonly PendingChange[] {
  if (!Array.isArray(value)) return [];
  return value.filter((change): change is PendingChange => {
    const { since } = fieldsOf(change);
    return typeof since === 'number' && now - since < FORGOTTEN_AFTER;
  });
}
