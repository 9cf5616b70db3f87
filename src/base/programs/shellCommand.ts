/** Runs a command in a shell. The command ends with this program, however this program ends. */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import type { Writable } from 'node:stream';
import { windowsProgram } from './windowsProgram.ts';

/**
 * Returns the script of a shell that runs a command. Before the command, its shell starts a process that reads from a pipe of this
 * program. The system closes the pipe even if this program is killed, and then the process kills the command. The process isn't a
 * child of the command, which could otherwise wait for it.
 */
const watchedScript = (kill: string): string => `
tree() {
  kill -STOP "$1"
  for child in $(ps -A -o ppid= -o pid= | sed -n "s/^ *$1  *//p"); do tree "$child"; done
  kill -KILL "$1"
}
((trap '' HUP INT TERM; read -r released <&3 || ${kill}) </dev/null >/dev/null 2>&1 &)
exec 3<&-
exec /bin/sh -c "$1"`;

/** Kills either the process group, or only the command and its descendants, because the group of a terminal has other members. */
const [KILL_GROUP, KILL_TREE] = ['kill -KILL 0', 'tree $$'];

interface CommandOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly stdio: readonly Exclude<StdioOptions, string>[number][];
  readonly cwd?: string;
  readonly ownGroup: boolean;
}

/** Starts a command in a shell. Once `release` is called, what the command has left running is no longer killed. */
export function startShellCommand(
  command: string,
  { stdio, ownGroup, ...options }: CommandOptions,
): { readonly child: ChildProcess; readonly release: () => void } {
  // On Windows, the shell ends when this program ends, because Node puts its children into a job of the system.
  if (process.platform === 'win32')
    return {
      child: spawn(command, { ...options, shell: true, stdio: [...stdio], windowsHide: true }),
      release: () => undefined,
    };
  const script = watchedScript(ownGroup ? KILL_GROUP : KILL_TREE);
  const child = spawn('/bin/sh', ['-c', script, 'hosted-postgres', command], {
    ...options,
    stdio: [...stdio, 'pipe'],
    detached: ownGroup,
  });
  const pipe = child.stdio[3] as Writable;
  pipe.on('error', () => undefined); // The process that reads the pipe was killed together with the command.
  return { child, release: () => void pipe.end('released\n') };
}

/** Sends a signal to a command with a separate process group. On Windows, every signal ends the command. */
export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  if (process.platform === 'win32') {
    spawn(windowsProgram('taskkill.exe'), ['/T', '/F', '/PID', String(pid)], { windowsHide: true }).on(
      'error',
      () => undefined,
    );
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // The process group has just ended.
  }
}
