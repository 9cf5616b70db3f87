import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createRepository } from '../../helpers/gitRepository.ts';
import { analytics, mainBranch, primary, reports, shop } from '../../helpers/shopAccount.ts';
import { Editor } from '../../workbench/editor.ts';
import type { PageElement } from '../../workbench/pageElement.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('Rows of the tree', () => {
  const ui = useWorkbench();
  const service = useService();
  /** Moves from the row that the mouse selected to the next one, and presses a key. */
  const pressBelow = async (row: RegExp, key: string) => {
    await ui().computes.click(row);
    await ui().computes.moveFocus('ArrowDown');
    await ui().page.keyboard.press(key);
  };

  before(() => connect(ui(), service(), 'shop'));

  it('copy, edit and delete with the keyboard only, independent of the row that the mouse selected', async () => {
    const { items } = await service().client.listComputes(shop);
    await pressBelow(/^Compute primary/, 'ControlOrMeta+c');
    await ui().waitForClipboard(items.find(({ id }) => id === reports)?.host ?? '');
    await pressBelow(/^Compute primary/, 'F2');
    await ui().quickInput.cancel('Select what to change on the read replica reports');
    await pressBelow(/^Compute primary/, 'Delete');
    assert.equal((await ui().dialog.read()).message, 'Delete the read replica reports of main (shop)?');
    await ui().dialog.press('Cancel');
  });

  it('do the same for branches and projects, which stay expanded', async () => {
    const shown = await ui().computes.labels();
    const pressAbove = async (rows: number, key: string) => {
      await ui().computes.click(/^Compute primary/);
      for (let row = 0; row < rows; row++) await ui().computes.moveFocus('ArrowUp');
      await ui().page.keyboard.press(key);
    };
    await pressAbove(1, 'ControlOrMeta+c');
    await ui().waitForClipboard(mainBranch);
    await pressAbove(1, 'F2');
    await ui().quickInput.cancel('New name of main (shop)');
    await pressAbove(1, 'Delete');
    await ui().notifications.waitFor(/main \(shop\) can't be deleted/);
    await ui().notifications.clear();
    await pressAbove(2, 'ControlOrMeta+c');
    await ui().waitForClipboard(shop);
    await pressAbove(2, 'Delete');
    await ui().quickInput.cancel('Delete the project shop?');
    await pressAbove(2, 'F2');
    await ui().quickInput.answer('New name of shop', 'market');
    await ui().computes.waitFor('Project market');
    await pressAbove(2, 'F2');
    await ui().quickInput.answer('New name of market', 'shop');
    await ui().computes.waitFor('Project shop');
    assert.deepEqual(await ui().computes.labels(), shown);
  });

  it('are not opened by a key: neither databases, whose rows would connect, nor a collapsed project', async () => {
    const requests = () => service().proxy.count('GET', /\/databases$/);
    const before = requests();
    await pressBelow(/^Compute reports/, 'ControlOrMeta+c');
    await pressBelow(/^Compute reports/, 'F2');
    await pressBelow(/^Compute reports/, 'Delete');
    // The answer to a later key: no earlier one has an effect that is still to come.
    await ui().page.keyboard.press('End');
    await ui().page.keyboard.press('ControlOrMeta+c');
    await ui().waitForClipboard(analytics);
    assert.equal(requests(), before);
    const labels = await ui().computes.labels();
    assert.match(labels.at(-1) ?? '', /^Project analytics/);
  });

  it('announce the end of a change', async () => {
    await ui().computes.contextMenu(/^Compute primary/, 'Start Compute');
    const alert = ui().page.locator('.part.statusbar').getByRole('alert');
    await until('it to be announced', async () =>
      (await alert.allInnerTexts()).some((text) => text.includes('Started the primary of main (shop)')),
    );
  });

  it('offer only actions that a compute supports', async () => {
    const idle = await ui().computes.contextMenuItems(/^Compute reports, idle/);
    assert.ok(idle.includes('Start Compute') && !idle.includes('Restart Compute'), idle.join());
    const active = await ui().computes.contextMenuItems(/^Compute primary, active/);
    assert.ok(active.includes('Restart Compute') && !active.includes('Start Compute'), active.join());
    await service().client.updateCompute(shop, reports, { disabled: true });
    await ui().viewAction('Computes', 'Refresh');
    await ui().computes.waitFor(/^Compute reports, disabled/);
    const items = await ui().computes.contextMenuItems(/^Compute reports/);
    assert.ok(items.includes('Edit Compute…'));
    assert.ok(!items.includes('Restart Compute') && !items.includes('Open psql'), items.join());
    await ui().run('Find Compute…');
    await ui().quickInput.type('Search by name', 'repor');
    await until('it to be announced as disabled', async () =>
      (await ui().quickInput.waitFor('Search by name')).items
        .join()
        .startsWith(`reports read replica · 0.25 CU · disabled · ${reports}`),
    );
    await ui().quickInput.cancel('Search by name');
  });

  it('keep the keyboard focus when one of them is deleted', async () => {
    await ui().computes.click(/^Compute primary/);
    await ui().page.keyboard.press('Delete');
    await ui().dialog.press('Delete');
    await ui().computes.waitUntilGone(new RegExp(`^Compute primary, .*${primary}$`));
    const focused = ui().page.locator('.pane-body [role="tree"]:focus-within .monaco-list-row.focused');
    await until('the next row to have the focus', async () =>
      (await focused.getAttribute('aria-label'))?.startsWith('Compute reports'),
    );
    await ui().page.keyboard.press('F2');
    await ui().quickInput.cancel('Select what to change on the read replica reports');
  });
});

