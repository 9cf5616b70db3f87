/** Runs a Postgres program (initdb, a single-user server) until it ends. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { windowsProgram } from '../../../base/programs/windowsProgram.ts';
import { asEngineError, EngineError } from '../../core/computeEngine.ts';
import { describeExit } from './cannotRun.ts';
import { serverEnvironment } from './serverEnvironment.ts';
import { findReason } from './serverLog.ts';

interface ProgramOptions {
  readonly cwd: string;
  readonly input?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Kills the program and its child processes when aborted. */
  readonly signal?: AbortSignal;
}

/** Returns the program's output. @throws {EngineError} with the program's reason if it fails */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<string> {
  options.signal?.throwIfAborted();
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...serverEnvironment(program), ...options.env },
    ...backgroundOptions(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const end = () => killGroup(child);
  options.signal?.addEventListener('abort', end);
  child.stdin.on('error', () => {}); // The program ended before it read all its input. Its exit code says why.
  child.stdin.end(options.input ?? '');
  try {
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const [[code]] = await Promise.all([once(child, 'close'), output]);
    const [printed, errors] = await output;
    options.signal?.throwIfAborted();
    if (code === 0) return printed;
    throw new EngineError(findReason(errors.trim().split('\n')) ?? (errors.trim() || exitMessage(child)));
  } catch (error) {
    throw existsSync(program) ? asEngineError(error) : new EngineError(missingProgramMessage(program));
  } finally {
    options.signal?.removeEventListener('abort', end);
  }
}

/** Returns a message for users. @param program a program of a Postgres that worked when the service started */
export const missingProgramMessage = (program: string): string =>
  `${program} is gone, for example because npm emptied its cache. Start the local service again.`;

/**
 * Returns how programs are started. They lead a process group: Ctrl-C in a terminal reaches only the service, which then stops
 * them, and a program can be killed with its child processes. On Windows, a detached program has no console, so each process that
 * it starts would open a window. Otherwise all share a hidden console, and they end with the service.
 */
export const backgroundOptions = () => ({ detached: process.platform !== 'win32', windowsHide: true });

const exitMessage = ({ spawnfile, exitCode, signalCode }: ChildProcess) =>
  `${path.basename(spawnfile)} ${describeExit(exitCode, signalCode)}`;

/**
 * The caller removes the program's files, so it needn't end cleanly. On Windows, initdb runs itself again without the rights of
 * an administrator, and only the system knows that process.
 */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (process.platform === 'win32') killTree(child, child.pid);
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The process group has just ended.
  }
}

function killTree(child: ChildProcess, pid: number): void {
  const program = windowsProgram('taskkill.exe');
  execFile(program, ['/pid', String(pid), '/T', '/F'], { windowsHide: true }, (error) => {
    if (error !== null) child.kill('SIGKILL');
  });
}
