/** Runs the files of a folder as its tool does, or as psql does if there is no tool. */
import type Client from 'pg/lib/client.js';
import { withPgClient } from '../base/sql/pgClient.ts';
import { fieldsOf } from '../base/fieldsOf.ts';
import { addExtensionHint } from '../base/sql/missingExtension.ts';
import { readStatements } from '../base/sql/readStatements.ts';
import { runScript } from '../base/sql/runScript.ts';
import { PsqlCommandError, ScriptError } from '../base/sql/sqlScript.ts';
import type { TransactionMode } from './migrationTools.ts';
import { createPublicServiceRoles, SuperuserStatements, type SkippedStatement } from './publicService.ts';
import type { CreateRefusal } from './refusal.ts';
import { loadSqlFiles, type SqlFile, type SqlFiles } from './sqlFiles.ts';

const RUN_BY_PSQL = `Run the file by { run: 'psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f FILE', files: ['FILE'] }.`;

/**
 * Runs a SQL file, or the SQL files of a folder.
 * @throws {Error} with file and line of what failed, or if a file would not run as its tool runs it
 */
export async function runSqlFiles(fileOrFolder: string, url: string): Promise<void> {
  const onSkip = ({ file, line, reason }: SkippedStatement) =>
    process.emitWarning(`Skipped ${file}:${line}: ${reason}`);
  if ((await runLoadedFiles(await loadSqlFiles(fileOrFolder), url, { onSkip })) === 0)
    throw new Error(`${fileOrFolder} has no SQL statements`);
}

export interface FileRun {
  /** Receives each statement that was skipped, because Postgres leaves it to superusers. */
  onSkip(this: void, skipped: SkippedStatement): void;
  /** Closes the connection. */
  readonly signal?: AbortSignal | undefined;
}

/** Returns how many statements there were. @throws {Error} as `runSqlFiles` does */
export async function runLoadedFiles(
  { files, rules, refuse }: SqlFiles,
  url: string,
  { onSkip, signal }: FileRun,
): Promise<number> {
  let count = 0;
  const skipping = new SuperuserStatements(onSkip);
  const run = async (client: Client, session: readonly SqlFile[]) => {
    await createPublicServiceRoles(client, session.map(({ text }) => text).join('\n'));
    if (rules.transaction === 'all') await client.query('begin');
    for (const file of session) count += await runFile(client, file, skipping, refuse);
    if (rules.transaction === 'all') await client.query('commit');
  };
  for (const session of rules.isOneSession ? [files] : files.map((file) => [file]))
    await withClientOf(url, async (client) => run(client, session), signal);
  return count;
}

/** Returns how many statements there were. */
async function runFile(
  client: Client,
  { file, text, transaction }: SqlFile,
  skipping: SuperuserStatements,
  refuse: CreateRefusal,
): Promise<number> {
  const isForFile = transaction === 'file' || (transaction === 'query' && hasSeveralStatements(text));
  const isInside = isForFile || transaction === 'all';
  let needs: string | undefined;
  let leaves = false;
  const onNotice = (notice: unknown): void => {
    const { code, routine, message } = fieldsOf(notice);
    // The notice of a superfluous commit has the same code, but comes from another routine.
    if (code === NO_TRANSACTION && routine === 'CheckTransactionBlock') needs ??= String(message);
  };
  client.on('notice', onNotice);
  try {
    if (isForFile) await client.query('begin');
    const count = await runScript(client, Buffer.from(text, 'latin1'), {
      onError: addExtensionHint,
      skip: skipping.ruleFor(file),
      // The client still has the status from before the statement.
      onResult: () => (leaves ||= isInside && client.getTransactionStatus() === 'I'),
    });
    if (leaves || (transaction === 'all' && client.getTransactionStatus() === 'I'))
      throw refuse(file, 'ends the transaction in which its tool runs it');
    if (needs !== undefined && transaction === 'unknown') throw refuse(file, needsTransaction(needs));
    if (isForFile) await client.query('commit');
    if (!isInside && client.getTransactionStatus() === 'T')
      throw new Error(`${file} ends within a transaction. Add "commit;".`);
    return count;
  } catch (error) {
    throw error instanceof ScriptError ? errorAtLine(file, error, transaction, refuse) : error;
  } finally {
    client.off('notice', onNotice);
  }
}

/** The SQLSTATEs of a statement that needs a transaction, and of one that can't run in one. */
const NO_TRANSACTION = '25P01';
const IN_TRANSACTION = '25001';

const needsTransaction = (message: string): string =>
  `says "${message}", and whether its tool begins one isn't known. If none does, add "begin;" and "commit;"`;

function errorAtLine(
  file: string,
  error: ScriptError,
  transaction: TransactionMode,
  refuse: CreateRefusal,
): Error {
  const { code } = fieldsOf(error.cause);
  const where = `${file}:${error.line}`;
  if (code === NO_TRANSACTION && transaction === 'unknown')
    return refuse(where, needsTransaction(error.message));
  if (code === IN_TRANSACTION && transaction !== 'statements' && transaction !== 'unknown')
    return refuse(where, `says "${error.message}", and its tool runs it in one`);
  const advice = error instanceof PsqlCommandError ? ` ${RUN_BY_PSQL}` : '';
  return new Error(`${where}: ${error.message}${advice}`, { cause: error.cause });
}

/** A command of psql counts as several statements, because running the file reports it. */
function hasSeveralStatements(text: string): boolean {
  const [first, second] = readStatements(text);
  return first?.kind === 'command' || second !== undefined;
}

export const withClientOf = async <T>(
  url: string,
  work: (client: Client) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => withPgClient({ connectionString: url }, work, signal);
