/**
 * Runs a script as `psql -f` does with ON_ERROR_STOP: each statement by itself, until one fails. Its bytes are sent as they are,
 * so that a `SET client_encoding` in it is right about them.
 */
import { once } from 'node:events';
import type { Connection, FieldDef } from 'pg';
import type Client from 'pg/lib/client.js';
import Query from 'pg/lib/query.js';
import { fieldsOf } from '../fieldsOf.ts';
import { reportedParameter, type ParameterStatus } from './pgClient.ts';
import { PsqlCommandError, ScriptError, SqlScript, type ScriptStatement } from './sqlScript.ts';

type ScriptRow = readonly (string | null)[];

/** What a statement of a script has returned. */
export interface ScriptResult {
  /** What was done, such as `INSERT 0 3`. */
  readonly command: string;
  /** Empty if the statement returns no rows. */
  readonly fields: readonly FieldDef[];
  /** The first rows. */
  readonly rows: readonly ScriptRow[];
  readonly rowCount: number;
}

/** Statements that a script can do without. */
export interface SkipRule {
  /** @param text the text of a statement, with a character for each byte */
  mayFail(text: string): boolean;
  /**
   * Reports that the statement is skipped, unless its error must end the script.
   * @param error the error that Postgres reports
   * @returns whether the statement is skipped
   */
  skipIfSuperuserOnly(error: unknown, text: string, line: number): boolean;
}

