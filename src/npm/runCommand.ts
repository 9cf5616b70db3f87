/** Runs the command of `--run`. The command ends with this program, however this program ends. */
import { once } from 'node:events';
import os from 'node:os';
import { signalGroup, startShellCommand } from '../base/programs/shellCommand.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a command in a shell, and passes signals on.
 * @param output the output of this process that gets the command's standard output
 * @returns the exit code of the command, or 128 + the number of the signal that ended it
 */
export async function runShellCommand(
  command: string,
  environment: NodeJS.ProcessEnv,
  output: 'stdout' | 'stderr' = 'stdout',
): Promise<number> {
  // In a terminal, the command is in this program's process group: Ctrl-C reaches the whole group, and no other may read from the
  // terminal. Without a terminal, the command has a separate group, so that signals reach more than its shell.
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
    // By now, another process may have the pid of the command.
    for (const signal of SIGNALS) process.off(signal, pass);
  }
}
