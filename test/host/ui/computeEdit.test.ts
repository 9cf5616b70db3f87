import assert from 'node:assert/strict';
import type { Compute } from '../../../src/api/records/records.ts';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import {
  emptyBranch,
  primary,
  reports,
  rewrite,
  rewriteBranch,
  shop,
  shopAccount,
} from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('Edit Compute…', () => {
  const opened = useWorkbench();
  const quickInput = () => opened().workbench.quickInput;
  let service: LocalService;
  let proxy: FaultProxy;

  before(async () => {
    service = await startLocalService({ postgres: false, args: shopAccount(temporaryFolder()) });
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
    await connect(opened().workbench, { baseUrl: proxy.baseUrl, key: service.key });
    await opened().workbench.tree('Computes').expandProject('shop');
  });
  after(async () => {
    await proxy.stop();
    await service.stop();
  });

  const find = async (id: string) =>
    (await service.client.listComputes(shop)).items.find((compute) => compute.id === id);
  const changes = () => proxy.count('PATCH');
  /** Opens “Edit Compute…” from the compute's context menu and picks an item. */
  const edit = async (name: string, what: string) => {
    await opened()
      .workbench.tree('Computes')
      .contextMenu(new RegExp(`^Compute ${name},`), 'Edit Compute…');
    await quickInput().choose('Select what to change', what);
  };
  const waitForChange = (id: string, isDone: (compute: Compute) => boolean) =>
    until(`${id} to be changed`, async () => {
      const compute = await find(id);
      return compute !== undefined && (compute.pending_state ?? '') === '' && isDone(compute);
    });

  it('shows the current values', async () => {
    await opened().workbench.runCommand('Hosted Postgres: Edit Compute…');
    await quickInput().waitForItems('Select a compute', 4);
    await quickInput().choose('Select a compute', primary);
    const { title, items } = await quickInput().waitFor('Select what to change on primary');
    assert.match(title, /2\/2/);
    assert.deepEqual(items, [
      'Size… 0.25 CU',
      'Autosuspend… after 5 minutes (default)',
      'Postgres Settings… none',
      'Move to Another Branch… br-aged-salad-000001 (main)',
      'Name… primary',
      'Turn Pooled Connections Off on',
      'Disable… enabled',
    ]);
    await quickInput().cancel('Select what to change');
  });

  it('warns of the restart before a change of size', async () => {
    const before = changes();
    await edit('primary', 'Size…');
    await quickInput().choose('Select a fixed size', '2 CU');
    const { message, detail } = await opened().workbench.dialog.read();
    assert.equal(message, 'Change the size of primary to 2 CU?');
    assert.match(detail, /^The compute restarts\. No connections are interrupted\./);
    await opened().workbench.dialog.press('Cancel');
    assert.equal(changes(), before);
    await edit('primary', 'Size…');
    await quickInput().choose('Select a fixed size', '2 CU');
    await opened().workbench.dialog.press('Change and Restart');
    await waitForChange(primary, ({ autoscaling_limit_max_cu }) => autoscaling_limit_max_cu === 2);
  });

  it('warns before pooled connections are dropped', async () => {
    await service.client.startCompute(shop, primary);
    await opened()
      .workbench.tree('Computes')
      .waitFor(/^Compute primary, active,/);
    await edit('primary', 'Turn Pooled Connections Off');
    const { message, detail } = await opened().workbench.dialog.read();
    assert.equal(message, 'Change primary?');
    assert.match(detail, /pooled connections are dropped/);
    await opened().workbench.dialog.press('Change');
    await waitForChange(primary, ({ pooler_enabled }) => pooler_enabled === false);
  });

  it('changes autosuspend without confirmation, and explains “Never”', async () => {
    await edit('primary', 'Autosuspend…');
    await quickInput().waitFor('Suspend');
    const never = opened().workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Never' });
    assert.match(await never.innerText(), /Service updates \(about weekly\) then need a manual restart/);
    await quickInput().choose('Suspend', 'Never');
    await waitForChange(primary, ({ suspend_timeout_seconds }) => suspend_timeout_seconds === -1);
  });

  it('sends nothing if the value does not change', async () => {
    const before = changes();
    await edit('primary', 'Name…');
    await quickInput().accept('Name of');
    await opened().workbench.statusBar.waitFor('Nothing to change on primary');
    assert.equal(changes(), before);
  });

  it('sends only changed fields', async () => {
    await edit('reports', 'Size…');
    await quickInput().choose('Select a fixed size', 'Autoscaling…');
    await quickInput().choose('Select the minimum', '0.25 CU');
    await quickInput().choose('Select the maximum', '1 CU');
    await opened().workbench.dialog.press('Change and Restart');
    await waitForChange(reports, ({ autoscaling_limit_max_cu }) => autoscaling_limit_max_cu === 1);
    assert.equal((await find(reports))?.autoscaling_limit_min_cu, 0.25);
  });

  it('moves a primary only to a branch without one', async () => {
    await edit('primary', 'Move to Another Branch…');
    const primaryOfRewrite = 'not available: ep-purple-water-000003 is the primary of this branch';
    await until('the branches', async () => {
      const { items } = await quickInput().waitFor('Select a branch');
      return items.includes(`${rewriteBranch} rewrite · ${primaryOfRewrite}`);
    });
    await quickInput().answer('Select a branch', emptyBranch);
    assert.match(
      (await opened().workbench.dialog.read()).detail,
      new RegExp(`serves the data of ${emptyBranch} \\(empty\\)`),
    );
    await opened().workbench.dialog.press('Move');
    await waitForChange(primary, ({ branch_id }) => branch_id === emptyBranch);
    // While rows move, a context menu could open for another row.
    await until('the compute on its new branch', async () => {
      const labels = (await opened().workbench.tree('Computes').rows()).map(({ label }) => label);
      return labels[labels.indexOf(`Branch ${emptyBranch}, empty`) + 1]?.startsWith('Compute primary,');
    });
  });

  it('renames, disables and enables', async () => {
    await edit('reports', 'Name…');
    await quickInput().answer('Name of', 'weekly reports');
    await waitForChange(reports, ({ name }) => name === 'weekly reports');
    await edit('weekly reports', 'Disable…');
    assert.match(
      (await opened().workbench.dialog.read()).detail,
      /accepts no connections until you enable it/,
    );
    await opened().workbench.dialog.press('Disable');
    await waitForChange(reports, ({ disabled }) => disabled === true);
    await opened()
      .workbench.tree('Computes')
      .waitFor(/^Compute weekly reports, disabled/);
    await edit('weekly reports', 'Enable');
    await waitForChange(reports, ({ disabled }) => disabled === false);
  });

  it('changes nothing if another client has done the same during the questions', async () => {
    const computes = opened().workbench.tree('Computes');
    await computes.contextMenu(new RegExp(`^Compute ${rewrite},`), 'Edit Compute…');
    await quickInput().waitFor('Select what to change');
    await service.client.updateCompute(shop, rewrite, { disabled: true });
    await computes.waitFor(new RegExp(`^Compute ${rewrite}, disabled`));
    await quickInput().choose('Select what to change', 'Disable…');
    await opened().workbench.statusBar.waitFor(`Nothing to change on ${rewrite}`);
    assert.equal((await find(rewrite))?.disabled, true);
  });
});
