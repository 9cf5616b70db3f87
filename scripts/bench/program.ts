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

/** Starts a program and waits for the first line of its output. Rejects if it ends before that. */
export async function startProgram(
  command: string,
  args: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'> = {},
): Promise<Program> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([once(lines, 'line'), ended.then(() => undefined)]);
  if (line === undefined) throw new Error(`${command} ${args.join(' ')} ended with ${child.exitCode}`);
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
