/**
 * Runs a SQL file on a branch: by psql, or by the driver if psql isn't installed. Stops at the first error, as ON_ERROR_STOP
 * does.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { isLocalHost } from '../../../api/addresses/host.ts';
import { readChosenFile } from '../../../base/files.ts';
import { extensionAdviceForOutput, addExtensionHint } from '../../../base/sql/missingExtension.ts';
import { runScript, type ScriptResult } from '../../../base/sql/runScript.ts';
import { ScriptError } from '../../../base/sql/sqlScript.ts';
import { libpqEnvironment } from '../../connection/libpqVariables.ts';
import { withSession, type BranchLogin } from '../../connection/sqlSession.ts';

interface PsqlRun {
  readonly program: string;
  readonly login: BranchLogin;
  readonly file: string;
  readonly passFile: string;
}

/** The signals that end the run of a file. */
export interface StopSignals {
  /** Cancels the statement that runs. */
  readonly signal: AbortSignal;
  /** Ends a psql that doesn't react to `signal`. */
  readonly kill: AbortSignal;
}

/**
 * Runs a file with psql. A program that the file starts with `\!` inherits the environment, so the password isn't there.
 * @returns psql's exit code; undefined if a signal ended it.
 * @throws {Error} if psql can't be started
 */
export async function runFileByPsql(
  { program, login, file, passFile }: PsqlRun,
  write: (text: string) => void,
  { signal, kill }: StopSignals,
): Promise<number | undefined> {
  // A listener isn't called if the signal was aborted before.
  if (signal.aborted || kill.aborted) return undefined;
  // The terminal passes no input on, so a question about the password would have no answer.
  const args = ['--no-psqlrc', '--no-password', '--set=ON_ERROR_STOP=1', `--file=${file}`];
  const child = spawn(program, args, {
    cwd: path.dirname(file),
    env: { PGAPPNAME: 'psql', ...libpqEnvironment(login, passFile), PGCLIENTENCODING: 'UTF8' },
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', write);
  let lastErrors = '';
  child.stderr.on('data', (text: string) => (lastErrors = (lastErrors + text).slice(-MAX_ERROR)));
  signal.addEventListener('abort', () => child.kill('SIGINT'));
  kill.addEventListener('abort', () => child.kill('SIGKILL'));
  const [code]: unknown[] = await once(child, 'close');
  const advice = code !== 0 && isLocalHost(login.host) ? extensionAdviceForOutput(lastErrors) : undefined;
  if (advice !== undefined) write(`HINT:  ${advice}\n`);
  return typeof code === 'number' ? code : undefined;
}

/** The most characters of an error that are shown. */
const MAX_ERROR = 4000;

/** Nobody reads more rows than this in a terminal. Longer results are for a file or another program. */
const MAX_PRINTED_ROWS = 200;

interface DriverOutput {
  readonly onResult: (result: ScriptResult) => void;
  /** A message of Postgres, such as `NOTICE:  …`, or what `COPY … TO STDOUT` writes. */
  readonly onText: (text: string) => void;
}

/** @throws {ScriptError} with the line that failed. @throws {SqlError} if there is no connection. @throws {Error} */
export const runFileByDriver = async (
  login: BranchLogin,
  file: string,
  output: DriverOutput,
  signal: AbortSignal,
): Promise<void> => runScriptByDriver(login, await readChosenFile(file), output, signal);

/** @throws {Error} as `runFileByDriver` does */
export async function runScriptByDriver(
  login: BranchLogin,
  bytes: Buffer,
  { onResult, onText }: DriverOutput,
  signal: AbortSignal,
): Promise<void> {
  const decoder = new TextDecoder();
  const options = {
    maxRows: MAX_PRINTED_ROWS,
    onResult,
    onCopyData: (chunk: Uint8Array) => onText(decoder.decode(chunk, { stream: true })),
    onError: isLocalHost(login.host) ? addExtensionHint : undefined,
  };
  try {
    await withSession(login, FILE, signal, async (client) => {
      client.on('notice', ({ severity = 'NOTICE', message = '' }) => onText(`${severity}:  ${message}\n`));
      return await runScript(client, bytes, options);
    });
  } catch (error) {
    throw error instanceof Error && error.cause instanceof ScriptError && !signal.aborted
      ? error.cause
      : error;
  }
}

const FILE = { application: 'Hosted Postgres', begin: undefined, timeoutSeconds: undefined };
