/**
 * What a new user does in the first minute with the installed package, in a git repository, without the palette. Each step leaves a
 * picture in `dist/first-minute`, and `steps.txt` says how many clicks and seconds it took.
 */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createRepository } from '../../helpers/gitRepository.ts';
import { countInput } from '../../helpers/inputCounter.ts';
import { projectRoot } from '../../workbench/folders.ts';
import { until } from '../../workbench/until.ts';
import { useWorkbench } from './useWorkbench.ts';

const pictures = path.join(projectRoot, 'dist', 'first-minute');

describe('The first minute', () => {
  const repository = createRepository();
  const ui = useWorkbench({ isPackaged: true, folder: repository.folder });
  const steps: string[] = [];
  const own = /^Branch feature\/orders, in use here, br-\S+/;

  before(() => {
    rmSync(pictures, { recursive: true, force: true });
    mkdirSync(pictures, { recursive: true });
    writeFileSync(path.join(repository.folder, '.gitignore'), '.env\n');
    repository.git('switch', '--quiet', '--create', 'feature/orders');
  });
  after(() => writeFileSync(path.join(pictures, 'steps.txt'), `${steps.join('\n')}\n`));

  /** @param task ends when its result is shown */
  function takes(title: string, clicks: number, task: () => Promise<void>): void {
    it(`${title} in ${clicks} clicks or keys`, async () => {
      const begun = performance.now();
      const counted = await countInput(ui().page, task);
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      const number = String(steps.length + 1).padStart(2, '0');
      steps.push(`${number} ${title}: ${counted} clicks or keys, ${seconds} s`);
      await ui().screenshot(path.join(pictures, `${number}.png`));
      assert.equal(counted, clicks);
    });
  }
  const waitForTab = (title: RegExp) =>
    ui().page.locator('.tabs-container .tab.active', { hasText: title }).waitFor();
  const clickItem = async (item: string) => {
    await ui()
      .page.getByRole('button', { name: /^Database branch/ })
      .click();
    await ui().quickInput.choose('.env', item);
  };

  takes('shows what it offers', 1, async () => {
    await ui().page.getByRole('tab', { name: 'Hosted Postgres' }).click();
    await until('the offer', async () => (await ui().welcomeText('Computes')).includes('Try it'));
  });

  takes('has a local service with projects', 1, async () => {
    await ui().clickWelcome('Computes', 'Try it with the local service');
    await ui().computes.waitForFirstProject();
    await ui().computes.waitFor(/^Compute primary, active/);
  });

  takes('offers a database for the git branch', 0, async () => {
    await ui().notifications.waitFor('Create a database branch for feature/orders, and write');
  });

  takes('creates it and writes .env', 2, async () => {
    await ui().notifications.press('Create a database branch for feature/orders, and write', 'Yes');
    await ui().quickInput.accept('Select a project');
    await ui().statusBar.waitFor('Database branch feature/orders');
    await ui().computes.waitFor(own);
  });

  takes('opens the file with its URL', 2, async () => {
    await clickItem('Open .env');
    await waitForTab(/^\.env/);
  });

  takes('shows its tables', 2, async () => {
    await ui().computes.expand('Databases of feature/orders');
    await ui().computes.expand('Database app');
    await ui().computes.waitFor(/^Table /);
  });

  takes('shows the rows of one', 1, async () => {
    await ui().computes.click('Table customers');
    await waitForTab(/customers/);
  });

  takes('shows in which rows another branch differs', 4, async () => {
    const branch = /^Branch checkout-rewrite, br-\S+/;
    await ui().computes.contextMenu(branch, 'Data and History', 'Compare Rows…');
    await ui().quickInput.choose('Select a table or view', 'orders');
    await waitForTab(/^orders: 3 added, 2 deleted/);
  });

  takes('lists the moments to go back to', 2, async () => {
    await clickItem('Undo…');
    await until('the first moment', async () =>
      (await ui().quickInput.waitFor('goes back to')).items.some((item) =>
        item.startsWith('As it was created'),
      ),
    );
  });

  takes('says how agents work with it', 3, async () => {
    await ui().quickInput.cancel('goes back to');
    await clickItem('Agents…');
    await ui().quickInput.waitFor('Connect an agent');
  });
});
