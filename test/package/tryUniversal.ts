// Installs the universal package in a new VS Code and clicks "Try it with the local service". Prints what the view shows as
// JSON. Run by installedPackage.ts, without Postgres.
//   node test/package/tryUniversal.ts VSIX
import { launchBrowser } from '../workbench/chromium.ts';
import { openWorkbench } from '../workbench/open.ts';

export interface TriedUniversal {
  /** Above the tree. */
  readonly message: string;
  /** The labels of all rows, with the project unfolded. */
  readonly rows: readonly string[];
  /** What the restart of a compute shows. */
  readonly notification: string;
}

const COMPUTE = /^Compute ep-little-smoke-851426/;

const [, , vsix = ''] = process.argv;
const browser = await launchBrowser();
const opened = await openWorkbench(browser, { extension: vsix });
try {
  const { workbench } = opened;
  const computes = workbench.tree('Computes');
  await workbench.openView('Hosted Postgres');
  await workbench.clickWelcome('Computes', 'Try it with the local service');
  await computes.waitFor(/^Set Up Postgres…/);
  await computes.expandProject('shop');
  await computes.waitFor(COMPUTE);
  await computes.inlineAction(COMPUTE, 'Restart Compute');
  await workbench.dialog.press('Restart');
  const result: TriedUniversal = {
    notification: (await workbench.notifications.waitFor("Couldn't restart")).message,
    message: await workbench.viewMessage('Computes'),
    rows: await computes.labels(),
  };
  console.log(JSON.stringify(result));
} finally {
  await opened.close();
  await browser.close();
}
