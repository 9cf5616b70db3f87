/**
 * One statement by the extended protocol, which rejects several in one text. Values arrive as Postgres prints them, so that
 * numbers, times and bytes are exact. Rows, values and bytes are limited.
 */
import type { Connection, FieldDef, Submittable } from 'pg';
import type Client from 'pg/lib/client.js';

/** What the package's own types lack or describe differently. */
declare module 'pg' {
  interface Connection {
    parse(message: { readonly name: ''; readonly text: string; readonly types: readonly [] }): void;
    describe(message: { readonly type: 'S'; readonly name: '' }): void;
    bind(message: object): void;
    execute(message: { readonly portal: ''; readonly rows: number }): void;
    sendCopyFail(message: string): void;
  }
}

/** A statement to run, and the limits of its result. */
export interface SqlRequest {
  readonly sql: string;
  /** Whether the statement may write. If not, only a statement that returns rows is run, and it is stopped after `maxRows`. */
  readonly write: boolean;
  readonly maxRows: number;
  /** The most characters of all values. The default is as many as a model can read. */
  readonly maxText?: number;
  /**
   * Another statement, which runs in the same transaction if the first one has succeeded. An error of it doesn't undo the first one.
   * It has no parameters, only reads, and returns rows.
   */
  readonly after?: string | undefined;
}

/** What a statement has returned. */
export interface StatementResult {
  fields: readonly FieldDef[];
  readonly rows: (string | null)[][];
  /** Whether rows or parts of values were left out. */
  truncated: boolean;
  /** What was done, such as `INSERT 0 3`; undefined if the statement was stopped. */
  command: string | undefined;
  /** The rows of the statement after it; undefined if that didn't run or has failed. */
  after?: (string | null)[][];
}

/** Limits in characters, because a model has to read them: of one value, and of all values. */
const MAX_VALUE = 4000;
const MAX_TEXT = 60_000;
/** A single value can have 1 GB. The client holds a row until all of it has arrived. */
const MAX_BYTES = 16 * 1024 * 1024;
/** The error code of a statement that was canceled, by its user or by a time limit. */
const QUERY_CANCELED = '57014';
/** The statement, BEGIN, SAVEPOINT and the statement after it. */
const COMPLETED_BEFORE_COMMIT = 4;

/** @throws {Error} the error of Postgres */
export async function runStatement(client: Client, request: SqlRequest): Promise<StatementResult> {
  const statement = new Statement(request);
  client.query(statement);
  const result = await statement.result;
  if (statement.isUncommitted) await client.query('ROLLBACK TO SAVEPOINT after_statement; COMMIT');
  return result;
}

/** Runs one statement on a connection of `pg`. Use {@link runStatement} if another one runs after it. */
export class Statement implements Submittable {
  readonly #request: SqlRequest;
  readonly #ended = Promise.withResolvers<StatementResult>();
  readonly #result: StatementResult = { fields: [], rows: [], truncated: false, command: undefined };
  #connection: Connection | undefined;
  #textLeft: number;
  #bytes = 0;
  #isSynced = false;
  #hasParameters = false;
  /** How many statements have succeeded: this one, and those that come after it. */
  #completed = 0;
  #isUncommitted = false;
  #failure: Error | undefined;

  /** Rejects with the error of Postgres. */
  readonly result = this.#ended.promise;

  constructor(request: SqlRequest) {
    this.#request = request;
    this.#textLeft = request.maxText ?? MAX_TEXT;
    // A caller that sees another error first doesn't await the result, whose rejection must not count as unhandled.
    this.result.catch(() => undefined);
  }

  /** Whether this statement has succeeded and the one after it has failed, so that the transaction isn't committed yet. */
  get isUncommitted(): boolean {
    return this.#isUncommitted;
  }

