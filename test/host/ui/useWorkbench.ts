import path from 'node:path';
import { mkdir } from 'node:fs/promises';
import type { Suite } from 'mocha';
import { cacheFolder } from '../../workbench/folders.ts';
import { openWorkbench, type OpenOptions, type OpenWorkbench } from '../../workbench/open.ts';
import { builtPackage } from '../../../scripts/package/createPackage.ts';
import { resetWindow } from './resetWindow.ts';
import type { SharedWindow } from './sharedWindows.ts';

export interface WorkbenchOptions extends OpenOptions {
  /** Installs the package as users get it, instead of using the project's folder. */
  readonly isPackaged?: boolean;
}

/** The window that the suites of this process share. With --parallel, each file has its own process. */
let shared: OpenWorkbench | undefined;
let sharedOptions: OpenOptions | undefined;

/** Loads the suites of a window in order. To mocha, they are one file. */
export async function loadSuites({ options, suites }: SharedWindow): Promise<void> {
  sharedOptions = options?.() ?? {};
  for (const name of suites) await import(`./${name}.test.ts`);
}

/**
 * Opens VS Code with the extension in a new browser before the tests of the surrounding `describe`, and closes it after
 * them. Suites of a shared window and those without options use one window, as long as no test in it has failed. It is reset
 * before each suite, which fails if that is not possible. After a failed test or `before` hook, `.vscode-test/failures`
 * contains a screenshot.
 * @returns a function that returns the open window, for use inside tests and hooks
 */
export function useWorkbench(options: WorkbenchOptions = {}): () => OpenWorkbench {
  let window: OpenWorkbench | undefined;

  before(async function () {
    const isShared = sharedOptions !== undefined || Object.keys(options).length === 0;
    window = await (isShared ? sharedWindow(rootOf(this.test?.parent)) : open(options));
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
    await window?.close();
  });

  return () => {
    if (window === undefined) throw new Error('VS Code is open only while tests run');
    return window;
  };
}

async function takeScreenshot(window: OpenWorkbench | undefined, title: string): Promise<void> {
  const folder = path.join(cacheFolder, '..', 'failures');
  await mkdir(folder, { recursive: true });
  const name = title.replaceAll(/[^\w]+/g, '-');
  await window?.screenshot(path.join(folder, `${name}.png`));
}

async function sharedWindow(root: Suite): Promise<OpenWorkbench> {
  if (shared !== undefined) {
    const window = shared;
    shared = undefined;
    // If the reset fails, only this suite fails. The next one opens a new window.
    await resetWindow(window).catch(async (error: unknown) => {
      await takeScreenshot(window, 'reset');
      await window?.close();
      throw error;
    });
    shared = window;
    return window;
  }
  root.afterAll('close the shared window', async () => {
    const last = shared;
    shared = undefined;
    sharedOptions = undefined;
    await last?.close();
  });
  shared = await open(sharedOptions);
  return shared;
}

function rootOf(suite: Suite | undefined): Suite {
  if (suite === undefined) throw new Error('useWorkbench() must be called inside a describe()');
  return suite.parent === undefined ? suite : rootOf(suite.parent);
}

async function open({ isPackaged = false, ...options }: WorkbenchOptions = {}): Promise<OpenWorkbench> {
  return openWorkbench(isPackaged ? { ...options, extension: await builtPackage(undefined) } : options);
}
