/**
 * A program for terminals: runs another one there, and keeps the terminal open if that one fails. Otherwise, VS Code would close
 * the terminal with the reason in it, such as why psql couldn't connect.
 *
 * Its arguments are the text to show at the end, the text for a deleted compute, the program, and the program's arguments.
 */
import { spawn } from 'node:child_process';
import { DELETION_SIGNAL } from './deletionSignal.ts';

const [lastText = '', deletedText = '', program = '', ...args] = process.argv.slice(2);
const { ELECTRON_RUN_AS_NODE: _, ...env } = process.env;

// The terminal sends these signals to the other program too, which decides what they mean.
for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => undefined);

// The other program continues, and knows nothing of this text.
process.on(DELETION_SIGNAL, () => process.stdout.write(`\r\n${deletedText}\r\n`));

const child = spawn(program, args, { env, stdio: 'inherit' });
child.on('error', ({ message }) => exitAfterKey(message));
child.on('exit', (code, signal) => {
  if (code !== 0) exitAfterKey(signal ?? '');
});

function exitAfterKey(reason: string): void {
  process.stdout.write(`${reason}\n${lastText}\n`);
  const { stdin } = process;
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.once('data', () => process.exit());
  stdin.once('end', () => process.exit());
}
