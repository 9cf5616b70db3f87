/** Why the local service cannot be used although it was started. Recognised by name: the class may exist in two bundles. */
export class LocalServiceError extends Error {
  override readonly name = 'LocalServiceError';
  /** `silent`: its process runs and does not answer. `ended`: it has ended and was not started again. */
  readonly reason: 'silent' | 'ended';

  constructor(reason: 'silent' | 'ended', message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

export const isLocalServiceError = (error: unknown): error is LocalServiceError =>
  error instanceof Error && error.name === 'LocalServiceError' && 'reason' in error;
