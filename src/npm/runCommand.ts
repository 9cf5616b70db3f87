/** The command of `--run`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';

/** Runs it in a shell and passes signals on. @returns its exit code, or 128 + the number of the signal that ended it */
export async function runCommand(command: string, environment: NodeJS.ProcessEnv): Promise<number> {
  // Ctrl-C in a terminal reaches the command as well, and only this process group may read from the terminal. Without one, the
  // command has its own group, so that signals reach more than its shell.
  const ownGroup = !process.stdin.isTTY && process.platform !== 'win32';
  const child = spawn(command, { shell: true, stdio: 'inherit', env: environment, detached: ownGroup });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (ownGroup) signalGroup(child.pid, signal);
      else if (signal !== 'SIGINT') child.kill(signal);
    });
  const [code, signal] = await once(child, 'exit');
  return typeof code === 'number' ? code : 128 + (os.constants.signals[signal as NodeJS.Signals] ?? 0);
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has just ended.
  }
}
