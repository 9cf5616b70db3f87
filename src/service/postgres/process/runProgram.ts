/** Runs Postgres's own programs (initdb, a single-user server) to their end. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { asEngineError, EngineError } from '../../core/computeEngine.ts';
import { throwIfClosing } from '../data/atomicDirectory.ts';
import { reasonIn } from './serverLog.ts';

export interface ProgramOptions {
  readonly cwd: string;
  readonly input?: string;
  /** Ends the program, and whatever it started, when aborted. */
  readonly signal?: AbortSignal;
}

/** @returns what it printed. @throws {EngineError} with its own reason when it fails */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<string> {
  throwIfClosing(options.signal);
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: serverEnvironment(),
    // A group of its own, so that it can be ended with what it started.
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const end = () => killGroup(child);
  options.signal?.addEventListener('abort', end);
  child.stdin.on('error', () => {}); // It ended before it read all; its exit code tells.
  child.stdin.end(options.input ?? '');
  try {
    const said = Promise.all([text(child.stdout), text(child.stderr)]);
    const [[code]] = await Promise.all([once(child, 'close'), said]);
    const [printed, complaint] = await said;
    throwIfClosing(options.signal);
    if (code === 0) return printed;
    throw new EngineError(reasonIn(complaint.trim().split('\n')) ?? (complaint.trim() || unexplained(child)));
  } catch (error) {
    throw asEngineError(error);
  } finally {
    options.signal?.removeEventListener('abort', end);
  }
}

/**
 * What server processes see of our environment. Everything else stays out: a PGDATA, PGPORT or LC_ALL of the
 * user's would bend the server, and a key kept in the environment is none of its business.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH', 'SystemRoot', 'SystemDrive', 'TEMP', 'TMP'];
  const environment = Object.fromEntries(
    kept.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]),
  );
  return { ...environment, LC_ALL: 'C' };
}

const unexplained = ({ spawnfile, exitCode, signalCode }: ChildProcess) =>
  `${path.basename(spawnfile)} ended with ${exitCode ?? signalCode}`;

/** What it leaves is thrown away, so it need not end in good order. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It ended by itself just now.
  }
}
