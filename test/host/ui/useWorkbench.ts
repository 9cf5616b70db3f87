import path from 'node:path';
import { mkdir } from 'node:fs/promises';
import type { Suite } from 'mocha';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../workbench/chromium.ts';
import { cacheFolder } from '../../workbench/folders.ts';
import { openWorkbench, type OpenOptions, type OpenWorkbench } from '../../workbench/open.ts';
import { makeAsNew } from './makeAsNew.ts';

interface Window {
  readonly browser: Browser;
  readonly opened: OpenWorkbench;
}

/** Of the suites that mocha runs in one go, which are those of one file where files run in parallel. */
let shared: Window | undefined;
/** What it is opened with. */
let sharedWith: OpenOptions | undefined;

/** @param options for the window of the suites that are loaded next: all that they ask for, and nothing that changes what they find */
export function openSharedWith(options: OpenOptions | undefined): void {
  sharedWith = options;
}

/**
 * Opens VS Code with the extension, in a browser of its own, before the tests of the surrounding `describe` and closes it after them.
 * Suites that ask for nothing the shared window has not share it with those before them in the same run, as long as
 * none of their tests failed; everything they left in it is removed before the next one begins, or the next one fails.
 * Returns a function that gives what is open, to be called inside tests and hooks. After a failed test a
 * picture of the window lies in `.vscode-test/failures`.
 */
export function useWorkbench(options: OpenOptions = {}): () => OpenWorkbench {
  let window: Window | undefined;

  before(async function () {
    this.timeout(300_000); // The first run of all installs VS Code here.
    if (isShared(options)) window = await sharedWindow(rootOf(this.test?.parent));
    else window = await open(options);
  });

  afterEach(async function () {
    if (this.currentTest?.state !== 'failed' || window === undefined) return;
    const folder = path.join(cacheFolder, '..', 'failures');
    await mkdir(folder, { recursive: true });
    const name = this.currentTest.fullTitle().replaceAll(/[^\w]+/g, '-');
    await window.opened.workbench.screenshot(path.join(folder, `${name}.png`));
  });

  after(async function () {
    const whole = this.test?.parent?.tests.every((test) => test.isPassed() || test.isPending()) ?? false;
    if (window !== undefined && window === shared && whole) return;
    if (window === shared) shared = undefined;
    await close(window);
  });

  return () => {
    if (window === undefined) throw new Error('VS Code is open only while tests run');
    return window.opened;
  };
}

async function sharedWindow(root: Suite): Promise<Window> {
  if (shared !== undefined) {
    const window = shared;
    shared = undefined;
    // Where something stays, the suite that finds it fails, and no other.
    await makeAsNew(window.opened).catch(async (error: unknown) => {
      await close(window);
      throw error;
    });
    shared = window;
    return window;
  }
  root.afterAll('close the shared window', async () => {
    const last = shared;
    shared = undefined;
    sharedWith = undefined;
    await close(last);
  });
  shared = await open(sharedWith);
  return shared;
}

function isShared({ settings = {}, env = {}, ...others }: OpenOptions): boolean {
  const has = (all: Readonly<Record<string, unknown>> = {}, wanted: Readonly<Record<string, unknown>>) =>
    Object.entries(wanted).every(([name, value]) => all[name] === value);
  return Object.keys(others).length === 0 && has(sharedWith?.settings, settings) && has(sharedWith?.env, env);
}

function rootOf(suite: Suite | undefined): Suite {
  if (suite === undefined) throw new Error('VS Code is opened for a suite');
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