describe('The database branch of a window that knows no host', () => {
  const ui = useWorkbench();
  const service = useService();
  const show = () => ui().run('Show Database Branch…');

  /** The part of the window and the status bar item with the focus. */
  const focus = () =>
    ui().page.evaluate<string>(
      `['.part', '.statusbar-item'].map((each) => document.activeElement?.closest(each)?.id).join()`,
    );
  const moveFocus = async (key: string) => {
    const from = await focus();
    await ui().page.keyboard.press(key);
    await until(`${key} to move the focus`, async () => (await focus()) !== from);
  };

  before(() => connect(ui(), service()));

  it('is offered for a Git branch only, without a file that does not exist', async () => {
    await show();
    await ui().notifications.waitFor(/isn't in a Git repository/);
    await ui().notifications.clear();
    createRepository(ui().folder).git('switch', '--quiet', '--create', 'login');
    await show();
    const { items } = await ui().quickInput.waitFor('.env points to no known');
    assert.deepEqual(items, [
      'Create Branch for login',
      'Choose Branch for login…',
      'Follow Git Branch',
      'Agents…',
    ]);
    await ui().quickInput.cancel('.env points');
  });

  it('is created with the keyboard only, and Undo can be reached', async () => {
    const { page, quickInput } = ui();
    await writeFile(path.join(ui().folder, '.gitignore'), '.env\n');
    await page.keyboard.press('F1');
    await quickInput.answer(/./, '>Hosted Postgres: Show Database Branch…');
    await quickInput.accept('.env points to no known');
    await quickInput.answer('Select a project', 'shop');
    await quickInput.answer("The service doesn't provide the password", 'Use a placeholder');
    await ui().notifications.waitFor('.env points to login');
    const notice = page.locator('.notifications-center .monaco-list-row');
    const label = (await notice.first().getAttribute('aria-label')) ?? '';
    assert.match(label, /^Info: \.env points to login/);
    const isFocused = () =>
      notice.getByRole('button', { name: 'Undo' }).and(page.locator(':focus')).isVisible();
    await until('Undo to have the focus', async () => {
      if (await isFocused()) return true;
      await page.keyboard.press('Tab');
      return false;
    });
    await ui().notifications.clear();
  });

  it('is reached by F6 and the arrow keys, and its menu is read with names', async () => {
    const { page, quickInput } = ui();
    const id = 'hosted-postgres.hosted-postgres.hostedPostgres.workBranch';
    const item = page.locator(`[id="${id}"]`);
    while (!(await focus()).includes('workbench.parts.statusbar')) await moveFocus('F6');
    while (!(await focus()).includes(id)) await moveFocus('ArrowRight');
    const label = () => item.getAttribute('aria-label');
    await until('the branch of .env', async () => (await label()) === 'Database branch login');
    await page.keyboard.press('Enter');
    await quickInput.waitForItems('.env points to login', 11);
    const rows = page.locator('.quick-input-list .monaco-list-row');
    const labels = await rows.evaluateAll((all: PageElement[]) =>
      all.map((row) => row.getAttribute('aria-label')),
    );
    assert.deepEqual(labels, [
      'Open psql',
      'Open .env',
      'Compare Schema with main',
      'Compare Schema with…',
      'Undo…',
      'Rehearse Migration…',
      'Choose Branch for login…',
      'Follow Git Branch',
      'Show in Computes',
      'Tidy Up Branches…',
      'Agents…',
    ]);
    await quickInput.answer('.env points to login', 'Open .env');
    await new Editor(page).waitForFile('.env');
  });
});
