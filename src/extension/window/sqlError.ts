/** A statement that failed. The message is for the agent alone: in it, Postgres may quote values of the database. */
export class SqlError extends Error {
  override readonly name = 'SqlError';
  /** The message without values, for logs. */
  readonly summary: string;
  readonly code: string | undefined;

  /** @param code SQLSTATE, or the code of a connection's error */
  constructor(message: string, code: string | undefined, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.summary = code === undefined ? 'the statement failed' : `the statement failed: ${code}`;
  }
}
