/** Messages for errors of the system. */
import { fieldsOf } from './fieldsOf.ts';

/** System errors whose cause the user can remove. */
const CAUSES: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'the disk is full (ENOSPC). Free some space and try again.'],
  ['EDQUOT', 'the disk quota is used up (EDQUOT). Free some space and try again.'],
  ['EROFS', 'the file system is read-only (EROFS). Choose another folder.'],
]);

/** Whether {@link systemReason} says what the user can do. */
export const hasRemedy = (error: unknown): boolean => CAUSES.has(String(fieldsOf(error)['code']));

/**
 * Returns the code of a system error (such as `EACCES`) or the message of another one. If the user can remove the cause, it also says
 * how.
 */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!('code' in error) || typeof error.code !== 'string') return error.message;
  return CAUSES.get(error.code) ?? error.code;
}
