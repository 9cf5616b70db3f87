/**
 * - `noPostgres`: it has no usable Postgres; the message says why.
 * - `silent`: its process runs but doesn't respond.
 * - `otherKey`: it runs and doesn't accept the key of this window.
 * - `ended`: it ended and wasn't restarted.
 * - `revokedKey`: it needs a new key.
 */
export type LocalServiceFailure = 'silent' | 'otherKey' | 'ended' | 'revokedKey' | 'noPostgres';

/** Identified by its name, because the class may be in two bundles. */
export class LocalServiceError extends Error {
  override readonly name = 'LocalServiceError';
  readonly reason: LocalServiceFailure;

  constructor(reason: LocalServiceFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

export const isLocalServiceError = (error: unknown): error is LocalServiceError =>
  error instanceof Error && error.name === 'LocalServiceError' && 'reason' in error;
