import assert from 'node:assert/strict';
import { ComputeIndex } from '../../../../src/extension/connection/computeIndex.ts';
import { connectModel, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../../helpers/localService.ts';
import {
  analytics,
  dashboards,
  emptyBranch,
  primary,
  reports,
  rewrite,
  shop,
  shopAccount,
} from '../../../helpers/shopAccount.ts';

describe('ComputeIndex', () => {
  let service: LocalService;
  let connected: ConnectedModel;
  let index: ComputeIndex;
  const host = (id: string) => connected.inventory.compute(shop, id)?.host ?? '';
  const found = (text: string) => {
    const [name = '', port] = text.split(':');
    return index.find({ host: name, port })?.compute.id;
  };
  const ids = (typed: string, maxMatches = 10) =>
    index.search(typed, maxMatches).hosts.map(({ compute }) => compute.id);

  before(async () => {
    service = await startLocalService({ postgres: false, args: shopAccount(temporaryFolder()) });
  });
  beforeEach(async () => {
    connected = await connectModel(service, { key: service.key });
    await connected.inventory.projects?.loadFirstPage();
    await connected.inventory.loadComputes(shop);
    index = new ComputeIndex(connected.inventory);
  });
  afterEach(() => index.dispose());

  it('finds computes that were loaded before it, by id and by host', () => {
    assert.equal(found(primary), primary);
    assert.equal(found(host(primary)), primary);
    assert.equal(found(host(primary).replace('127.0.0.1', 'localhost')), primary);
    assert.equal(found('127.0.0.1:1'), undefined);
    assert.equal(found('ep-nobody-knows-1'), undefined);
  });

  it('finds a compute by its id as the first label of a host, pooled or not', () => {
    assert.equal(found(`${primary}.eu-central-1.example.com`), primary);
    assert.equal(found(`${primary}-pooler.eu-central-1.example.com`), primary);
  });

  it('shows which host is pooled, and whether the port belongs to it', () => {
    const [name = '', port] = host(primary).split(':');
    const match = index.find({ host: name, port });
    assert.equal(match?.isPooled, false);
    assert.equal(match?.withPort, true);
    assert.equal(index.find({ host: primary, port: '1' })?.withPort, false);
  });

  it('ignores changes of the inventory when disposed', async () => {
    index.dispose();
    await connected.inventory.loadComputes(analytics);
    assert.equal(found(dashboards), undefined);
  });

  it('adds computes when they are loaded', async () => {
    assert.equal(found(dashboards), undefined);
    await connected.inventory.loadComputes(analytics);
    assert.equal(found(dashboards), dashboards);
    assert.equal(found(primary), primary);
  });

  it('updates changed computes, and has the pooled host as soon as there is one', async () => {
    assert.equal(index.search(host(reports), 5).hosts.length, 1);
    await service.client.updateCompute(shop, reports, { pooler_enabled: true, name: 'front-door' });
    await connected.inventory.refreshComputes(shop);
    const pooled = connected.inventory.compute(shop, reports)?.pooler_host ?? '';
    const [name = '', port] = pooled.split(':');
    assert.equal(index.find({ host: name, port })?.isPooled, true);
    assert.deepEqual(ids('front-door'), [reports, reports]);
    await service.client.updateCompute(shop, reports, { pooler_enabled: false, name: 'reports' });
    await connected.inventory.refreshComputes(shop);
    assert.equal(found(pooled), undefined);
    assert.equal(found(reports), reports);
  });

  it('removes deleted computes', async () => {
    const { compute } = await service.client.createCompute(shop, {
      branch_id: emptyBranch,
      type: 'read_write',
    });
    assert.ok(compute);
    await connected.inventory.refreshComputes(shop);
    assert.equal(found(compute.host), compute.id);
    await service.client.deleteCompute(shop, compute.id);
    await connected.inventory.refreshComputes(shop);
    assert.equal(found(compute.host), undefined);
    assert.equal(found(compute.id), undefined);
    assert.deepEqual(ids(compute.id), []);
  });

  it('finds the compute of the list that was loaded last, because ports are used again', async () => {
    const address = host(primary);
    const [name = '', port = ''] = address.split(':');
    const [other] = connected.inventory.computesOf(analytics)?.computes.values() ?? [];
    assert.equal(other, undefined);
    await connected.inventory.loadComputes(analytics);
    const [moved] = connected.inventory.computesOf(analytics)?.computes.values() ?? [];
    assert.ok(moved);
    connected.inventory.put({ ...moved, host: address });
    assert.equal(index.find({ host: name, port })?.compute.id, moved.id);
  });

  it('is empty after signing out', async () => {
    await connected.accounts.choose(undefined);
    await connected.session.reread();
    assert.equal(found(primary), undefined);
    assert.deepEqual(ids(''), []);
  });

  it('searches name, id, branch and project, ignoring case', () => {
    assert.deepEqual(ids('REPORTS'), [reports]);
    assert.deepEqual(ids('purple'), [rewrite]);
    assert.deepEqual(ids('br-sweet'), [rewrite]);
    assert.deepEqual(ids('shop').toSorted(), [primary, primary, rewrite, reports].toSorted());
    assert.deepEqual(ids('nothing of the kind'), []);
  });

  it('returns computes whose host starts with the text before others', async () => {
    await service.client.updateCompute(shop, reports, { name: host(rewrite) });
    await connected.inventory.refreshComputes(shop);
    assert.deepEqual(ids(host(rewrite)), [rewrite, reports]);
    assert.deepEqual(ids(host(rewrite), 1), [rewrite]);
    await service.client.updateCompute(shop, reports, { name: 'reports' });
  });

  it('limits the matches and reports that there are more', () => {
    assert.equal(index.search('', 2).hosts.length, 2);
    assert.equal(index.search('', 2).hasMore, true);
    assert.equal(index.search('', 4).hasMore, false);
  });

  it('reports matches in another project if those of the first reach the limit', async () => {
    await connected.inventory.loadComputes(analytics);
    assert.equal(index.search('', 4).hosts.length, 4);
    assert.equal(index.search('', 4).hasMore, true);
  });
});
