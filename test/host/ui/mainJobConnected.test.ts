import assert from 'node:assert/strict';
import { isSettled } from '../../../src/model/inventory/computeStatus.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { useWorkbench } from './useWorkbench.ts';

const [shop, branch] = ['shiny-wind-028834', 'br-aged-salad-637688'];
const primary = 'ep-little-smoke-851426';
const [playground, branchWithoutPrimary] = ['calm-poetry-195246', 'br-young-moon-279461'];

describe('the main job on a remote service', () => {
  const opened = useWorkbench();
  let service: LocalService;
  const computesOf = async (projectId: string) => (await service.client.listComputes(projectId)).items;
  const computes = () => opened().workbench.tree('Computes');

  before(async () => {
    // Long enough for pending states to be seen on a busy machine.
    service = await startLocalService({ postgres: false, args: ['--operation-delay', '4000'] });
  });
  after(() => service.stop());

  it('rejects a wrong key in the input box and stores nothing', async () => {
    const { workbench } = opened();
    const { quickInput } = workbench;
    await workbench.openView('Hosted Postgres');
    await workbench.clickWelcome('Computes', 'Connect…');
    await quickInput.answer('Select a service', service.baseUrl);
    const { password } = await quickInput.waitFor('API key for');
    assert.equal(password, true);
    assert.match(await quickInput.validationMessage('API key for', 'wrong'), /doesn't accept the API key/);
    await quickInput.cancel(/./);
    assert.match(await workbench.welcomeText('Computes'), /Connect to your hosted Postgres/);
    await workbench.runCommand('Hosted Postgres: Switch Account…');
    const items = await until('the accounts', async () => {
      const shown = await quickInput.waitFor('Select an account');
      return shown.items.length > 0 && shown.items;
    });
    assert.deepEqual(items, ['Connect to another account…']);
    await quickInput.cancel('Select an account');
  });

  it('connects with an address and a key', async () => {
    const { workbench } = opened();
    const { quickInput } = workbench;
    await workbench.clickWelcome('Computes', 'Connect…');
    await quickInput.answer('Select a service', service.baseUrl);
    await quickInput.answer('API key for', service.key);
    await workbench.statusBar.waitFor(`Connected to ${service.baseUrl.replace('http://', '')}`);
    await computes().expandProject('shop');
    await computes().waitFor(/^Compute ep-little-smoke-851426, active, primary/);
  });

  it('creates a read replica and shows its states and the number of pending operations', async () => {
    const { workbench } = opened();
    const { quickInput, statusBar } = workbench;
    const before = new Set((await computesOf(shop)).map(({ id }) => id));
    await computes().contextMenu(`Branch ${branch}, main, default`, 'Create Compute…');
    await quickInput.choose('Select the type', 'Read replica');
    await quickInput.choose('Select a fixed size', '0.25 CU');
    await quickInput.accept('Suspend after inactivity');
    const { label } = await computes().waitFor(/^Compute ep-\S+, init, read replica, 0\.25 CU$/);
    const createdId = label.slice('Compute '.length, label.indexOf(','));
    const item = await statusBar.waitFor(/^[12] operations?\n/);
    assert.equal(item.spinning, true);
    assert.match(item.label, new RegExp(`pending\\. Creating ${createdId}`));
    await statusBar.waitFor(`Created ${createdId}`);
    await statusBar.waitUntilGone(/^\d operation/);
    await computes().waitFor(`Compute ${createdId}, active, read replica, 0.25 CU`);
    const added = (await computesOf(shop)).filter(({ id }) => !before.has(id));
    assert.deepEqual(
      added.map(({ id, type, current_state: state }) => [id, type, state]),
      [[createdId, 'read_only', 'active']],
    );
  });

  it('restarts a compute and shows the pending operations', async () => {
    const { statusBar, dialog } = opened().workbench;
    await computes().inlineAction(new RegExp(`^Compute ${primary}`), 'Restart Compute');
    assert.equal((await dialog.read()).message, `Restart ${primary}?`);
    await dialog.press('Restart');
    await computes().waitFor(new RegExp(`^Compute ${primary}, (active, changing|idle → active)`));
    assert.equal((await statusBar.waitFor(/^\d operations?\n/)).spinning, true);
    await statusBar.click(/^\d operation/);
    const { items } = await opened().workbench.quickInput.waitFor('Select an operation');
    assert.match(
      items.join(),
      new RegExp(`Restarting ${primary} suspend_compute: \\w+, start_compute: \\w+`),
    );
    await opened().workbench.quickInput.cancel('Select an operation');
    await statusBar.waitFor(`Restarted ${primary}`);
    await computes().waitFor(new RegExp(`^Compute ${primary}, active, primary`));
    assert.ok((await computesOf(shop)).every(isSettled));
  });

  it('shows the error of the service if another client was faster, and creates nothing', async () => {
    const { workbench } = opened();
    const { quickInput } = workbench;
    await computes().expandProject('playground');
    await computes().contextMenu(`Branch ${branchWithoutPrimary}, ideas`, 'Create Compute…');
    await quickInput.choose('Select the type', 'Primary');
    const first = await service.client.createCompute(playground, {
      branch_id: branchWithoutPrimary,
      type: 'read_write',
    });
    await quickInput.choose('Select a fixed size', '0.25 CU');
    await quickInput.accept('Suspend after inactivity');
    const notification = await workbench.notifications.waitFor(/^Couldn't create the compute: /);
    assert.equal(notification.severity, 'error');
    assert.match(notification.message, /primary|read_write/);
    await workbench.notifications.clear();
    await until('the other primary to be active', async () =>
      (await computesOf(playground)).every(isSettled),
    );
    const primaries = (await computesOf(playground)).filter(
      (compute) => compute.branch_id === branchWithoutPrimary && compute.type === 'read_write',
    );
    assert.deepEqual(
      primaries.map(({ id }) => id),
      [first.compute?.id],
    );
    await computes().waitFor(new RegExp(`^Compute ${first.compute?.id}, active, primary`));
    await workbench.statusBar.waitUntilGone(/^\d operation/);
  });
});
