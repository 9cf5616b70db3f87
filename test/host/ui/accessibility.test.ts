import assert from 'node:assert/strict';
import { createRepository } from '../../helpers/gitRepository.ts';
import { reports, shop } from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('Rows of the tree', () => {
  const ui = useWorkbench();
  const service = useService();
  /** Moves from the row that the mouse selected to the next one, and presses a key. */
  const pressBelow = async (row: RegExp, key: string) => {
    await ui().computes.click(row);
    await ui().page.keyboard.press('ArrowDown');
    await ui().page.keyboard.press(key);
  };

  before(() => connect(ui(), service(), 'shop'));

  it('give their kind, name, state, type, size and id to screen readers', async () => {
    const labels = (await ui().computes.labels()).slice(0, 4);
    assert.deepEqual(labels, [
      'Project shop',
      'Branch br-aged-salad-000001, main, default',
      'Compute primary, idle, primary, 0.25 CU, ep-little-smoke-000001',
      'Compute reports, idle, read replica, 0.25 CU, ep-steep-forest-000002',
    ]);
  });

  it('copy, edit and delete with the keyboard only, independent of the row that the mouse selected', async () => {
    const { items } = await service().client.listComputes(shop);
    await pressBelow(/^Compute primary/, 'ControlOrMeta+c');
    await ui().waitForClipboard(items.find(({ id }) => id === reports)?.host ?? '');
    await pressBelow(/^Compute primary/, 'F2');
    await ui().quickInput.cancel('Select what to change on reports');
    await pressBelow(/^Compute primary/, 'Delete');
    assert.equal((await ui().dialog.read()).message, 'Delete reports?');
    await ui().dialog.press('Cancel');
  });

  it('copy their ids', async () => {
    assert.deepEqual(await ui().computes.contextMenuItems('Project shop'), [
      'Create Compute…',
      'Create Branch…',
      'Refresh',
      'Mark Project…',
      'Copy Id',
      'Delete Project…',
    ]);
    await ui().computes.contextMenu(/^Branch br-aged-salad-000001/, 'Copy Id');
    await ui().waitForClipboard('br-aged-salad-000001');
  });

  it('announce the end of a change', async () => {
    await ui().computes.contextMenu(/^Compute primary/, 'Restart Compute');
    await ui().dialog.press('Restart');
    const alert = ui().page.locator('.part.statusbar').getByRole('alert');
    await until('it to be announced', async () =>
      (await alert.allInnerTexts()).some((text) => text.includes('Restarted primary')),
    );
  });

  it('offer only actions that a compute supports', async () => {
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
        .startsWith(`${reports} reports · read replica · 0.25 CU · disabled`),
    );
    await ui().quickInput.cancel('Search by name');
  });

  it('keep the keyboard focus when one of them is deleted', async () => {
    await ui().computes.click(/^Compute primary/);
    await ui().page.keyboard.press('Delete');
    await ui().dialog.press('Delete');
    await ui().computes.waitUntilGone(/^Compute primary/);
    const focused = ui().page.locator('.pane-body [role="tree"]:focus-within .monaco-list-row.focused');
    await until('the next row to have the focus', async () =>
      (await focused.getAttribute('aria-label'))?.startsWith('Compute reports'),
    );
    await ui().page.keyboard.press('F2');
    await ui().quickInput.cancel('Select what to change on reports');
  });
});

describe('The database branch of a window that knows no host', () => {
  const ui = useWorkbench();
  const service = useService();
  const show = () => ui().run('Show Database Branch…');

  before(() => connect(ui(), service()));

  it('is offered for a Git branch only, without a file that does not exist', async () => {
    await show();
    await ui().notifications.waitFor(/isn't in a Git repository/);
    await ui().notifications.clear();
    createRepository(ui().folder);
    await show();
    const { items } = await ui().quickInput.waitFor('.env points to no known');
    assert.deepEqual(items, ['Create Branch for main', 'Choose Branch for main…', 'Follow Git Branch']);
    await ui().quickInput.cancel('.env points');
  });
});
