import assert from 'node:assert/strict';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import {
  emptyBranch,
  mainBranch,
  rewrite,
  rewriteBranch,
  shop,
  shopAccount,
} from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('A service with only the calls of the specification', () => {
  const opened = useWorkbench();
  const quickInput = () => opened().workbench.quickInput;
  const computes = () => opened().workbench.tree('Computes');
  let service: LocalService;
  let proxy: FaultProxy;

  before(async () => {
    service = await startLocalService({ postgres: false, args: shopAccount(temporaryFolder()) });
    proxy = await FaultProxy.start({ upstream: service.baseUrl, onlySpecified: true });
    await connect(opened().workbench, { baseUrl: proxy.baseUrl, key: service.key });
    await computes().waitFor('Project shop');
  });
  after(async () => {
    await proxy.stop();
    await service.stop();
  });

  it('says so to users who run a command that needs more, and hides such commands from then on', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Create Project…');
    await quickInput().answer('Name of the new project', 'blog');
    await workbench.notifications.waitFor(/doesn't support changing projects/);
    await workbench.notifications.clear();
    await workbench.runCommand('Hosted Postgres: Create Branch…');
    await quickInput().choose('Select a project', 'shop');
    await workbench.notifications.waitFor(/doesn't support changing branches/);
    await workbench.notifications.clear();
    await workbench.page.keyboard.press('F1');
    await quickInput().type(/./, '>Hosted Postgres: Create');
    const shown = async () => ((await quickInput().read())?.items ?? []).join();
    await until('the palette', async () => (await shown()).includes('Create Compute…'));
    assert.doesNotMatch(await shown(), /Create (Branch|Project)…/);
    await quickInput().cancel(/./);
  });

  it('shows branches by id, those with computes only', async () => {
    await computes().expand('Project shop');
    await computes().waitFor(/^Compute primary,/);
    const labels = (await computes().rows())
      .map(({ label }) => label)
      .filter((label) => label.startsWith('Branch'));
    assert.deepEqual(labels, [`Branch ${mainBranch}`, `Branch ${rewriteBranch}`]);
  });

  it('has no menu items for branches and projects', async () => {
    // VS Code redraws rows with a delay.
    for (const row of ['Project shop', `Branch ${mainBranch}`])
      await until(`the menu of ${row} without branches`, async () => {
        const items = await computes().contextMenuItems(row);
        const others = items.filter((item) => /Branch|Delete Project|Reset Password/.test(item));
        return items.includes('Create Compute…') && others.length === 0;
      });
  });

  it('is asked for branches once', async () => {
    const branches = () => proxy.count('GET', /\/branches$/);
    const refreshes = proxy.count('GET', /\/endpoints$/);
    await opened().workbench.runCommand('Hosted Postgres: Refresh');
    await until('a refresh', async () => proxy.count('GET', /\/endpoints$/) > refreshes);
    assert.deepEqual(await opened().workbench.notifications.all(), []);
    await computes().expand('Project analytics');
    await computes().waitFor(/^Compute dashboards,/);
    assert.equal(branches(), 1);
  });

  it('still takes branch ids that are entered, and says which are not valid', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Create Compute…');
    await quickInput().choose('Select a project', 'shop');
    await quickInput().type('Select a branch', 'main');
    await until('the typed id', async () => {
      const { items } = await quickInput().waitFor('Select a branch');
      return items.join().includes('not a branch id');
    });
    await quickInput().answer('Select a branch', emptyBranch);
    await quickInput().choose('Select the type', 'Primary');
    await quickInput().choose('Select a fixed size', '0.25 CU');
    await quickInput().accept('Suspend after inactivity');
    await computes().waitFor(`Branch ${emptyBranch}`);
    const { items: all } = await service.client.listComputes(shop);
    const created = all.find(({ branch_id }) => branch_id === emptyBranch);
    // The command ends by showing it.
    await computes().waitUntilSelected(new RegExp(`^Compute ${created?.id}`));
  });

  it('restarts and deletes computes', async () => {
    const { workbench } = opened();
    await computes().contextMenu(new RegExp(`^Compute ${rewrite}`), 'Restart Compute');
    await workbench.dialog.press('Restart');
    await workbench.statusBar.waitFor(`Restarted ${rewrite}`);
    await computes().contextMenu(new RegExp(`^Compute ${rewrite}`), 'Delete Compute');
    await workbench.dialog.press('Delete');
    await computes().waitUntilGone(new RegExp(`^Compute ${rewrite}`));
  });
});
