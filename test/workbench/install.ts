// Gets a real VS Code from the npm registry: the package `code-server` contains the built VS Code server with its web
// workbench. It is too large (0.6 GB) to be a dependency of the project, so it is downloaded on first use.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findChromium } from './chromium.ts';
import { cacheFolder } from './folders.ts';
import { installOnce } from './installOnce.ts';

const codeServerVersion = '4.139.1';

/** Installs the web workbench if it is missing. Returns the folder that contains `out/server-main.js`. */
export async function installWebWorkbench(): Promise<string> {
  const folder = path.join(cacheFolder, `code-server-${codeServerVersion}`);
  await installOnce(folder, async (staging) => {
    console.log('Installing the VS Code web workbench from npm (once, about 0.6 GB)…');
    const startedAt = Date.now();
    await writeFile(path.join(staging, 'package.json'), '{ "private": true }\n');
    // Without install scripts, nothing is compiled. Only a native logger is missing then.
    await npm(['install', '--ignore-scripts', `code-server@${codeServerVersion}`], staging);
    await npm(['install', '--ignore-scripts', '--omit=dev'], vscodeFolder(staging));
    console.log(`Installed in ${Math.round((Date.now() - startedAt) / 1000)} s`);
  });
  return vscodeFolder(folder);
}

function vscodeFolder(installation: string): string {
  return path.join(installation, 'node_modules', 'code-server', 'lib', 'vscode');
}

export async function npm(args: string[], cwd: string): Promise<void> {
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  const cli = process.env.npm_execpath;
  const [command, ...first] = cli?.endsWith('.js') ? [process.execPath, cli] : ['npm'];
  const child = spawn(command, [...first, ...args, ...quiet], {
    cwd,
    env: cleanEnvironment(),
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: command === 'npm' && process.platform === 'win32',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`npm ${args.join(' ')} ended with ${code ?? 'a signal'}`);
}

/** Removes the variables that describe this project to npm scripts. The nested npm installs a different project. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const outer =
    /^npm_(package_|lifecycle_|command$|config_(local_prefix|global_prefix|prefix|allow_scripts)$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !outer.test(name)));
}

if (import.meta.main) {
  await installWebWorkbench();
  await findChromium();
}
