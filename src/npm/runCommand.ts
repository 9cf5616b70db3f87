/** The command of `--run`. It ends with this program, however that ends. */
import { once } from 'node:events';
import os from 'node:os';
import { signalGroup, startShellCommand } from '../base/programs/shellCommand.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a command in a shell, and passes signals on.
 * @param output the output of this process that gets the command's standard output
 * @returns its exit code, or 128 + the number of the signal that ended it
 */
export async function runShellCommand(
  command: string,
  environment: NodeJS.ProcessEnv,
  output: 'stdout' | 'stderr' = 'stdout',
): Promise<number> {
  // Ctrl-C in a terminal reaches the command as well, and only this process group may read from the terminal. Without a terminal,
  // the command has its own group, so that signals reach more than its shell.
  const ownGroup = !process.stdin.isTTY && process.platform !== 'win32';
  const stdio = ['inherit', output === 'stdout' ? 1 : 2, 'inherit'] as const;
  const { child, release } = startShellCommand(command, { env: environment, stdio, ownGroup });
  const pass = (signal: NodeJS.Signals) => {
    if (ownGroup) signalGroup(child.pid, signal);
    else if (signal !== 'SIGINT') child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, pass);
  try {
    const [code, signal] = await once(child, 'exit');
    return typeof code === 'number' ? code : 128 + (os.constants.signals[signal as NodeJS.Signals] ?? 0);
  } finally {
    release();
    // Another process may have the pid now.
    for (const signal of SIGNALS) process.off(signal, pass);
  }
}
