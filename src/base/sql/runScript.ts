/** Runs a script as `psql -f` does with ON_ERROR_STOP: each statement by itself, until one fails. */
import { once } from 'node:events';
import type { FieldDef } from 'pg';
import type Client from 'pg/lib/client.js';
import Query from 'pg/lib/query.js';
import { fieldsOf } from '../fieldsOf.ts';
import { ScriptError, type ScriptStatement, type SqlScript } from './sqlScript.ts';

type ScriptRow = readonly (string | null)[];

/** What a statement of a script has returned. */
export interface ScriptResult {
  /** Such as `INSERT 0 3`. */
  readonly command: string;
  /** Empty if it returns no rows. */
  readonly fields: readonly FieldDef[];
  /** The first ones. */
  readonly rows: readonly ScriptRow[];
  readonly rowCount: number;
}

interface ScriptOptions {
  /** The rows of a statement to keep; by default none. */
  readonly maxRows?: number;
  readonly onResult?: (result: ScriptResult) => void;
  /** What `COPY … TO STDOUT` writes. */
  readonly onCopyData?: (chunk: Uint8Array) => void;
  /** Can add to an error of Postgres. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** @returns how many statements there were. @throws {ScriptError} with the line of the statement that failed */
export async function runScript(
  client: Client,
  script: SqlScript,
  options: ScriptOptions = {},
): Promise<number> {
  let count = 0;
  for (let next = script.next(); next !== undefined; next = script.next()) {
    await runStatement(client, script, next, options);
    count += 1;
  }
  return count;
}

async function runStatement(
  client: Client,
  script: SqlScript,
  { text, start }: ScriptStatement,
  { maxRows = 0, onResult, onCopyData, onError }: ScriptOptions,
): Promise<void> {
  const query = new Query(text);
  let result = newResult();
  query.handleRowDescription = ({ fields }) => (result = newResult(fields));
  query.handleDataRow = ({ fields }) => {
    result.rowCount += 1;
    if (result.rowCount <= maxRows) result.rows.push(fields);
  };
  // A rule can make several of one statement.
  query.handleCommandComplete = ({ text: command }) => {
    onResult?.({ ...result, command });
    result = newResult();
  };
  query.handleCopyData = ({ chunk }) => onCopyData?.(chunk);
  let wrongData: unknown;
  query.handleCopyInResponse = (connection) => {
    try {
      connection.sendCopyFromChunk(Buffer.from(script.copyData()));
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
    throw atLine(script, { text, start }, error);
  }
}

interface RunningResult {
  readonly fields: readonly FieldDef[];
  readonly rows: ScriptRow[];
  rowCount: number;
}

const newResult = (fields: readonly FieldDef[] = []): RunningResult => ({ fields, rows: [], rowCount: 0 });

/** What Postgres says, with the line that it points to. */
function atLine(script: SqlScript, { text, start }: ScriptStatement, error: unknown): ScriptError {
  const { message, position, detail, hint, where } = fieldsOf(error);
  // In characters, from 1.
  const before = Array.from(text)
    .slice(0, Math.max(Number(position ?? 1) - 1, 0))
    .join('');
  const lines = [message, detail, hint, where].filter((line) => typeof line === 'string');
  return new ScriptError(script.lineAt(start + before.length), lines.join('\n'), { cause: error });
}