  /** Sends the statement to be parsed. It runs after Postgres has said whether it returns rows. */
  submit(connection: Connection): void {
    this.#connection = connection;
    // The bytes are counted before the parser reads the chunk, because the parser may end the statement with it.
    connection.stream.prependListener('data', this.#count);
    connection.once('noData', this.#handleNoData);
    connection.once('parameterDescription', this.#handleParameters);
    connection.parse({ name: '', text: this.#request.sql, types: [] });
    connection.describe({ type: 'S', name: '' });
    connection.flush();
  }

  readonly #handleParameters = ({ parameterCount }: { readonly parameterCount: number }) => {
    this.#hasParameters = parameterCount > 0;
  };

  readonly #handleNoData = () => {
    if (this.#request.write) return this.#execute();
    this.#failure = new Error('A read-only statement must return rows. Nothing was run.');
    this.#sync();
  };

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#result.fields = fields;
    if (!this.#isSynced) this.#execute();
  }

  /**
   * Runs the parsed statement. One row more than wanted shows that there are more. A change must not stop in the middle, so it has
   * no limit.
   */
  #execute(): void {
    const { write, maxRows, sql, after } = this.#request;
    // There are no values for the parameters. For a simple query, Postgres says so, or needs none, as in `EXPLAIN (GENERIC_PLAN)`.
    // Such a query can't be several statements, because Postgres has already parsed the text as one.
    if (this.#hasParameters) {
      this.#isSynced = true;
      this.#connection?.query(sql);
      return;
    }
    this.#connection?.bind({});
    this.#connection?.execute({ portal: '', rows: write ? 0 : maxRows + 1 });
    // Without a Sync, the transaction of the statement stays open. Postgres has ended it if it can't contain another statement.
    if (after === undefined) this.#sync();
    else this.#connection?.flush();
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const { rows, after } = this.#result;
    if (after !== undefined) return void after.push([...fields]);
    if (rows.length === this.#request.maxRows || this.#textLeft <= 0) this.#result.truncated = true;
    else rows.push(fields.map((value) => (value === null ? null : this.#cut(value))));
  }

  #cut(value: string): string {
    const length = Math.max(0, Math.min(MAX_VALUE, this.#textLeft));
    this.#textLeft -= Math.min(value.length, length);
    if (value.length <= length) return value;
    this.#result.truncated = true;
    return `${value.slice(0, length).toWellFormed()}… (${value.length} characters)`;
  }

  handlePortalSuspended(): void {
    this.#result.truncated = true;
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#completed += 1;
    if (this.#completed > 1) return;
    this.#result.command = text;
    const { after } = this.#request;
    if (after === undefined || this.#isSynced) return;
    this.#result.after = [];
    // The bytes of these rows must not end the connection, and with it the transaction.
    this.#connection?.stream.off('data', this.#count);
    // BEGIN makes the transaction of the statement one with savepoints. If Postgres has already committed it, there is a new one.
    for (const sql of ['BEGIN', 'SAVEPOINT after_statement', after, 'COMMIT']) {
      this.#connection?.parse({ name: '', text: sql, types: [] });
      this.#connection?.bind({});
      this.#connection?.execute({ portal: '', rows: 0 });
    }
    this.#sync();
  }

  handleEmptyQuery(): void {
    this.#failure = new Error('The statement is empty.');
    if (!this.#isSynced) this.#sync();
  }

  /** Refuses to send data. Postgres ignored the earlier Sync while it waited for the data. */
  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('COPY FROM STDIN is not supported');
    this.#sync();
  }

  handleCopyData(): void {
    this.#failure = new Error('COPY TO STDOUT is not supported. Use SELECT.');
  }

  handleError(error: Error): void {
    // A user who cancels, or a time limit, also ends the statement: what was done isn't committed then.
    const isCanceled = 'code' in error && error.code === QUERY_CANCELED;
    if (this.#result.after !== undefined && this.#completed < COMPLETED_BEFORE_COMMIT && !isCanceled) {
      delete this.#result.after;
      this.#isUncommitted = true;
    } else this.#failure ??= error;
    // After an error, Postgres skips everything until a Sync, and the next statement must wait for its reply.
    if (!this.#isSynced) this.#sync();
    this.#end();
  }

  handleReadyForQuery(): void {
    this.#end();
  }

  #sync(): void {
    this.#isSynced = true;
    this.#connection?.sync();
  }

  readonly #count = (chunk: Buffer) => {
    this.#bytes += chunk.length;
    if (this.#bytes <= MAX_BYTES) return;
    const sizes = `The result is larger than ${MAX_BYTES / 1024 / 1024} MB.`;
    // Without the connection, Postgres rolls the statement back, unless it committed before that.
    const effect = this.#request.write ? ' Check whether the change was made.' : '';
    this.#failure ??= new Error(`${sizes}${effect} Select fewer rows, or parts of values with left().`);
    this.#connection?.stream.destroy();
  };

  #end(): void {
    this.#connection?.stream.off('data', this.#count);
    this.#connection?.off('noData', this.#handleNoData);
    this.#connection?.off('parameterDescription', this.#handleParameters);
    if (this.#failure === undefined) this.#ended.resolve(this.#result);
    else this.#ended.reject(this.#failure);
  }
}
