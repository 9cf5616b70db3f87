/**
 * A script that starts the MCP program, for the configuration of agents: its path stays the same, while that of the
 * extension has its version.
 */
import { readFile } from 'node:fs/promises';
import { replaceFile } from '../../base/replaceFile.ts';
import { shellQuote } from './shellQuote.ts';
import { launcherFile } from './launcherFile.ts';

interface LauncherOptions {
  /** The folder for the script and for the records of windows. It exists. */
  readonly folder: string;
  /** Node, or VS Code, which can run as Node. */
  readonly program: string;
  readonly script: string;
}

/** A program and its arguments, for the configuration of an MCP client. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** What a configuration names. Windows starts batch files only by its shell. */
export const launchCommand = (launcher: string): Launch =>
  process.platform === 'win32' ? { command: 'cmd', args: ['/c', launcher] } : { command: launcher, args: [] };

/** Writes it if it isn't up to date. @returns its path @throws {Error} if it can't be written */
export async function writeLauncher(options: LauncherOptions): Promise<string> {
  const file = launcherFile(options.folder);
  const text = process.platform === 'win32' ? windowsScript(options) : shellScript(options);
  if ((await readFile(file, 'utf8').catch(() => '')) !== text) await replaceFile(file, text, { mode: 0o700 });
  return file;
}

/** The editor's server on another machine is deleted with each update, so another Node may have to do. */
const shellScript = ({ folder, program, script }: LauncherOptions): string => `#!/bin/sh
# Written by the Hosted Postgres extension, and again with each of its updates.
export ELECTRON_RUN_AS_NODE=1 HOSTED_POSTGRES_AGENTS=${shellQuote(folder)}
[ -x ${shellQuote(program)} ] && exec ${shellQuote(program)} ${shellQuote(script)} "$@"
exec node ${shellQuote(script)} "$@"
`;

const windowsScript = ({ folder, program, script }: LauncherOptions): string =>
  [
    '@echo off',
    'rem Written by the Hosted Postgres extension, and again with each of its updates.',
    'set "ELECTRON_RUN_AS_NODE=1"',
    `set "HOSTED_POSTGRES_AGENTS=${batchText(folder)}"`,
    `"${batchText(program)}" "${batchText(script)}" %*`,
    '',
  ].join('\r\n');

/** Windows reads batch files in an old code page, so the user's folder, whose name may have an umlaut, is named by variable. */
const USER_FOLDERS = ['LOCALAPPDATA', 'APPDATA', 'USERPROFILE'];

/** A path can't contain quotes on Windows. */
function batchText(text: string): string {
  for (const name of USER_FOLDERS) {
    const folder = process.env[name] ?? '';
    if (folder !== '' && text.startsWith(`${folder}\\`))
      return `%${name}%${text.slice(folder.length).replaceAll('%', '%%')}`;
  }
  return text.replaceAll('%', '%%');
}
