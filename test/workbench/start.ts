// `npm start`: builds the extension and opens a real VS Code with it, on the desktop where there is one,
// else as a page for the browser. State is kept between starts, in a git-ignored folder.
import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { findDesktop, openDesktop } from './desktop.ts';
import { cacheFolder, projectRoot } from './folders.ts';
import { linkProject } from './installed.ts';
import { parentOf } from './processes.ts';
import { startServer } from './server.ts';

const { values } = parseArgs({
  options: {
    web: { type: 'boolean', default: false },
    // The browser keeps its part of the state by address, so the port stays the same where it can.
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
  console.log('Opening VS Code. Closing its window, or Ctrl-C here, ends everything.');
  const program = await openDesktop(executable, path.join(home, 'desktop'), folder);
  const end = await whenAskedToEnd(() => program.stop());
  await program.exited;
  await end();
}

async function showInBrowser(): Promise<void> {
  const dataFolder = path.join(home, 'web');
  await linkProject(path.join(dataFolder, 'extensions'));
  const server = await startServer({ dataFolder, port: Number(values.port) });
  const end = await whenAskedToEnd(() => server.stop());
  console.log(`
VS Code with Hosted Postgres is ready. Open this address in a browser:

  ${server.address(folder)}

Ctrl-C ends it and everything it started.`);
  await server.exited;
  await end();
}

/** Ends on a signal, with npm, or when what it returns is called. */
async function whenAskedToEnd(stop: () => Promise<void>): Promise<() => Promise<void>> {
  let ending = false;
  const end = async (): Promise<void> => {
    if (ending) return;
    ending = true;
    await stop();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end());
  // A signal sent to npm reaches its shell, which need not pass it on; and npm may be killed outright.
  const startedBy = await forebears();
  const look = async (): Promise<void> => {
    if ((await forebears()) !== startedBy) await end();
  };
  setInterval(() => void look(), 500);
  return end;
}

/** The parent and its parent: npm's shell and npm. */
async function forebears(): Promise<string> {
  return `${process.ppid} ${await parentOf(process.ppid)}`;
}
