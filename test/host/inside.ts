// Runs the suites of test/host/inside in the extension host of a web workbench.
import path from 'node:path';
import { launchBrowser } from '../workbench/chromium.ts';
import { projectRoot } from '../workbench/folders.ts';
import { openWorkbench } from '../workbench/open.ts';

const patienceMs = 120_000;

const browser = await launchBrowser();
const finished = Promise.withResolvers<number>();
const timer = setTimeout(() => finished.reject(new Error('The suites did not end')), patienceMs);
try {
  const opened = await openWorkbench(browser, {
    suite: path.join(projectRoot, 'dist', 'test', 'index.js'),
    env: process.env.RESULTS_FILE === undefined ? {} : { RESULTS_FILE: process.env.RESULTS_FILE },
    async prepare(page) {
      await page.exposeFunction('codeAutomationExit', finished.resolve);
      await page.exposeFunction('codeAutomationLog', (_type: string, parts: unknown[]) =>
        console.log(...parts),
      );
    },
  });
  try {
    process.exitCode = await finished.promise;
  } finally {
    await opened.close();
  }
} finally {
  clearTimeout(timer);
  await browser.close();
}

/** The web workbench is installed without its native logger and watchdog, and complains of each at length. */
function isAboutNativeModules(parts: readonly unknown[]): boolean {
  return parts.some(
    (part) => typeof part === 'string' && /bindings file|build\/Release\/watchdog/.test(part),
  );
}
