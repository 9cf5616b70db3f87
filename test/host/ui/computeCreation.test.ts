import assert from 'node:assert/strict';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { emptyBranch, mainBranch, rewriteBranch, shop, shopAccount } from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('Create Compute…', () => {
  const opened = useWorkbench();
  const quickInput = () => opened().workbench.quickInput;
  let service: LocalService;

  before(async () => {
    const args = shopAccount(temporaryFolder());
    service = await startLocalService({ postgres: false, args });
    await connect(opened().workbench, service);
    await opened().workbench.tree('Computes').expandProject('shop');
  });
  after(() => service.stop());

  const create = () => opened().workbench.runCommand('Hosted Postgres: Create Compute…');
  const titleOf = async (prompt: string) => (await quickInput().waitFor(prompt)).title;
  const itemsOf = async (prompt: string) =>
    until(`items of ${prompt}`, async () => {
      const { items } = await quickInput().waitFor(prompt);
      return items.length > 0 && items;
    });
  const computesOn = async (branch: string) =>
    (await service.client.listComputes(shop)).items.filter(({ branch_id }) => branch_id === branch);

  it('asks for project, branch, type, size and autosuspend, and creates the compute', async () => {
    await create();
    assert.match(await titleOf('Select a project'), /1\/5/);
    await quickInput().choose('Select a project', 'shop');
    assert.match(await titleOf('Select a branch'), /2\/5/);
    await quickInput().answer('Select a branch', emptyBranch);
    assert.match(await titleOf('Select the type'), /3\/5/);
    await quickInput().choose('Select the type', 'Primary');
    assert.match(await titleOf('Select a fixed size'), /4\/5/);
    await quickInput().choose('Select a fixed size', '2 CU');
    assert.match(await titleOf('Suspend'), /5\/5/);
    await quickInput().choose('Suspend', 'After 1 hour');
    const created = await until('the compute', async () => (await computesOn(emptyBranch))[0]);
    assert.deepEqual(
      [
        created.type,
        created.autoscaling_limit_min_cu,
        created.autoscaling_limit_max_cu,
        created.suspend_timeout_seconds,
      ],
      ['read_write', 2, 2, 3600],
    );
    await opened()
      .workbench.tree('Computes')
      .waitFor(new RegExp(`^Compute ${created.id}, active`));
    await opened()
      .workbench.tree('Computes')
      .waitUntilSelected(new RegExp(`^Compute ${created.id}`));
  });

  it('describes each size, and computes max_connections of a range from its minimum', async () => {
    await opened()
      .workbench.tree('Computes')
      .contextMenu(`Branch ${mainBranch}, main, default`, 'Create Compute…');
    await quickInput().choose('Select the type', 'Read replica');
    const sizes = await itemsOf('Select a fixed size');
    assert.ok(sizes.includes('0.25 CU 0.25 vCPU · 1 GB RAM · 0.8 GB file cache · max_connections 112'));
    await quickInput().choose('Select a fixed size', 'Autoscaling…');
    assert.match(await titleOf('Select the minimum'), /3\/5/);
    await quickInput().choose('Select the minimum', '1 CU');
    assert.match(await titleOf('Select the maximum'), /4\/5/);
    const maxima = await itemsOf('Select the maximum');
    assert.equal(maxima[0], '2 CU 2 vCPU · 8 GB RAM · 6.4 GB file cache · max_connections 450');
    await quickInput().choose('Select the maximum', '4 CU');
    await quickInput().answer('Suspend', '20 min');
    const created = await until('the replica', async () =>
      (await computesOn(mainBranch)).find(({ suspend_timeout_seconds }) => suspend_timeout_seconds === 1200),
    );
    assert.deepEqual(
      [created.type, created.autoscaling_limit_min_cu, created.autoscaling_limit_max_cu],
      ['read_only', 1, 4],
    );
    await opened()
      .workbench.tree('Computes')
      .waitFor(new RegExp(`^Compute ${created.id}, active`));
    await opened()
      .workbench.tree('Computes')
      .waitUntilSelected(new RegExp(`^Compute ${created.id}`));
  });

  it('offers no second primary and names the existing one', async () => {
    await opened()
      .workbench.tree('Computes')
      .contextMenu(`Branch ${rewriteBranch}, rewrite`, 'Create Compute…');
    const [first, second] = await itemsOf('Select the type');
    assert.match(first ?? '', /^Read replica/);
    assert.match(second ?? '', /^Primary not available: ep-purple-water-000003 is the primary/);
    await quickInput().type('Select the type', 'Primary');
    await opened().workbench.page.keyboard.press('Enter');
    assert.match(await titleOf('Select the type'), /1\/3/);
    await quickInput().cancel('Select the type');
    await quickInput().closed();
  });

  it('goes back through all steps', async () => {
    await opened().workbench.tree('Computes').click('Project shop');
    await create();
    await quickInput().choose('Select a branch', mainBranch);
    await quickInput().choose('Select the type', 'Read replica');
    await quickInput().choose('Select a fixed size', 'Autoscaling…');
    await quickInput().choose('Select the minimum', '2 CU');
    assert.match(await titleOf('Select the maximum'), /6\/7/);
    for (const prompt of [
      'Select the minimum',
      'Select a fixed size',
      'Select the type',
      'Select a branch',
      'Select a project',
    ]) {
      await quickInput().pressButton('Back');
      await quickInput().waitFor(prompt);
    }
    assert.match(await titleOf('Select a project'), /1\/5/);
    await quickInput().cancel('Select a project');
    await quickInput().closed();
  });
});
