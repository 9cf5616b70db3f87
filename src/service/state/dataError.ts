export type DataErrorReason = 'alreadyRunning' | 'notUsable' | 'newerFormat' | 'corrupt';

/** Why the data directory cannot be used; `message` is one line for users. */
export class DataError extends Error {
  override readonly name = 'DataError';
  readonly reason: DataErrorReason;

  constructor(reason: DataErrorReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
