// Finds a desktop VS Code to open the extension in: the one on the PATH, or else one that `@vscode/test-electron`
// downloads. If there is neither, or no screen, the web workbench is used.
import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { downloadAndUnzipVSCode } from '@vscode/test-electron';
import { plainEnvironment, startSupervised, type SupervisedProcess } from './supervisedProcess.ts';
import { projectRoot } from './folders.ts';

const downloads = path.join(projectRoot, '.vscode-test');

/** Returns the executable of a desktop VS Code, or undefined if none is installed or can be downloaded. */
export async function findDesktop(): Promise<string | undefined> {
  if (!hasScreen()) return undefined;
  return findOnPath() ?? (await fetchDesktop().catch(() => undefined));
}

/** Downloads VS Code if it is not in the cache yet. Rejects within seconds if the server cannot be reached. */
export async function fetchDesktop(): Promise<string> {
  const cached = (await readdir(downloads).catch(() => [])).some((name) => name.startsWith('vscode-'));
  if (!cached) {
    const releases = 'https://update.code.visualstudio.com/api/releases/stable';
    await fetch(releases, { method: 'HEAD', signal: AbortSignal.timeout(4_000) });
  }
  return downloadAndUnzipVSCode({ version: 'stable', cachePath: downloads });
}

/** Opens `folder` with the project's extension and keeps state in `dataFolder`. Runs until the window closes. */
export async function openDesktop(
  executable: string,
  dataFolder: string,
  folder: string,
): Promise<SupervisedProcess> {
  await mkdir(dataFolder, { recursive: true });
  const args = [
    `--extensionDevelopmentPath=${projectRoot}`,
    `--user-data-dir=${path.join(dataFolder, 'data')}`,
    `--extensions-dir=${path.join(dataFolder, 'extensions')}`,
    '--new-window',
    '--wait',
    '--disable-workspace-trust',
    '--disable-updates',
    '--skip-welcome',
    '--skip-release-notes',
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    folder,
  ];
  return startSupervised(executable, args, { env: plainEnvironment() });
}

function hasScreen(): boolean {
  if (process.platform !== 'linux') return true;
  return Boolean(process.env.DISPLAY) || Boolean(process.env.WAYLAND_DISPLAY);
}

function findOnPath(): string | undefined {
  // The terminal of a remote window has a `code` that only controls that window. It cannot start an extension under development.
  if (process.env.VSCODE_IPC_HOOK_CLI !== undefined) return undefined;
  const name = process.platform === 'win32' ? 'code.cmd' : 'code';
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}
