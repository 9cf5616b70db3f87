import assert from 'node:assert/strict';
import pg from 'pg';
import { connectionUri } from '../../helpers/connectionUri.ts';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const shop = 'shiny-wind-028834';
const compute = 'ep-purple-water-204912';

describe('Start Compute and Suspend Compute', () => {
  const opened = useWorkbench();
  let service: LocalService;
  let proxy: FaultProxy;
  let client: pg.Client | undefined;
  const computes = () => opened().workbench.tree('Computes');
  const row = (state: string) => new RegExp(`^Compute ${compute}, ${state},`);

  before(async () => {
    service = await startLocalService();
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
    await connect(opened().workbench, { baseUrl: proxy.baseUrl, key: service.key });
    await computes().expandProject('shop');
  });
  after(async () => {
    await client?.end().catch(() => undefined);
    await proxy.stop();
    await service.stop();
  });

  it('starts a compute from its row', async () => {
    const { statusBar } = opened().workbench;
    await computes().inlineAction(row('idle'), 'Start Compute');
    await statusBar.waitFor(`Started ${compute}`);
    await computes().waitFor(row('active'));
  });

  it('says how many connections a suspension drops', async () => {
    const { dialog, statusBar } = opened().workbench;
    const where = { branchId: 'br-sweet-breeze-497520', computeId: compute, pooled: false };
    const { host = '' } = (await service.client.findCompute(shop, compute)) ?? {};
    const query = { ...where, host, role: 'app_owner', database: 'app' };
    client = new pg.Client({ connectionString: await connectionUri(service.client, shop, query) });
    client.on('error', () => undefined);
    await client.connect();
    await computes().inlineAction(row('active'), 'Suspend Compute');
    const { message, detail } = await dialog.read();
    assert.equal(message, `Suspend ${compute}?`);
    assert.match(detail, /^1 open connection is dropped\. .*starts again when a client connects/);
    await dialog.press('Suspend');
    await statusBar.waitFor(`Suspended ${compute}`);
    await computes().waitFor(row('idle'));
  });

  it('suspends without a question if no connection is open', async () => {
    await service.client.startCompute(shop, compute);
    await until('the connections to end', async () => {
      const found = await service.client.findCompute(shop, compute);
      return found?.connections === 0 && found.current_state === 'active' && !found.pending_state;
    });
    await computes().inlineAction(row('active'), 'Suspend Compute');
    await opened().workbench.statusBar.waitFor(`Suspended ${compute}`);
  });

  it('hides the actions if the service does not offer them', async () => {
    const { notifications, quickInput } = opened().workbench;
    proxy.inject('methodNotAllowed', { path: /\/(start|suspend)$/, times: Number.POSITIVE_INFINITY });
    await computes().inlineAction(row('idle'), 'Start Compute');
    const { message } = await notifications.waitFor(`Couldn't start ${compute}`);
    assert.match(message, /This service can't start or suspend computes on request/);
    await notifications.clear();
    assert.ok(!(await computes().contextMenuItems(row('idle'))).includes('Start Compute'));
    await opened().workbench.page.keyboard.press('F1');
    await quickInput.type(/./, '>Hosted Postgres: Start');
    const shown = async () => (await quickInput.read())?.items ?? [];
    await until('the palette', async () => (await shown()).includes('Hosted Postgres: Start Local Service'));
    assert.ok(!(await shown()).includes('Hosted Postgres: Start Compute'));
    await quickInput.cancel(/./);
  });
});
