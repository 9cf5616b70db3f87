import assert from 'node:assert/strict';
import type { Compute } from '../../../src/api/records/records.ts';
import {
  emptyBranch,
  mainBranch,
  primary,
  reports,
  rewrite,
  rewriteBranch,
  shop,
} from '../../helpers/shopAccount.ts';
import { Editor } from '../../workbench/editor.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { closeEditors } from './resetWindow.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('Computes', () => {
  const ui = useWorkbench();
  const service = useService();

  before(() => connect(ui(), service(), 'shop'));

  const all = async () => (await service().client.listComputes(shop)).items;
  const waitForChange = (id: string, isDone: (compute: Compute) => boolean) =>
    until(`${id} to be changed`, async () => {
      const compute = (await all()).find((each) => each.id === id);
      return compute !== undefined && (compute.pending_state ?? '') === '' && isDone(compute);
    });
  /** Waits for items, which the window may have to load. */
  const itemsOf = (prompt: string) =>
    until(`items of ${prompt}`, async () => {
      const { items } = await ui().quickInput.waitFor(prompt);
      return items.length > 0 && items;
    });
  /** Opens “Edit Compute…” from the compute's context menu and picks an item. */
  const edit = async (name: string, item: string) => {
    await ui().computes.contextMenu(new RegExp(`^Compute ${name},`), 'Edit Compute…');
    await ui().quickInput.choose('Select what to change', item);
  };

  it('are offered by commands, the selected one first', async () => {
    await ui().computes.click(/^Compute reports,/);
    await ui().run('Copy Id');
    const [first] = await ui().quickInput.waitForItems('Select a compute', 4);
    assert.match(first ?? '', /^reports read replica · 0.25 CU · idle · ep-steep-forest-000002$/);
    await ui().quickInput.accept('Select a compute');
    await ui().waitForClipboard(reports);
  });

  it('have a page with their details, and JSON of all fields one click further', async () => {
    await ui().computes.contextMenu(/^Compute reports,/, 'More', 'Show Details');
    const page = ui().page.frameLocator('iframe.webview.ready').frameLocator('iframe[title]');
    await page.getByRole('cell', { name: '0.25 CU' }).waitFor();
    await ui().page.getByRole('button', { name: 'Show as JSON' }).click();
    const editor = new Editor(ui().page);
    await editor.waitForText(/"pooler_mode": "transaction",\n.*"passwordless_access": false/);
    assert.equal(JSON.parse(await editor.text()).id, reports);
    await closeEditors(ui());
  });

  it('are created with branch, type, size and autosuspend, each step of which explains itself', async () => {
    const { quickInput } = ui();
    const existing = new Set((await all()).map(({ id }) => id));
    await ui().computes.click('Project analytics');
    await ui().run('Create Compute…');
    await quickInput.waitFor('Select a branch');
    await quickInput.pressButton('Back');
    assert.match((await quickInput.waitFor('Select a project')).title, /1\/5/);
    await quickInput.choose('Select a project', 'shop');
    assert.match((await quickInput.waitFor('Select a branch')).title, /2\/5/);
    await quickInput.choose('Select a branch', 'main');
    const [, second] = await itemsOf('Select the type');
    assert.equal(second, 'Primary not available: primary is the primary of this branch');
    await quickInput.choose('Select the type', 'Read replica');
    const sizes = await itemsOf('Select a fixed size');
    assert.ok(sizes.includes('0.25 CU 0.25 vCPU · 1 GB RAM · 0.8 GB file cache · max_connections 112'));
    await quickInput.choose('Select a fixed size', 'Autoscaling…');
    assert.match((await quickInput.waitFor('Select the minimum')).title, /5\/7/);
    await quickInput.choose('Select the minimum', '1 CU');
    // The minimum size determines the maximum number of connections.
    const [maximum] = await itemsOf('Select the maximum');
    assert.equal(maximum, '2 CU 2 vCPU · 8 GB RAM · 6.4 GB file cache · max_connections 450');
    await quickInput.choose('Select the maximum', '4 CU');
    await quickInput.answer('Suspend', '20 min');
    const created = await until('the replica', async () => (await all()).find(({ id }) => !existing.has(id)));
    assert.deepEqual(
      [created.type, created.autoscaling_limit_min_cu, created.autoscaling_limit_max_cu],
      ['read_only', 1, 4],
    );
    assert.deepEqual([created.branch_id, created.suspend_timeout_seconds], [mainBranch, 1200]);
    await ui().computes.waitFor(new RegExp(`^Compute .*, active, .*${created.id}$`));
    await ui().computes.waitUntilSelected(new RegExp(`^Compute .*${created.id}$`));
  });

  it('show their current values before an edit', async () => {
    await ui().computes.contextMenu(/^Compute primary,/, 'Edit Compute…');
    const { items } = await ui().quickInput.waitFor('Select what to change on the primary of main');
    assert.deepEqual(items, [
      'Size… 0.25 CU',
      'Autosuspend… after 5 minutes (default)',
      'Postgres Settings… none',
      'Move to Another Branch… main (br-aged-salad-000001)',
      'Name… primary',
      'Turn Pooled Connections Off on',
      'Disable… enabled',
    ]);
    await ui().quickInput.cancel('Select what to change');
  });

  it('have pooling turned off without a question, because no connection is dropped', async () => {
    await service().client.startCompute(shop, primary);
    await ui().computes.waitFor(/^Compute primary, active,/);
    await edit('primary', 'Turn Pooled Connections Off');
    await waitForChange(primary, ({ pooler_enabled }) => pooler_enabled === false);
  });

  it('get another autosuspend without a confirmation, and “Never” is explained', async () => {
    await edit('primary', 'Autosuspend…');
    await ui().quickInput.waitFor('Suspend');
    const never = ui().page.locator('.quick-input-list .monaco-list-row', { hasText: 'Never' });
    assert.match(await never.innerText(), /Service updates \(about weekly\) then need a manual restart/);
    await ui().quickInput.choose('Suspend', 'Never');
    await waitForChange(primary, ({ suspend_timeout_seconds }) => suspend_timeout_seconds === -1);
  });

  it('move only to a branch without a primary', async () => {
    await edit('primary', 'Move to Another Branch…');
    const reason = `not available: ${rewrite} is the primary of this branch`;
    await until('the branches', async () =>
      (await itemsOf('Select a branch')).includes(`rewrite ${rewriteBranch} · ${reason}`),
    );
    await ui().quickInput.answer('Select a branch', emptyBranch);
    assert.ok((await ui().dialog.read()).detail.includes(`serves the data of empty.`));
    await ui().dialog.press('Move');
    await waitForChange(primary, ({ branch_id }) => branch_id === emptyBranch);
    // While rows move, a context menu could open for another row.
    await until('the compute on its new branch', async () => {
      const labels = await ui().computes.labels();
      return labels[labels.indexOf(`Branch empty, ${emptyBranch}`) + 1]?.startsWith('Compute primary,');
    });
  });

  it('are renamed, disabled and enabled', async () => {
    await edit('reports', 'Name…');
    await ui().quickInput.answer('New name of', 'weekly reports');
    await waitForChange(reports, ({ name }) => name === 'weekly reports');
    await edit('weekly reports', 'Disable…');
    assert.match((await ui().dialog.read()).detail, /accepts no connections until you enable it/);
    await ui().dialog.press('Disable');
    await waitForChange(reports, ({ disabled }) => disabled === true);
    await ui().computes.waitFor(/^Compute weekly reports, disabled/);
    await edit('weekly reports', 'Enable');
    await waitForChange(reports, ({ disabled }) => disabled === false);
  });

  it('are changed without a question while idle', async () => {
    const row = /^Compute dashboards, idle/;
    await ui().computes.expandProject('analytics');
    await ui().computes.contextMenu(row, 'Edit Compute…');
    await ui().quickInput.choose('Select what to change', 'Size…');
    await ui().quickInput.choose('Select a fixed size', '1 CU');
    await ui().statusBar.waitFor('Changed the primary of br-wispy-meadow-000004 (analytics): 1 CU');
    await ui().computes.contextMenu(row, 'Edit Compute…');
    await ui().quickInput.choose('Select what to change', 'Disable…');
    assert.match((await ui().dialog.read()).detail, /accepts no connections until you enable it/);
    await ui().dialog.press('Cancel');
  });

  it('are started from their row, unless the service does not offer it', async () => {
    const row = /^Compute dashboards, idle/;
    await ui().computes.expandProject('analytics');
    await ui().computes.inlineAction(row, 'Start Compute');
    await ui().statusBar.waitFor('Started the primary of br-wispy-meadow-000004 (analytics)');
    await ui().computes.inlineAction(/^Compute dashboards, active/, 'Suspend Compute');
    await ui().computes.waitFor(row);
    service().proxy.inject('methodNotAllowed', { path: /\/start$/ });
    await ui().computes.inlineAction(row, 'Start Compute');
    const { message } = await ui().notifications.waitFor("Couldn't start the primary of");
    assert.match(message, /This service can't start or suspend computes on request/);
    await ui().notifications.clear();
    assert.ok(!(await ui().computes.contextMenuItems(row)).includes('Start Compute'));
    await until('the palette without it', async () => !(await ui().isOffered('Start Compute')));
  });
});
