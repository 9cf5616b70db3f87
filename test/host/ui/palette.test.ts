import assert from 'node:assert/strict';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { dashboards, shop, shopAccount } from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('Commands from the palette', () => {
  const opened = useWorkbench();
  const computes = () => opened().workbench.tree('Computes');
  let service: LocalService;

  before(async () => {
    service = await startLocalService({ postgres: false, args: shopAccount(temporaryFolder()) });
    await connect(opened().workbench, service);
    await computes().expandProject('shop');
  });
  after(() => service.stop());

  /** Waits for the computes of all projects. */
  const offered = () => opened().workbench.quickInput.waitForItems('Select a compute', 4);
  const idOf = (computeId: string) =>
    until(`the id of ${computeId}`, async () => (await opened().workbench.readClipboard()) === computeId);

  it('offer the compute that was used last if none is selected', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Copy Id');
    await workbench.quickInput.choose('Select a compute', dashboards);
    await idOf(dashboards);
    await workbench.runCommand('Hosted Postgres: Copy Host');
    const [first] = await offered();
    assert.match(first ?? '', /^ep-silent-river-000004 dashboards /);
    await workbench.quickInput.cancel('Select a compute');
  });

  it('offer the selected compute first, and take it with Enter', async () => {
    const { workbench } = opened();
    await computes().click(/^Compute reports,/);
    await workbench.runCommand('Hosted Postgres: Copy Id');
    const [first] = await offered();
    assert.match(first ?? '', /^ep-steep-forest-000002 reports /);
    await workbench.quickInput.accept('Select a compute');
    await idOf('ep-steep-forest-000002');
  });

  it('offer the computes of the selected branch first', async () => {
    const { workbench } = opened();
    await computes().click(/^Branch br-sweet-breeze-000002/);
    await workbench.runCommand('Hosted Postgres: Copy Host');
    const [first] = await offered();
    assert.match(first ?? '', /^ep-purple-water-000003 /);
    await workbench.quickInput.cancel('Select a compute');
  });

  it('ask a last time before a compute is deleted', async () => {
    const { workbench } = opened();
    await computes().click(/^Compute reports,/);
    await workbench.runCommand('Hosted Postgres: Delete Compute');
    await offered();
    await workbench.quickInput.accept('Select a compute');
    const { message, detail } = await workbench.dialog.read();
    assert.equal(message, 'Delete reports?');
    assert.match(detail, /The data stays on branch br-aged-salad-000001 \(main\)\./);
    await workbench.dialog.press('Cancel');
    assert.equal((await service.client.listComputes(shop)).items.length, 3);
  });
});
