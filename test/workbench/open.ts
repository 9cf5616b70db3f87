import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { linkBuiltinExtensions } from './builtinExtensions.ts';
import { projectRoot } from './folders.ts';
import { installExtension, startServer, type WorkbenchServer } from './server.ts';
import { Workbench } from './workbench.ts';

export interface OpenOptions {
  /** The folder to open; an empty temporary one by default. */
  readonly folder?: string;
  /** The extension: a folder to develop in, the project by default, or a .vsix file to install. */
  readonly extension?: string;
  /** Bundled suite that the extension host runs, as `dist/test/index.js`. */
  readonly suite?: string;
  /** Whether the folder is trusted only once the user says so. */
  readonly asksForTrust?: boolean;
  /** Machine settings of this window. Those of scope `application` cannot be given here. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Added to the environment of the extension host. */
  readonly env?: Readonly<Record<string, string>>;
  readonly size?: { readonly width: number; readonly height: number };
  /** Called with the page before it goes anywhere. */
  readonly prepare?: (page: Page) => Promise<void>;
}

export interface OpenWorkbench {
  readonly workbench: Workbench;
  readonly server: WorkbenchServer;
  /** The folder that is open. */
  readonly folder: string;
  /** State and logs of the server and of its extensions. */
  readonly dataFolder: string;
  /** Opens a second window on the same server, with the same stored state. */
  openWindow(): Promise<Workbench>;
  close(): Promise<void>;
}

/** Opens VS Code with nothing of any earlier run in it: a server, a profile and a folder of its own. */
export async function openWorkbench(browser: Browser, options: OpenOptions = {}): Promise<OpenWorkbench> {
  const home = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-workbench-'));
  // Postgres will not run as root; the account it then runs as has to reach its data in here.
  await chmod(home, 0o755);
  const dataFolder = path.join(home, 'data');
  const extension = options.extension ?? projectRoot;
  const installed = extension.endsWith('.vsix');
  if (installed) await installExtension(dataFolder, extension);
  const folder = options.folder ?? path.join(home, 'folder');
  await mkdir(folder, { recursive: true });
  const builtinExtensionsFolder = path.join(home, 'builtin');
  await linkBuiltinExtensions(builtinExtensionsFolder);

  const server = await startServer({
    dataFolder,
    builtinExtensionsFolder,
    testDriver: true,
    asksForTrust: options.asksForTrust === true,
    env: options.env ?? {},
    settings: { ...forTests, ...options.settings },
  });
  const context = await browser.newContext({
    viewport: options.size ?? { width: 1280, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const remote = (file: string) => `vscode-remote://${server.authority}${file}`;
  const payload = [
    ['skipWelcome', 'true'],
    ...(installed ? [] : [['extensionDevelopmentPath', remote(extension)]]),
    ...(options.suite === undefined ? [] : [['extensionTestsPath', remote(options.suite)]]),
  ];
  const openWindow = async (): Promise<Workbench> => {
    const page = await context.newPage();
    await options.prepare?.(page);
    await page.goto(server.address(folder, { payload: JSON.stringify(payload) }));
    const workbench = new Workbench(page);
    await workbench.whenRestored();
    return workbench;
  };
  const close = async (): Promise<void> => {
    await context.close();
    await server.stop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    return { workbench: await openWindow(), server, folder, dataFolder, openWindow, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const forTests = {
  // Rows that stick to the top of a tree would lie over the row to be clicked.
  'workbench.tree.enableStickyScroll': false,
  // What is typed is what is there then.
  'editor.autoClosingBrackets': 'never',
  'editor.autoIndent': 'none',
  // As on the desktop: a test saves when it means to, however long it takes until then.
  'files.autoSave': 'off',
};
