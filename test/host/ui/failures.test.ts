import assert from 'node:assert/strict';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import {
  computeRecord,
  operationRecord,
  scriptService,
  type ScriptedService,
} from '../../helpers/scriptedService.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const replica = 'ep-steep-forest-654321';

describe('the tree after failed requests', () => {
  const opened = useWorkbench();
  let service: LocalService;
  let proxy: FaultProxy;
  const computes = () => opened().workbench.tree('Computes');
  /** A key for the window, which can be revoked. */
  const createKey = async () => (await service.client.createApiKey('of the window')).key;
  const revokeKey = async () => {
    const { items } = await service.client.listApiKeys();
    for (const { id, name } of items) if (name === 'of the window') await service.client.revokeApiKey(id);
  };
  const labels = async () => (await computes().rows()).map(({ label }) => label);
  let initialLabels: string[];

  before(async () => {
    service = await startLocalService({ postgres: false });
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
    await connect(opened().workbench, { baseUrl: proxy.baseUrl, key: await createKey() });
    await computes().expandProject('shop');
    await computes().waitFor(/^Compute ep-purple-water-204912/);
    initialLabels = await labels();
  });
  after(async () => {
    await proxy.stop();
    await service.stop();
  });

  it('stays, with a message that it is not up to date, until the service is back', async () => {
    const { workbench } = opened();
    await proxy.down();
    await until('a message above the tree', async () =>
      (await workbench.viewMessage('Computes')).startsWith('Not up to date: '),
    );
    assert.deepEqual(await labels(), initialLabels);
    await proxy.up();
    await workbench.viewAction('Computes', 'Refresh');
    await until('the message to disappear', async () => (await workbench.viewMessage('Computes')) === '');
    assert.deepEqual(await labels(), initialLabels);
  });

  it("is replaced by the full reason if it couldn't be loaded, and names its account once loaded", async () => {
    const { workbench } = opened();
    await proxy.down();
    await workbench.reload();
    await workbench.openView('Hosted Postgres');
    const welcome = await until('the welcome text', () => workbench.welcomeText('Computes'));
    assert.match(welcome, /Couldn't load your projects: the service isn't responding\./);
    await proxy.up();
    await workbench.clickWelcome('Computes', 'Try Again');
    await computes().expandProject('shop');
    await until('the tree', async () => (await labels()).join() === initialLabels.join());
    assert.equal(await workbench.viewDescription('Computes'), proxy.baseUrl.replace('http://', ''));
  });

  it('stays after the key was revoked, and is up to date again once a new key is entered', async () => {
    const { workbench } = opened();
    await revokeKey();
    await until('a message above the tree', async () =>
      /doesn't accept the API key/.test(await workbench.viewMessage('Computes')),
    );
    assert.deepEqual(await labels(), initialLabels);
    await computes().inlineAction(new RegExp(`^Compute ${replica}`), 'Restart Compute');
    await workbench.dialog.press('Restart');
    const notification = await workbench.notifications.waitFor(`Couldn't restart ${replica}`);
    assert.match(notification.message, /The service doesn't accept the API key/);
    assert.deepEqual(notification.buttons, ['Enter New Key…']);
    await workbench.notifications.press(notification.message, 'Enter New Key…');
    const { quickInput } = workbench;
    const { message, password } = await quickInput.waitFor('API key for');
    assert.ok(message.includes(proxy.baseUrl), message);
    assert.equal(password, true);
    await quickInput.answer(/./, await createKey());
    await quickInput.closed();
    assert.deepEqual(await labels(), initialLabels, 'the tree stays as it was');
    await workbench.notifications.clear();
    await until('the message to disappear', async () => (await workbench.viewMessage('Computes')) === '');
  });

  it('asks for a new key again after a reload', async () => {
    const { workbench } = opened();
    await revokeKey();
    await workbench.reload();
    await workbench.openView('Hosted Postgres');
    assert.match(await workbench.welcomeText('Computes'), /no longer accepts the API key of this account/);
    await workbench.clickWelcome('Computes', 'Enter New Key…');
    await workbench.quickInput.answer('API key for', await createKey());
    await computes().waitFor('Project shop');
    assert.equal(await workbench.viewMessage('Computes'), '');
  });

  it('shows the result of a change whose reply was lost', async () => {
    const { workbench } = opened();
    const deleted = 'ep-purple-water-204912';
    proxy.inject('resetAfter', { method: 'DELETE', path: /\/endpoints\// });
    await computes().expandProject('shop');
    await computes().contextMenu(new RegExp(`^Compute ${deleted}`), 'Delete Compute');
    await workbench.dialog.press('Delete');
    await workbench.statusBar.waitFor(`Deleted ${deleted}`);
    await computes().waitUntilGone(new RegExp(`^Compute ${deleted}`));
    assert.equal(proxy.count('DELETE', /\/endpoints\//), 1);
  });
});

describe('a failed operation', () => {
  const opened = useWorkbench();
  let service: ScriptedService;

  before(async () => {
    const compute = computeRecord('ep-one', { name: 'reports' });
    service = await scriptService((call) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'shop' }] };
      if (call.endsWith('/branches')) return { branches: [{ id: 'br-main', name: 'main' }] };
      if (call.startsWith('POST')) return { endpoint: compute, operations: [operationRecord(1)] };
      if (!call.includes('/operations/')) return { endpoints: [compute] };
      return { operation: operationRecord(1, { status: 'failed', error: 'out of compute hours' }) };
    });
    await connect(opened().workbench, { baseUrl: service.baseUrl, key: 'key-1234' });
  });
  after(() => service.close());

  it("is shown with the service's message and the compute's name, and reveals the compute", async () => {
    const { workbench } = opened();
    const computes = workbench.tree('Computes');
    await computes.expandProject('shop');
    // VS Code replaces the rows when the names of branches arrive. An action of an old row knows no compute.
    await computes.waitFor('Branch br-main, main');
    await computes.inlineAction(/^Compute reports/, 'Restart Compute');
    await workbench.dialog.press('Restart');
    const message = 'Restarting reports failed: out of compute hours';
    const { buttons } = await workbench.notifications.waitFor(message);
    assert.deepEqual(buttons, ['Show Compute']);
    await computes.collapse('Project shop');
    await workbench.notifications.press(message, 'Show Compute');
    await computes.waitFor(/^Compute reports/);
  });
});
