// `npm start`: builds the extension and opens a real VS Code with it: on the desktop if there is one, or else as a page
// for the browser. State is kept between starts, in a git-ignored folder.
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { findDesktop, openDesktop } from './desktop.ts';
import { cacheFolder, projectRoot } from './folders.ts';
import { startServer } from './server.ts';

const { values } = parseArgs({
  options: {
    web: { type: 'boolean', default: false },
    // The browser stores its part of the state by address, so the port stays the same if possible.
    port: { type: 'string', default: '8791' },
  },
});

const home = path.join(cacheFolder, '..', 'start');
const folder = path.join(home, 'sample');

await promisify(execFile)(process.execPath, ['esbuild.mjs'], { cwd: projectRoot });
await cp(path.join(import.meta.dirname, 'sample'), folder, { recursive: true, force: false });
const desktop = values.web ? undefined : await findDesktop();
if (desktop === undefined) await showInBrowser();
else await showOnDesktop(desktop);

async function showOnDesktop(executable: string): Promise<void> {
  console.log('Opening VS Code. Close its window or press Ctrl-C here to end everything.');
  const program = await openDesktop(executable, path.join(home, 'desktop'), folder);
  const end = endOnSignal(() => program.stop());
  await program.exited;
  await end();
}

async function showInBrowser(): Promise<void> {
  const dataFolder = path.join(home, 'web');
  await linkProject(path.join(dataFolder, 'extensions'));
  const server = await startServer({ dataFolder, port: Number(values.port) });
  const end = endOnSignal(() => server.stop());
  console.log(`
VS Code with Hosted Postgres is ready. Open this address in a browser:

  ${server.address(folder)}

Press Ctrl-C to end it and everything it started.`);
  await server.exited;
  await end();
}

/** Ends on a signal, or when the returned function is called. */
function endOnSignal(stop: () => Promise<void>): () => Promise<void> {
  const end = async (): Promise<void> => {
    await stop();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void end());
  return end;
}

/**
 * Installs the project in an extensions folder by a link, so that "Reload Window" picks up a new build. The list of
 * extensions is deleted with the rest of the folder, so that the server creates it again.
 */
async function linkProject(extensionsFolder: string): Promise<void> {
  const manifest = await readFile(path.join(projectRoot, 'package.json'), 'utf8');
  const { publisher, name, version } = JSON.parse(manifest);
  await rm(extensionsFolder, { recursive: true, force: true });
  await mkdir(extensionsFolder, { recursive: true });
  await symlink(projectRoot, path.join(extensionsFolder, `${publisher}.${name}-${version}`), 'junction');
}
