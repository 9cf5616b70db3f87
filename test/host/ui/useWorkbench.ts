import path from 'node:path';
import { mkdir } from 'node:fs/promises';
import type { Suite } from 'mocha';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../workbench/chromium.ts';
import { cacheFolder } from '../../workbench/folders.ts';
import { openWorkbench, type OpenOptions, type OpenWorkbench } from '../../workbench/open.ts';
import type { WorkbenchServer } from '../../workbench/server.ts';
import type { Tree } from '../../workbench/tree.ts';
import { until } from '../../workbench/until.ts';
import { builtPackage } from '../../package/createPackage.ts';
import { Workbench } from '../../workbench/workbench.ts';
import { resetWindow } from './resetWindow.ts';
import type { SharedWindow } from './sharedWindows.ts';

export interface WorkbenchOptions extends OpenOptions {
  /** Installs the package as users get it, instead of using the project's folder. */
  readonly isPackaged?: boolean;
}

interface Window {
  readonly browser: Browser;
  readonly opened: OpenWorkbench;
  readonly ui: SuiteWindow;
}

/** The window of a suite, with what the suites use most. */
export class SuiteWindow extends Workbench {
  readonly #opened: OpenWorkbench;

  constructor(opened: OpenWorkbench) {
    super(opened.workbench.page);
    this.#opened = opened;
  }

  get server(): WorkbenchServer {
    return this.#opened.server;
  }

  get folder(): string {
    return this.#opened.folder;
  }

  get dataFolder(): string {
    return this.#opened.dataFolder;
  }

  get computes(): Tree {
    return this.tree('Computes');
  }

  get apiKeys(): Tree {
    return this.tree('API Keys');
  }

  openWindow(): Promise<Workbench> {
    return this.#opened.openWindow();
  }

  /** Opens another folder in this window. */
  async openFolder(folder: string): Promise<void> {
    const address = new URL(this.page.url());
    address.searchParams.set('folder', folder);
    await this.page.goto(String(address));
    await this.whenRestored();
  }

  /** Runs a command of the extension from the palette. */
  async run(title: string): Promise<void> {
    await this.runCommand(`Hosted Postgres: ${title}`);
  }

  /** Whether the palette offers a command of the extension. If it does not, it lists similar ones. */
  async isOffered(title: string): Promise<boolean> {
    await this.page.keyboard.press('F1');
    await this.quickInput.type(/./, `>Hosted Postgres: ${title}`);
    const first = await until(`the list for ${title}`, async () => (await this.quickInput.read())?.items[0]);
    await this.quickInput.cancel(/./);
    await this.quickInput.closed();
    return first === `Hosted Postgres: ${title}`;
  }

  /** Waits for a text in the clipboard and returns it. */
  async waitForClipboard(expected: string | RegExp): Promise<string> {
    let text = '';
    return until(
      async () => `${String(expected)} in the clipboard; it contains ${text.slice(0, 10)}…`,
      async () => {
        text = await this.readClipboard();
        return (typeof expected === 'string' ? text === expected : expected.test(text)) && text;
      },
    );
  }

  /** Waits for a message above the tree of computes. It is empty if there is none. */
  async waitForMessage(expected: RegExp): Promise<void> {
    await until(
      async () => `${String(expected)} above the tree; shown: ${await this.viewMessage('Computes')}`,
      async () => expected.test(await this.viewMessage('Computes')),
    );
  }
}

/** The window that the suites of this process share. With --parallel, each file has its own process. */
let shared: Window | undefined;
let sharedOptions: OpenOptions | undefined;

/** Loads the suites of a window in order. To mocha, they are one file. */
export async function loadSuites({ options, suites }: SharedWindow): Promise<void> {
  sharedOptions = options?.();
  for (const name of suites) await import(`./${name}.test.ts`);
}

/**
 * Opens VS Code with the extension in a new browser before the tests of the surrounding `describe`, and closes it after
 * them. Suites whose options match the shared window use that window, as long as no test in it has failed. It is reset
 * before each suite, which fails if that is not possible. After a failed test or `before` hook, `.vscode-test/failures`
 * contains a screenshot.
 * @returns a function that returns the open window, for use inside tests and hooks
 */
export function useWorkbench(options: WorkbenchOptions = {}): () => SuiteWindow {
  let window: Window | undefined;

  before(async function () {
    this.timeout(300_000); // The very first run installs VS Code.
    if (isShared(options)) window = await sharedWindow(rootOf(this.test?.parent));
    else window = await open(options);
  });

  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await takeScreenshot(window, this.currentTest.fullTitle());
  });

  after(async function () {
    const { tests, title } = this.test?.parent ?? { tests: [], title: '' };
    const noneFailed = tests.every((test) => test.isPassed() || test.isPending());
    if (!noneFailed && !tests.some((test) => test.isFailed()))
      await takeScreenshot(window, `${title} before`);
    if (window !== undefined && window === shared && noneFailed) return;
    if (window === shared) shared = undefined;
    await close(window);
  });

  return () => {
    if (window === undefined) throw new Error('VS Code is open only while tests run');
    return window.ui;
  };
}

async function takeScreenshot(window: Window | undefined, title: string): Promise<void> {
  const folder = path.join(cacheFolder, '..', 'failures');
  await mkdir(folder, { recursive: true });
  const name = title.replaceAll(/[^\w]+/g, '-');
  await window?.ui.screenshot(path.join(folder, `${name}.png`));
}

async function sharedWindow(root: Suite): Promise<Window> {
  if (shared !== undefined) {
    const window = shared;
    shared = undefined;
    // If the reset fails, only this suite fails. The next one opens a new window.
    await resetWindow(window.ui).catch(async (error: unknown) => {
      await takeScreenshot(window, 'reset');
      await close(window);
      throw error;
    });
    shared = window;
    return window;
  }
  root.afterAll('close the shared window', async () => {
    const last = shared;
    shared = undefined;
    sharedOptions = undefined;
    await close(last);
  });
  shared = await open(sharedOptions);
  return shared;
}

function isShared({ settings = {}, env = {}, ...rest }: WorkbenchOptions): boolean {
  const includes = (all: Readonly<Record<string, unknown>> = {}, part: Readonly<Record<string, unknown>>) =>
    Object.entries(part).every(([name, value]) => all[name] === value);
  return (
    includes({ ...sharedOptions }, { ...rest }) &&
    includes(sharedOptions?.settings, settings) &&
    includes(sharedOptions?.env, env)
  );
}

function rootOf(suite: Suite | undefined): Suite {
  if (suite === undefined) throw new Error('useWorkbench() must be called inside a describe()');
  return suite.parent === undefined ? suite : rootOf(suite.parent);
}

async function open({ isPackaged = false, ...options }: WorkbenchOptions = {}): Promise<Window> {
  const extension = isPackaged ? await builtPackage(undefined) : options.extension;
  const browser = await launchBrowser();
  try {
    const opened = await openWorkbench(browser, {
      ...options,
      ...(extension !== undefined && { extension }),
    });
    return { browser, opened, ui: new SuiteWindow(opened) };
  } catch (error) {
    await browser.close();
    throw error;
  }
}

async function close(window: Window | undefined): Promise<void> {
  await window?.opened.close();
  await window?.browser.close();
}
