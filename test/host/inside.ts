// Runs the suites of test/host/inside in the extension host of a web workbench.
import path from 'node:path';
import { TEST_LIMIT } from '../limits.ts';
import { projectRoot } from '../workbench/folders.ts';
import { openWorkbench } from '../workbench/open.ts';

/** Marks the lines of the test report, because VS Code mixes its own log with the extension host's. See index.ts. */
const reportPrefix = '[suites] ';

const log: string[] = [];
const finished = Promise.withResolvers<number>();
const timer = setTimeout(() => finished.reject(new Error('The suites did not end in time')), TEST_LIMIT);
const opened = await openWorkbench({
  suite: path.join(projectRoot, 'dist', 'test', 'index.js'),
  env: { RESULTS_FILE: process.env.RESULTS_FILE ?? '' },
  async prepare(page) {
    await page.exposeFunction('codeAutomationExit', finished.resolve);
    await page.exposeFunction('codeAutomationLog', (_level: string, [text]: unknown[]) => {
      log.push(String(text));
      if (typeof text === 'string' && text.startsWith(reportPrefix))
        console.log(text.slice(reportPrefix.length));
    });
  },
});
try {
  process.exitCode = await finished.promise;
  if (process.exitCode !== 0 && !log.some((line) => line.startsWith(reportPrefix)))
    console.log(log.join('\n'));
} finally {
  clearTimeout(timer);
  await opened.close();
}
