import assert from 'node:assert/strict';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { addBrowserStorage, type Places } from './secretSearch.ts';
import { useWorkbench } from './useWorkbench.ts';

const [shop, primary] = ['shiny-wind-028834', 'ep-little-smoke-851426'];
const idle = 'ep-purple-water-204912';

describe('pending operations and other changes', () => {
  const opened = useWorkbench({ settings: { 'hostedPostgres.refreshInterval': 5 } });
  let service: LocalService;
  let proxy: FaultProxy;
  const computes = () => opened().workbench.tree('Computes');
  const restart = async (id: string) => {
    await computes().inlineAction(new RegExp(`^Compute ${id}`), 'Restart Compute');
    await opened().workbench.dialog.press('Restart');
  };
  before(async () => {
    service = await startLocalService({ postgres: false, args: ['--operation-delay', '500'] });
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
    await connect(opened().workbench, { baseUrl: proxy.baseUrl, key: service.key });
    await computes().expandProject('shop');
    await computes().waitFor(/^Compute ep-little-smoke-851426, active/);
  });
  after(async () => {
    await proxy.stop();
    await service.stop();
  });

  it('continues after a reload of the window until the operations end', async () => {
    const { workbench } = opened();
    // The window must not learn of the end before it is open again.
    const lists = /(endpoints|operations)$/;
    proxy.inject('unavailable', { method: 'GET', path: lists, times: Number.POSITIVE_INFINITY });
    // The message moves all rows down, so it must not appear under the pointer.
    await until('the message above the tree', async () =>
      (await workbench.viewMessage('Computes')).startsWith('Not up to date: '),
    );
    await restart(primary);
    await until('the change to be stored', async () => {
      const places: Places = new Map();
      await addBrowserStorage(places, workbench.page);
      return [...places.values()].some((value) => value.includes('"verb":"restart"'));
    });
    await workbench.reload();
    const { spinning } = await workbench.statusBar.waitFor(`Restarting ${primary}`);
    assert.equal(spinning, true);
    proxy.clear();
    await workbench.statusBar.waitFor(`Restarted ${primary}`);
    await workbench.statusBar.waitUntilGone(/^\d operation/);
    await workbench.openView('Hosted Postgres');
    await computes().expandProject('shop');
    await computes().waitFor(new RegExp(`^Compute ${primary}, active,`));
    await workbench.reload();
    await computes().waitFor('Project shop');
    assert.deepEqual(await workbench.statusBar.items('hosted-postgres'), []);
  });

  it('follows operations while the view is hidden', async () => {
    const { workbench } = opened();
    await workbench.openView('Search');
    await workbench.runCommand('Hosted Postgres: Restart Compute');
    await workbench.quickInput.choose('Select a compute', idle);
    await workbench.dialog.press('Restart');
    await workbench.statusBar.waitFor(`Restarted ${idle}`);
  });

  it('shows changes made by other clients', async () => {
    const { workbench } = opened();
    await workbench.openView('Hosted Postgres');
    await computes().expandProject('shop');
    const change = { suspend_timeout_seconds: 600, autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 };
    await service.client.updateCompute(shop, primary, change);
    await computes().waitFor(new RegExp(`^Compute ${primary}, .*, 1 CU$`));
    await computes().waitFor(new RegExp(`^Compute ${primary}, active, primary, 1 CU$`));
  });
});
