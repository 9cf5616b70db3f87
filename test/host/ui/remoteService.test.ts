import assert from 'node:assert/strict';
import { until } from '../../workbench/until.ts';
import { useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const [shop, branch] = ['shiny-wind-028834', 'br-aged-salad-637688'];
const [playground, branchWithoutPrimary] = ['calm-poetry-195246', 'br-young-moon-279461'];

describe('a remote service', () => {
  const ui = useWorkbench();
  // Long enough for pending states to be seen on a busy machine.
  const service = useService({ args: ['--operation-delay', '4000'] });
  const computesOf = async (projectId: string) => (await service().client.listComputes(projectId)).items;

  it('rejects a wrong key in the input box and stores nothing', async () => {
    await ui().openView('Hosted Postgres');
    await ui().clickWelcome('Computes', 'Connect…');
    await ui().quickInput.answer('Select a service', service().baseUrl);
    const { password } = await ui().quickInput.waitFor('API key for');
    assert.equal(password, true);
    assert.match(
      await ui().quickInput.validationMessage('API key for', 'wrong'),
      /doesn't accept the API key/,
    );
    await ui().quickInput.cancel(/./);
    assert.match(await ui().welcomeText('Computes'), /Try it with the local service/);
    await ui().run('Switch Account…');
    const items = await until('the accounts', async () => {
      const shown = await ui().quickInput.waitFor('Select an account');
      return shown.items.length > 0 && shown.items;
    });
    assert.deepEqual(items, ['Connect to another account…']);
    await ui().quickInput.cancel('Select an account');
  });

  it('connects with an address and a key', async () => {
    await ui().clickWelcome('Computes', 'Connect…');
    await ui().quickInput.answer('Select a service', service().baseUrl);
    await ui().quickInput.answer('API key for', service().key);
    await ui().statusBar.waitFor(`Connected to ${service().baseUrl.replace('http://', '')}`);
    await ui().computes.waitForFirstProject();
    await ui().computes.expandProject('shop');
    await ui().computes.waitFor(/^Compute primary, active, .*ep-little-smoke-851426$/);
  });

  it('creates a read replica and shows its states and the pending operations', async () => {
    const before = new Set((await computesOf(shop)).map(({ id }) => id));
    await ui().computes.contextMenu(`Branch main, default, ${branch}`, 'More', 'Create Compute…');
    await ui().quickInput.choose('Select the type', 'Read replica');
    await ui().quickInput.choose('Select a fixed size', '0.25 CU');
    await ui().quickInput.accept('Suspend after inactivity');
    const label = await ui().computes.waitFor(/^Compute read replica, init, 0\.25 CU, on \S+, ep-\S+$/);
    const createdId = label.slice(label.lastIndexOf(' ') + 1);
    const created = `the read replica ${createdId} of main (shop)`;
    const item = await ui().statusBar.waitFor(/^[12] operations?\n/);
    assert.equal(item.spinning, true);
    assert.ok(item.label.includes(`pending. Creating ${created}`), item.label);
    await ui().statusBar.click(/^\d operation/);
    const { items } = await ui().quickInput.waitFor('Select an operation');
    assert.match(items.join(), /Creating the read replica ep-\S+ of main \(shop\) \w+: \w+/);
    await ui().quickInput.cancel('Select an operation');
    await ui().statusBar.waitFor(`Created ${created}`);
    await ui().statusBar.waitUntilGone(/^\d operation/);
    await ui().computes.waitFor(`Compute read replica, active, 0.25 CU, on main, ${createdId}`);
    const added = (await computesOf(shop)).filter(({ id }) => !before.has(id));
    assert.deepEqual(
      added.map(({ id, type, current_state: state }) => [id, type, state]),
      [[createdId, 'read_only', 'active']],
    );
  });

  it('shows the error of the service if another client was faster, and creates nothing', async () => {
    await ui().computes.expandProject('playground');
    await ui().computes.contextMenu(`Branch ideas, ${branchWithoutPrimary}`, 'More', 'Create Compute…');
    await ui().quickInput.choose('Select the type', 'Primary');
    const first = await service().client.createCompute(playground, {
      branch_id: branchWithoutPrimary,
      type: 'read_write',
    });
    await ui().quickInput.choose('Select a fixed size', '0.25 CU');
    await ui().quickInput.accept('Suspend after inactivity');
    const notification = await ui().notifications.waitFor(/^Couldn't create the compute: /);
    assert.equal(notification.severity, 'error');
    assert.match(notification.message, /primary|read_write/);
    await ui().notifications.clear();
    const primaries = (await computesOf(playground)).filter(
      (compute) => compute.branch_id === branchWithoutPrimary && compute.type === 'read_write',
    );
    assert.deepEqual(
      primaries.map(({ id }) => id),
      [first.compute?.id],
    );
  });
});
