/** Command lines for the terminal of the user, and for the shell that a client runs a hook in. */
import os from 'node:os';
import type { LaunchCommand } from './launcher.ts';
import { shellQuote } from './shellQuote.ts';

/**
 * Returns the line for a terminal. On Windows, it is one for PowerShell.
 * @param before the words of the client, such as `codex mcp add`
 */
export const terminalLine = (before: readonly string[], { command, args }: LaunchCommand): string =>
  [...before, '--', command, ...args].map(quoteWord).join(' ');

/**
 * Returns the line that a hook runs. On Windows, the line suits every version of PowerShell, because each machine has one of them.
 * PowerShell waits for VS Code, which isn't a program of the console, only if the output is piped.
 */
export function hookLine(launch: LaunchCommand, agent: string): string {
  const words = [launch.command, ...launch.args, 'hook', agent].map(quoteWord).join(' ');
  if (process.platform !== 'win32') return words;
  const variables = Object.entries(launch.env ?? {}).map(
    ([name, value]) => `$env:${name} = ${quoteWord(value)}; `,
  );
  return `${variables.join('')}& ${words} | Out-Null`;
}

/** Returns what a hook runs, encoded for a client that uses `cmd /c` and escapes quotes in a way that `cmd` doesn't understand. */
export function encodedHookLine(launch: LaunchCommand, agent: string): string {
  const line = hookLine(launch, agent);
  if (process.platform !== 'win32') return line;
  const encoded = Buffer.from(line, 'utf16le').toString('base64');
  return `powershell.exe -NoProfile -NonInteractive -EncodedCommand ${encoded}`;
}

/** Quotes a word for a shell of Unix, or for PowerShell. The home folder is named by a variable that both have. */
function quoteWord(word: string): string {
  if (/^[\w.:=-]+$/.test(word)) return word;
  const home = `${os.homedir()}/`.replaceAll('\\', '/');
  const text = process.platform === 'win32' ? word.replaceAll('\\', '/') : word;
  const rest = text.startsWith(home) ? text.slice(home.length) : undefined;
  if (rest !== undefined && /^[\w/.:() @&^-]+$/.test(rest)) return `"$HOME/${rest}"`;
  return process.platform === 'win32' ? `'${text.replaceAll("'", "''")}'` : shellQuote(text);
}
