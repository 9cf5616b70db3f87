/** Why the local service cannot be used. Recognised by name, because the class may exist in two bundles. */
export type LocalServiceFailure = 'silent' | 'ended' | 'revokedKey';

export class LocalServiceError extends Error {
  override readonly name = 'LocalServiceError';
  /** `silent`: its process runs and does not answer. `ended`: it ended and was not started again. */
  readonly reason: LocalServiceFailure;

  constructor(reason: LocalServiceFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

export const isLocalServiceError = (error: unknown): error is LocalServiceError =>
  error instanceof Error && error.name === 'LocalServiceError' && 'reason' in error;
