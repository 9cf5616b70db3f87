import path from 'node:path';
import { mkdir } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../workbench/chromium.ts';
import { cacheFolder } from '../../workbench/folders.ts';
import { openWorkbench, type OpenOptions, type OpenWorkbench } from '../../workbench/open.ts';

/**
 * Opens VS Code with the extension, in a browser of its own, before the tests of the surrounding `describe` and closes it after them.
 * Returns a function that gives what is open, to be called inside tests and hooks. After a failed test a
 * picture of the window lies in `.vscode-test/failures`.
 */
export function useWorkbench(options: OpenOptions = {}): () => OpenWorkbench {
  let browser: Browser | undefined;
  let opened: OpenWorkbench | undefined;

  before(async function () {
    this.timeout(300_000); // The first run of all installs VS Code here.
    browser = await launchBrowser();
    opened = await openWorkbench(browser, options);
  });

  afterEach(async function () {
    if (this.currentTest?.state !== 'failed' || opened === undefined) return;
    const folder = path.join(cacheFolder, '..', 'failures');
    await mkdir(folder, { recursive: true });
    const name = this.currentTest.fullTitle().replaceAll(/[^\w]+/g, '-');
    await opened.workbench.screenshot(path.join(folder, `${name}.png`));
  });

  after(async () => {
    await opened?.close();
    await browser?.close();
  });

  return () => {
    if (opened === undefined) throw new Error('VS Code is open only while tests run');
    return opened;
  };
}
