// `npm start`: builds the extension and opens a real VS Code with it: on the desktop if there is one, or else as a page
// for the browser. State is kept between starts, in a git-ignored folder.
import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { findDesktop, openDesktop } from './desktop.ts';
import { cacheFolder, projectRoot } from './folders.ts';
import { linkProject } from './linkProject.ts';
import { parentOf } from './processes.ts';
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
  const end = await endOnSignal(() => program.stop());
  await program.exited;
  await end();
}

async function showInBrowser(): Promise<void> {
  const dataFolder = path.join(home, 'web');
  await linkProject(path.join(dataFolder, 'extensions'));
  const server = await startServer({ dataFolder, port: Number(values.port) });
  const end = await endOnSignal(() => server.stop());
  console.log(`
VS Code with Hosted Postgres is ready. Open this address in a browser:

  ${server.address(folder)}

Press Ctrl-C to end it and everything it started.`);
  await server.exited;
  await end();
}

/** Ends on a signal, when npm ends, or when the returned function is called. */
async function endOnSignal(stop: () => Promise<void>): Promise<() => Promise<void>> {
  let ending = false;
  const end = async (): Promise<void> => {
    if (ending) return;
    ending = true;
    await stop();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end());
  // A signal to npm reaches its shell, which may not forward it, and npm may be killed. So watch for a change of parents.
  const startedBy = await ancestors();
  const checkAncestors = async (): Promise<void> => {
    if ((await ancestors()) !== startedBy) await end();
  };
  setInterval(() => void checkAncestors(), 500);
  return end;
}

/** Returns the ids of the parent and the grandparent: npm's shell and npm. */
async function ancestors(): Promise<string> {
  return `${process.ppid} ${await parentOf(process.ppid)}`;
}
