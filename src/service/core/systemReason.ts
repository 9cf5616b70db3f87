/** System errors whose cause the user can remove. */
const CAUSES: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
]);

/** Returns the code of a system error (such as `EACCES`) or the message of another one; for a full disk, also what to do. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!('code' in error) || typeof error.code !== 'string') return error.message;
  const cause = CAUSES.get(error.code);
  return cause === undefined ? error.code : `${cause} (${error.code}). Free some space and try again.`;
}
