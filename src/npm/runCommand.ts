/** The command of `--run`. It ends with this program, however that ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import type { Writable } from 'node:stream';

/**
 * Runs it in a shell and passes signals on.
 * @param output its standard output, as a descriptor of this process
 * @returns its exit code, or 128 + the number of the signal that ended it
 */
export async function runCommand(
  command: string,
  environment: NodeJS.ProcessEnv,
  output: 1 | 2 = 1,
): Promise<number> {
  // Ctrl-C in a terminal reaches the command as well, and only this process group may read from the terminal. Without one, the
  // command has its own group, so that signals reach more than its shell.
  const ownGroup = !process.stdin.isTTY && process.platform !== 'win32';
  const [child, release] = start(command, { environment, output, ownGroup });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (ownGroup) signalGroup(child.pid, signal);
      else if (signal !== 'SIGINT') child.kill(signal);
    });
  const [code, signal] = await once(child, 'exit');
  release();
  return typeof code === 'number' ? code : 128 + (os.constants.signals[signal as NodeJS.Signals] ?? 0);
}

/**
 * Before the command, its shell starts a process that reads from a pipe of this program. The system closes the pipe even if
 * this program is killed, and then the process kills the command. As it isn't the command's child, the command can't
 * wait for it.
 */
const watched = (kill: string): string => `
tree() {
  kill -STOP "$1"
  for child in $(ps -A -o ppid= -o pid= | sed -n "s/^ *$1  *//p"); do tree "$child"; done
  kill -KILL "$1"
}
((trap '' HUP INT TERM; read -r released <&3 || ${kill}) </dev/null >/dev/null 2>&1 &)
exec 3<&-
exec /bin/sh -c "$1"`;

/** Their process group, or the command and what descends from it, because others may be in the group of a terminal. */
const [KILL_GROUP, KILL_TREE] = ['kill -KILL 0', 'tree $$'];

interface CommandOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly output: 1 | 2;
  readonly ownGroup: boolean;
}

/** @returns it, and a function that lets live what the command has left running */
function start(command: string, { environment, output, ownGroup }: CommandOptions) {
  // On Windows, Node ends the shell with this program.
  if (process.platform === 'win32')
    return [
      spawn(command, { shell: true, stdio: ['inherit', output, 'inherit'], env: environment }),
      () => undefined,
    ] as const;
  const script = watched(ownGroup ? KILL_GROUP : KILL_TREE);
  const child = spawn('/bin/sh', ['-c', script, 'hosted-postgres', command], {
    stdio: ['inherit', output, 'inherit', 'pipe'],
    env: environment,
    detached: ownGroup,
  });
  const pipe = child.stdio[3] as Writable;
  pipe.on('error', () => undefined); // What reads it was killed together with the command.
  return [child, () => void pipe.end('released\n')] as const;
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has just ended.
  }
}
