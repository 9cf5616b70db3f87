import assert from 'node:assert/strict';
import { setTimeout as pass } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { addBrowserStorage, type Places } from './secretSearch.ts';
import { useWorkbench } from './useWorkbench.ts';

const [shop, primary, replica] = ['shiny-wind-028834', 'ep-little-smoke-851426', 'ep-steep-forest-654321'];
const idle = 'ep-purple-water-204912';

describe('polling of operations and computes', () => {
  const opened = useWorkbench({ settings: { 'hostedPostgres.refreshInterval': 5 } });
  let service: LocalService;
  let proxy: FaultProxy;
  const computes = () => opened().workbench.tree('Computes');
  const restart = async (id: string) => {
    await computes().inlineAction(new RegExp(`^Compute ${id}`), 'Restart Compute');
    await opened().workbench.dialog.press('Restart');
  };
  /** Returns the requests of a period. It proves that nothing happens, so no state can be waited for instead. */
  const requestsDuring = async (milliseconds: number) => {
    await until('pending requests to end', async () => proxy.pending === 0);
    const before = proxy.requests.length;
    await pass(milliseconds);
    return proxy.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
  };
  /** A refresh that has begun may still send requests. The next one would come after two seconds. */
  const requestsWhenQuiet = async () => {
    await until('the last refresh to end', async () => (await requestsDuring(2500)).length === 0);
    return await requestsDuring(3500);
  };

  before(async () => {
    service = await startLocalService({ postgres: false, args: ['--operation-delay', '8000'] });
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
    await connect(opened().workbench, { baseUrl: proxy.baseUrl, key: service.key });
    await computes().expandProject('shop');
    await computes().waitFor(/^Compute ep-little-smoke-851426, active/);
  });
  after(async () => {
    await proxy.stop();
    await service.stop();
  });

  it('requests one list of computes per tick for any number of operations', async () => {
    const { statusBar } = opened().workbench;
    await restart(primary);
    await restart(replica);
    const { spinning, label } = await statusBar.waitFor(/^\d operations\n.*Restarting .*Restarting /);
    assert.equal(spinning, true);
    assert.match(label, new RegExp(`Restarting ${primary}, Restarting ${replica}`));
    const lists = () => proxy.count('GET', /endpoints$/);
    const [before, startedAt] = [lists(), performance.now()];
    await until('four lists', async () => lists() >= before + 4);
    // One of them may be the background refresh, so two ticks of a second are between the others.
    const took = performance.now() - startedAt;
    assert.ok(took > 1500, `${took} ms`);
    await statusBar.waitUntilGone(/^\d operation/);
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

  it('sends no request if nothing is pending and the view is hidden', async () => {
    const { workbench } = opened();
    await workbench.openView('Search');
    // The extension answers after it has noticed that its view is hidden.
    await workbench.runCommand('Hosted Postgres: Show Operations');
    await workbench.quickInput.cancel('No pending operations');
    assert.deepEqual(await requestsWhenQuiet(), []);
  });

  it('follows operations while the view is hidden', async () => {
    const { workbench } = opened();
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

  it('sends no request while another window has the focus', async () => {
    const { workbench } = opened();
    const refreshes = () => proxy.count('GET', /endpoints$/);
    const before = refreshes();
    await until('a background refresh', async () => refreshes() > before);
    await setFocus(workbench.page, false);
    assert.deepEqual(await requestsWhenQuiet(), []);
    await setFocus(workbench.page, true);
    await until('the refresh to continue', async () => refreshes() > before + 1);
  });
});

/** A headless page always has the focus, so this overrides what the browser reports. */
const setFocus = (page: Page, focused: boolean): Promise<void> =>
  page.evaluate(
    `document.hasFocus = () => ${focused}; window.dispatchEvent(new Event('${focused ? 'focus' : 'blur'}')); undefined`,
  );
