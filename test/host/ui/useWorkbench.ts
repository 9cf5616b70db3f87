import path from 'node:path';
import { mkdir } from 'node:fs/promises';
import type { Suite } from 'mocha';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../workbench/chromium.ts';
import { cacheFolder } from '../../workbench/folders.ts';
import { openWorkbench, type OpenOptions, type OpenWorkbench } from '../../workbench/open.ts';
import { resetWindow } from './resetWindow.ts';

interface Window {
  readonly browser: Browser;
  readonly opened: OpenWorkbench;
}

/** The window that the suites of this process share. With --parallel, each file has its own process. */
let shared: Window | undefined;
let sharedOptions: OpenOptions | undefined;

/** Sets the options of the window that later suites share. They must cover what each of these suites needs. */
export function setSharedOptions(options: OpenOptions | undefined): void {
  sharedOptions = options;
}

/**
 * Opens VS Code with the extension in a new browser before the tests of the surrounding `describe`, and closes it after
 * them. Suites whose options match the shared window use that window, as long as no test in it has failed. It is reset
 * before each suite, which fails if that is not possible. After a failed test or `before` hook, `.vscode-test/failures`
 * contains a screenshot.
 * @returns a function that returns the open window, for use inside tests and hooks
 */
export function useWorkbench(options: OpenOptions = {}): () => OpenWorkbench {
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
    return window.opened;
  };
}

async function takeScreenshot(window: Window | undefined, title: string): Promise<void> {
  const folder = path.join(cacheFolder, '..', 'failures');
  await mkdir(folder, { recursive: true });
  const name = title.replaceAll(/[^\w]+/g, '-');
  await window?.opened.workbench.screenshot(path.join(folder, `${name}.png`));
}

async function sharedWindow(root: Suite): Promise<Window> {
  if (shared !== undefined) {
    const window = shared;
    shared = undefined;
    // If the reset fails, only this suite fails. The next one opens a new window.
    await resetWindow(window.opened).catch(async (error: unknown) => {
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

function isShared({ settings = {}, env = {}, ...others }: OpenOptions): boolean {
  const includes = (all: Readonly<Record<string, unknown>> = {}, wanted: Readonly<Record<string, unknown>>) =>
    Object.entries(wanted).every(([name, value]) => all[name] === value);
  return (
    includes({ ...sharedOptions }, { ...others }) &&
    includes(sharedOptions?.settings, settings) &&
    includes(sharedOptions?.env, env)
  );
}

function rootOf(suite: Suite | undefined): Suite {
  if (suite === undefined) throw new Error('useWorkbench() must be called inside a describe()');
  return suite.parent === undefined ? suite : rootOf(suite.parent);
}

async function open(options?: OpenOptions): Promise<Window> {
  const browser = await launchBrowser();
  try {
    return { browser, opened: await openWorkbench(browser, options) };
  } catch (error) {
    await browser.close();
    throw error;
  }
}

async function close(window: Window | undefined): Promise<void> {
  await window?.opened.close();
  await window?.browser.close();
}
