/** Whether a reloaded branch shows a change whose reply was lost. */
import type { Branch } from '../../api/records/records.ts';
import type { BranchPatch } from '../../api/records/requests.ts';

/** @param change the attributes that were sent */
export const hasRequestedChange = (branch: Branch | undefined, change: BranchPatch): boolean =>
  branch !== undefined &&
  Object.entries(change).every(([field, value]) => {
    const current: unknown = Reflect.get(branch, field) ?? null;
    return field === 'expires_at' ? isSameTime(current, value) : current === value;
  });

/** Whether two values are the same time. The service may write a time in another way than it was sent. */
const isSameTime = (one: unknown, other: unknown): boolean =>
  typeof one === 'string' && typeof other === 'string'
    ? Date.parse(one) === Date.parse(other)
    : one === other;

/**
 * Whether the branch was reset after `before` was read. The reset may have ended by the time that the branch is reloaded.
 * @param before the branch when the reset was sent
 */
export const wasReset = (before: Branch | undefined, after: Branch | undefined): boolean =>
  after !== undefined &&
  (isNewState('resetting', before, after) ||
    (after.last_reset_at ?? null) !== (before?.last_reset_at ?? null));

const isNewState = (state: string, before: Branch | undefined, after: Branch): boolean =>
  after.current_state === state && before?.current_state !== state;
