/**
 * - `noPostgres`: it has no usable Postgres; the message says why.
 * - `silent`: its process runs but doesn't respond.
 * - `otherKey`: it runs and doesn't accept the key of this window.
 * - `ended`: it ended and wasn't restarted.
 * - `revokedKey`: it needs a new key.
 */
export type LocalServiceFailure = 'silent' | 'otherKey' | 'ended' | 'revokedKey' | 'noPostgres';

export class LocalServiceError extends Error {
  override readonly name = 'LocalServiceError';
  readonly reason: LocalServiceFailure;

  constructor(reason: LocalServiceFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
