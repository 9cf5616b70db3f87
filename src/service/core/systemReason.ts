/** Why the service cannot start. Each reason has an exit code of its own, so that a script can tell them apart. */
export const EXIT_CODES = {
  unexpected: 1,
  usage: 2,
  alreadyRunning: 3,
  portInUse: 4,
  dataDirectory: 5,
  newerFormat: 6,
  corrupt: 7,
  projectsFile: 8,
  revokedKey: 9,
} as const;

export type StartFailureReason = keyof typeof EXIT_CODES;

/** `message` is one line for people. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
  readonly reason: StartFailureReason;

  constructor(reason: StartFailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** System errors of which the user can remove the cause. */
const CAUSES: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
]);

/** The system's word for an error (`EACCES`, `EROFS`…), or its message; for a full disk also what to do. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!('code' in error) || typeof error.code !== 'string') return error.message;
  const cause = CAUSES.get(error.code);
  return cause === undefined ? error.code : `${cause} (${error.code}). Free some space and try again.`;
}
