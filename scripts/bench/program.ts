import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface Program {
  readonly child: ChildProcess;
  /** The first line of its output. */
  readonly line: string;
  readonly ended: Promise<unknown>;
  /**
   * Ends it and resolves when it has ended.
   * @param pid the process to signal, if it is not the one that was started
   */
  stop(pid?: number): Promise<void>;
}

type ProgramOptions = Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'>;

/** Starts a program and waits for the first line of its output. Rejects if it ends before that. */
export async function startProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<Program> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([once(lines, 'line'), ended.then(() => undefined)]);
  if (line === undefined) throw endedEarly(child);
  return {
    child,
    line: String(line[0]),
    ended,
    async stop(pid = child.pid) {
      if (pid !== undefined) process.kill(pid, 'SIGINT');
      await ended;
    },
  };
}

/**
 * @param end waits for the end of the program, which by default ends by itself
 * @returns milliseconds until it prints its first line @throws {Error} if it fails
 */
export async function timeToLine(
  [command = '', ...args]: readonly string[],
  options: ProgramOptions,
  end: (program: Program) => Promise<void> = waitForSuccess,
): Promise<number> {
  const startedAt = performance.now();
  const program = await startProgram(command, args, options);
  const time = performance.now() - startedAt;
  await end(program);
  return time;
}

async function waitForSuccess({ child, ended }: Program): Promise<void> {
  await ended;
  if (child.exitCode !== 0) throw endedEarly(child);
}

/** @param ended the program's exit @returns the next message of a program that was forked @throws {Error} if it ends before that */
export async function nextMessage(child: ChildProcess, ended: Promise<unknown>): Promise<unknown> {
  const message = await Promise.race([once(child, 'message'), ended.then(() => undefined)]);
  if (message === undefined) throw endedEarly(child);
  return message[0];
}

const endedEarly = ({ spawnargs, exitCode, signalCode }: ChildProcess): Error =>
  new Error(`${spawnargs.join(' ')} ended with ${exitCode ?? signalCode}`);
