import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { WAIT_LIMIT } from '../limits.ts';
import { launchBrowser } from './chromium.ts';
import { projectRoot } from './folders.ts';
import { installWebWorkbench } from './install.ts';
import { installExtension, startServer, type ServerOptions, type WorkbenchServer } from './server.ts';
import { Workbench } from './workbench.ts';

export interface OpenOptions extends Pick<ServerOptions, 'asksForTrust' | 'env' | 'settings'> {
  /** The folder to open. By default, an empty temporary one. */
  readonly folder?: string;
  /** The extension: a development folder (by default, the project) or a .vsix file to install. */
  readonly extension?: string;
  /** Folders of other extensions to install. */
  readonly otherExtensions?: readonly string[];
  /** A bundled suite that the extension host runs, such as `dist/test/index.js`. */
  readonly suite?: string;
  readonly size?: { readonly width: number; readonly height: number };
  /** Called with the page before it loads anything. */
  readonly prepare?: (page: Page) => Promise<void>;
}

/** A window of VS Code, with its server and browser. */
export type OpenWorkbench = Workbench & {
  readonly server: WorkbenchServer;
  /** The open folder. */
  readonly folder: string;
  /** State and logs of the server and of its extensions. */
  readonly dataFolder: string;
  /** Opens a second window on the same server, with the same stored state. */
  openWindow(): Promise<Workbench>;
  /** Ends all processes and keeps all files. */
  stop(): Promise<void>;
  close(): Promise<void>;
};

/** Opens VS Code in a new browser, with a new server, profile and folder, so that no earlier run can affect it. */
export async function openWorkbench(options: OpenOptions = {}): Promise<OpenWorkbench> {
  const home = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-workbench-'));
  // Postgres refuses to run as root. The account that it runs as instead must be able to reach its data in here.
  await chmod(home, 0o755);
  const dataFolder = path.join(home, 'data');
  const extension = options.extension ?? projectRoot;
  const installed = extension.endsWith('.vsix');
  if (installed) await installExtension(dataFolder, extension);
  for (const extra of options.otherExtensions ?? [])
    await cp(extra, path.join(dataFolder, 'extensions', path.basename(extra)), { recursive: true });
  const folder = options.folder ?? path.join(home, 'folder');
  await mkdir(folder, { recursive: true });
  const builtinExtensionsFolder = path.join(home, 'builtin');
  await linkBuiltinExtensions(builtinExtensionsFolder);

  const server = await startServer({
    dataFolder,
    builtinExtensionsFolder,
    testDriver: true,
    asksForTrust: options.asksForTrust ?? false,
    env: options.env ?? {},
    settings: { ...forTests, ...options.settings },
  });
  const browser = await launchBrowser().catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  const context = await browser.newContext({
    viewport: options.size ?? { width: 1280, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(WAIT_LIMIT);
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
  const stop = async (): Promise<void> => {
    await browser.close();
    await server.stop();
  };
  const close = async (): Promise<void> => {
    await stop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    return Object.assign(await openWindow(), { server, folder, dataFolder, openWindow, stop, close });
  } catch (error) {
    await close();
    throw error;
  }
}

const forTests = {
  // Sticky rows could cover the row to click.
  'workbench.tree.enableStickyScroll': false,
  // The document contains exactly what a test types.
  'editor.autoClosingBrackets': 'never',
  'editor.autoIndent': 'none',
  // As on the desktop. A test saves explicitly.
  'files.autoSave': 'off',
};

/** Themes, icons, Git, and the languages of the files that the suites open. */
const builtinExtensions = [
  'dotenv',
  'git',
  'ini',
  'json',
  'markdown-basics',
  'sql',
  'theme-defaults',
  'theme-modern-icons',
  'theme-seti',
];

/**
 * Fills a new folder with links to the built-in extensions that the suites need. With all of them (almost a hundred,
 * debuggers and assistants included) a window takes 1.5 times as long to open. Extensions that also run in the
 * browser are kept, because the page expects to find them.
 */
async function linkBuiltinExtensions(folder: string): Promise<void> {
  const all = path.join(await installWebWorkbench(), 'extensions');
  await mkdir(folder);
  for (const name of await readdir(all)) {
    const source = path.join(all, name);
    if (builtinExtensions.includes(name) || (await runsInBrowser(source)))
      await symlink(source, path.join(folder, name), 'junction');
  }
}

async function runsInBrowser(extension: string): Promise<boolean> {
  // Some entries aren't extensions.
  const manifest = await readFile(path.join(extension, 'package.json'), 'utf8').catch(() => '{}');
  return 'browser' in JSON.parse(manifest);
}