interface ScriptOptions {
  readonly skip?: SkipRule;
  /** The rows of a statement to keep; by default none. */
  readonly maxRows?: number;
  readonly onResult?: (result: ScriptResult) => void;
  /** What `COPY … TO STDOUT` writes. */
  readonly onCopyData?: (chunk: Uint8Array) => void;
  /** Called with an error of Postgres, to which it can add something such as a hint. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Encodings of clients in which a byte of a longer character can be ASCII. Only psql reads them as they are. */
const UNSAFE_ENCODINGS = /^(?:SJIS|SHIFT_JIS_2004|BIG5|GBK|GB18030|UHC|JOHAB)$/;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** Returns how many statements there were. @throws {ScriptError} with the line of the statement that failed */
export async function runScript(client: Client, bytes: Buffer, options: ScriptOptions = {}): Promise<number> {
  const hasMark = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  if (bytes.includes(0))
    throw new ScriptError(
      1,
      'This is no text in UTF-8 or another encoding of Postgres. Restore other dumps with pg_restore.',
    );
  const script = new SqlScript(bytes.toString('latin1', hasMark ? BYTE_ORDER_MARK.length : 0));
  const running = { client, script, options, encoding: 'UTF8' };
  // The server reports both settings when they change.
  if (reportedParameter(client, 'standard_conforming_strings') === 'off') script.setStandardStrings(false);
  const noteParameter = ({ parameterName, parameterValue }: ParameterStatus): void => {
    if (parameterName === 'client_encoding') running.encoding = parameterValue;
    if (parameterName === 'standard_conforming_strings') script.setStandardStrings(parameterValue === 'on');
  };
  client.connection.on('parameterStatus', noteParameter);
  try {
    return await runStatements(running);
  } finally {
    client.connection.off('parameterStatus', noteParameter);
  }
}

interface RunningScript {
  readonly client: Client;
  /** The reader of the script. In its text, each character stands for a byte of the script. */
  readonly script: SqlScript;
  readonly options: ScriptOptions;
  encoding: string;
}

async function runStatements(running: RunningScript): Promise<number> {
  const { script } = running;
  let count = 0;
  for (let next = script.next(); next !== undefined; next = script.next()) {
    if (UNSAFE_ENCODINGS.test(running.encoding))
      throw new ScriptError(
        script.lineAt(next.start),
        `Only psql reads a file in ${running.encoding}. Save it as UTF-8, without this setting.`,
      );
    if (next.kind === 'statement') {
      await runOrSkip(running, next);
      count += 1;
    }
    // pg_dump writes `\restrict` and `\unrestrict`, which only limit other commands.
    else if (!/^\\(?:un)?restrict\b/.test(next.text))
      throw new PsqlCommandError(script.lineAt(next.start), next.text);
  }
  return count;
}

/** @param text the script, with a character for each byte */
function byteQuery(text: string): Query {
  const query = new Query(text);
  query.submit = ({ stream }: Connection) => {
    const body = Buffer.from(`${text}\0`, 'latin1');
    const head = Buffer.from('Q\0\0\0\0');
    head.writeInt32BE(body.length + 4, 1);
    stream.write(Buffer.concat([head, body]));
  };
  return query;
}

async function runOrSkip(running: RunningScript, statement: ScriptStatement): Promise<void> {
  const { client, script, options } = running;
  const { skip } = options;
  if (skip?.mayFail(statement.text) !== true) return runStatement(running, statement);
  const isInside = client.getTransactionStatus() === 'T';
  if (isInside) await client.query('savepoint skipped');
  try {
    await runStatement(running, statement);
  } catch (error) {
    const line = script.lineAt(statement.end - 1);
    if (!(error instanceof ScriptError) || !skip.skipIfSuperuserOnly(error.cause, statement.text, line))
      throw error;
    if (isInside) await client.query('rollback to savepoint skipped');
  }
  if (isInside) await client.query('release savepoint skipped');
}

async function runStatement(running: RunningScript, statement: ScriptStatement): Promise<void> {
  const { client, script, options } = running;
  const { maxRows = 0, onResult, onCopyData, onError } = options;
  const query = byteQuery(statement.text);
  let copiesLeft = statement.copies;
  let result = createResult();
  query.handleRowDescription = ({ fields }) => (result = createResult(fields));
  query.handleDataRow = ({ fields }) => {
    result.rowCount += 1;
    if (result.rowCount <= maxRows) result.rows.push(fields);
  };
  // A rule in the database can turn one statement into several.
  query.handleCommandComplete = ({ text: command }) => {
    onResult?.({ ...result, command });
    result = createResult();
  };
  query.handleCopyData = ({ chunk }) => onCopyData?.(chunk);
  let wrongData: unknown;
  query.handleCopyInResponse = (connection) => {
    try {
      copiesLeft -= 1;
      connection.sendCopyFromChunk(Buffer.from(copiesLeft < 0 ? '' : script.copyData(), 'latin1'));
      connection.endCopyFrom();
    } catch (error) {
      wrongData = error;
      connection.sendCopyFail('');
    }
  };
  try {
    await once(client.query(query), 'end');
  } catch (error) {
    if (wrongData !== undefined) throw wrongData;
    onError?.(error);
    throw errorAtLine(running, statement, error);
  }
  // psql skips the lines of copied data as well.
  for (; copiesLeft > 0; copiesLeft -= 1) script.skipCopyData();
}

interface RunningResult {
  readonly fields: readonly FieldDef[];
  readonly rows: ScriptRow[];
  rowCount: number;
}

const createResult = (fields: readonly FieldDef[] = []): RunningResult => ({ fields, rows: [], rowCount: 0 });

const INVALID_CHARACTER = '22021';

/** Returns an error with Postgres's message, and with the line that it points to. */
function errorAtLine(
  { script, encoding }: RunningScript,
  { text, start }: ScriptStatement,
  error: unknown,
): ScriptError {
  const { message, position, detail, hint, where, code } = fieldsOf(error);
  // Postgres counts characters, from 1.
  const characters = Math.max(Number(position ?? 1) - 1, 0);
  const before = encoding === 'UTF8' ? bytesBefore(text, characters) : characters;
  const advice =
    code === INVALID_CHARACTER
      ? `Save the file as UTF-8, or let it begin with a setting such as: SET client_encoding = 'LATIN1';`
      : hint;
  const lines = [message, detail, advice, where].filter((line) => typeof line === 'string');
  return new ScriptError(script.lineAt(start + before), lines.join('\n'), { cause: error });
}

/** @param text UTF-8 text, with a character for each byte */
function bytesBefore(text: string, characters: number): number {
  const decoded = Buffer.from(text, 'latin1').toString();
  return Buffer.byteLength(Array.from(decoded).slice(0, characters).join(''));
}
