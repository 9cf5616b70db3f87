/**
 * Writes a script that starts the MCP program, for the configuration of agents. The path of the script stays the same, while that of
 * the extension contains the version.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { replaceFile } from '../../base/replaceFile.ts';
import { shellQuote } from './shellQuote.ts';
import { launcherFile } from './launcherFile.ts';

interface LauncherOptions {
  /** The folder for the script and for the records of windows. It exists. */
  readonly folder: string;
  /** The path of Node, or of VS Code, which can run as Node. */
  readonly program: string;
  /** Whether updates replace the program at its path. The editor's server on another machine has a new path with each update. */
  readonly isStable: boolean;
  readonly script: string;
}

/** A program, its arguments and variables, for the configuration of an MCP client. */
export interface LaunchCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Writes the files that aren't up to date. @returns the command for a configuration @throws {Error} if a file can't be written */
export async function writeLauncher(options: LauncherOptions): Promise<LaunchCommand> {
  const file = launcherFile(options.folder);
  if (process.platform !== 'win32') {
    await writeIfChanged(file, shellScript(options));
    return { command: file, args: [] };
  }
  const module = path.join(options.folder, MODULE);
  await writeIfChanged(module, moduleScript(options));
  // Configurations of earlier versions name this file, and its existence shows that agents are used.
  await writeIfChanged(file, batchScript(options.program));
  // A shell of Windows misreads paths with `&`, `(`, `)`, `^` or `@`, also in quotes, so the program is started without a shell.
  if (options.isStable)
    return { command: options.program, args: [module], env: { ELECTRON_RUN_AS_NODE: '1' } };
  // A configuration can't name a program whose path changes, so a shell has to read a file for it, and those paths fail here.
  return { command: 'cmd', args: ['/c', file] };
}

async function writeIfChanged(file: string, text: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => '')) !== text) await replaceFile(file, text, { mode: 0o700 });
}

const NOTE = 'Written by the Hosted Postgres extension, and again with each of its updates.';

/**
 * Returns the launcher for Unix. Each update deletes the editor's server on another machine, so the launcher may have to use another
 * Node.
 */
const shellScript = ({ folder, program, script }: LauncherOptions): string => `#!/bin/sh
# ${NOTE}
export ELECTRON_RUN_AS_NODE=1 HOSTED_POSTGRES_AGENTS=${shellQuote(folder)}
[ -x ${shellQuote(program)} ] && exec ${shellQuote(program)} ${shellQuote(script)} "$@"
exec node ${shellQuote(script)} "$@"
`;

const MODULE = 'hosted-postgres-mcp.mjs';

const moduleScript = ({ folder, script }: LauncherOptions): string => `// ${NOTE}
process.env['HOSTED_POSTGRES_AGENTS'] = ${JSON.stringify(folder)};
await import(${JSON.stringify(pathToFileURL(script).href)});
`;

/**
 * Returns the launcher for Windows. Windows reads batch files in an old code page, so the file contains as few paths as possible.
 */
const batchScript = (program: string): string =>
  [
    '@echo off',
    `rem ${NOTE}`,
    'set "ELECTRON_RUN_AS_NODE=1"',
    `"${escapeForBatch(program)}" "%~dp0${MODULE}" %*`,
    '',
  ].join('\r\n');

/** Variables with folders of the user, whose paths may contain an umlaut. */
const USER_FOLDERS = ['LOCALAPPDATA', 'APPDATA', 'USERPROFILE'];

/** Escapes a path for a batch file. On Windows, paths can't contain quotes. */
function escapeForBatch(text: string): string {
  for (const name of USER_FOLDERS) {
    const folder = process.env[name] ?? '';
    if (folder !== '' && text.startsWith(`${folder}\\`))
      return `%${name}%${text.slice(folder.length).replaceAll('%', '%%')}`;
  }
  return text.replaceAll('%', '%%');
}
