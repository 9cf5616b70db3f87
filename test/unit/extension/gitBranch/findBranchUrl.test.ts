import assert from 'node:assert/strict';
import { accountId } from '../../../../src/extension/account/accounts.ts';
import { findBranchUrl, type FoundBranchUrl } from '../../../../src/extension/gitBranch/findBranchUrl.ts';
import { KnownHosts } from '../../../../src/extension/gitBranch/knownHosts.ts';
import { connectModel, MemoryMap, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, scriptService, type ScriptedService } from '../../../helpers/scriptedService.ts';

const before = 'postgres://me:old@ep-main.example.test/my%20shop?schema=app';

describe('findBranchUrl', () => {
  let service: ScriptedService;
  let model: ConnectedModel;
  let knownHosts: KnownHosts;
  let branches: unknown;
  let endpoints: unknown;
  let credentials: unknown;
  const find = (
    value = before,
    account = accountId(model.account),
    name = 'DATABASE_URL',
  ): Promise<FoundBranchUrl> => {
    const target = { account, projectId: 'shop', branchId: 'br-dev' };
    return findBranchUrl({ ...model, knownHosts }, target, { name, value });
  };

  beforeEach(async () => {
    const computes = [
      computeRecord('ep-main'),
      computeRecord('ep-replica', { branch_id: 'br-dev', type: 'read_only' }),
      computeRecord('ep-dev', { branch_id: 'br-dev' }),
    ];
    branches = {
      branches: [
        { id: 'br-main', name: 'main' },
        { id: 'br-dev', name: 'dev' },
      ],
    };
    endpoints = { endpoints: computes };
    credentials = { uri: 'postgresql://me:n%40w@ep-dev.example.test/my%20shop' };
    service = await scriptService((call) => {
      if (call.endsWith('/branches')) return branches;
      if (call.endsWith('/endpoints')) return endpoints;
      return call.endsWith('/connection_uri') ? credentials : { projects: [] };
    });
    model = await connectModel(service);
    knownHosts = new KnownHosts(new MemoryMap());
  });

  it('returns the URL of the primary with the rest of the old one, and remembers its host', async () => {
    await knownHosts.remember(model.inventory, accountId(model.account), [computeRecord('ep-main')]);
    const value = 'postgres://me:n%40w@ep-dev.example.test/my%20shop?schema=app';
    assert.deepEqual(await find(), { value });
    assert.equal(knownHosts.get('ep-dev.example.test')?.branchName, 'dev');
  });

  it('has the parameters for TLS that the service requires, not those of another server', async () => {
    for (const host of ['192.168.1.5', 'db.lan', 'db', 'db.example.com', 'localhost']) {
      const { value } = await find(`postgres://me:old@${host}/my%20shop?sslmode=disable&schema=app`);
      assert.equal(value, 'postgres://me:n%40w@ep-dev.example.test/my%20shop?sslmode=require&schema=app');
    }
  });

  it('stays with the pooled host', async () => {
    const [main] = [computeRecord('ep-main')];
    await knownHosts.remember(model.inventory, accountId(model.account), [main]);
    credentials = { uri: 'postgresql://me:x@ep-dev-pooler.example.test/my%20shop' };
    const found = await find('postgres://me:old@ep-main-pooler.example.test/my%20shop');
    assert.equal(found.value, 'postgres://me:x@ep-dev-pooler.example.test/my%20shop');
  });

  it('brings the parameters for TLS back from a branch on this machine', async () => {
    const hosted =
      'postgres://me:n%40w@ep-dev.example.test/my%20shop?sslmode=verify-full&sslrootcert=system&sslnegotiation=direct&schema=app';
    const local = 'postgres://me:n%40w@127.0.0.1:5000/my%20shop?schema=app';
    endpoints = { endpoints: [computeRecord('ep-dev', { branch_id: 'br-dev', host: '127.0.0.1:5000' })] };
    credentials = { uri: 'postgresql://me:n%40w@127.0.0.1:5000/my%20shop' };
    const dev = computeRecord('ep-dev', { branch_id: 'br-dev' });
    await knownHosts.remember(model.inventory, accountId(model.account), [dev]);
    assert.deepEqual(await find(hosted), { value: local });
    endpoints = { endpoints: [computeRecord('ep-dev', { branch_id: 'br-dev' })] };
    credentials = { uri: 'postgresql://me:n%40w@ep-dev.example.test/my%20shop?sslmode=require' };
    await model.inventory.refreshComputes('shop');
    assert.deepEqual(await find(local), { value: hosted });
    const other = local.replace('//me:', '//you:');
    assert.match((await find(other)).value ?? '', /\?sslmode=require&schema=app$/);
  });

  it('has the channel binding that the service requires', async () => {
    credentials = {
      uri: 'postgresql://me:x@ep-dev.example.test/my%20shop?sslmode=require&channel_binding=require',
    };
    const { value } = await find('postgres://me:old@127.0.0.1:5000/my%20shop');
    assert.equal(
      value,
      'postgres://me:x@ep-dev.example.test/my%20shop?sslmode=require&channel_binding=require',
    );
  });

  it('loads the lists again for a newer branch', async () => {
    const all = endpoints;
    endpoints = { endpoints: [] };
    assert.equal((await find()).problem, 'noCompute');
    endpoints = all;
    assert.equal((await find()).problem, undefined);
  });

  it("doesn't call a branch deleted because an old list lacks it", async () => {
    const all = branches;
    branches = { branches: [{ id: 'br-main', name: 'main' }] };
    await model.inventory.branches.refresh('shop');
    endpoints = { endpoints: [] };
    branches = 500;
    assert.equal((await find()).problem, 'noCompute');
    branches = all;
    assert.equal((await find()).problem, 'noCompute');
  });

  const problems: readonly (readonly [what: string, change: () => void, problem: string])[] = [
    ['a branch that is gone', () => (branches = { branches: [{ id: 'br-main', name: 'main' }] }), 'deleted'],
    ['a service without passwords', () => (credentials = 405), 'noPassword'],
    ['a role that the branch does not have', () => (credentials = 404), 'noPassword'],
    ['a service that rejects the request', () => (credentials = 400), 'noPassword'],
    ['a service that fails', () => (credentials = 503), 'offline'],
    ['a project that is gone', () => (endpoints = 404), 'deleted'],
    ['a closed connection', () => model.session.connection?.close(), 'offline'],
  ];
  for (const [what, change, problem] of problems)
    it(`reports ${what} as ${problem}`, async () => {
      change();
      if (problem === 'deleted') endpoints = endpoints === 404 ? 404 : { endpoints: [] };
      assert.deepEqual(await find(), { problem });
    });

  it('asks for no password if the old value is no URL', async () => {
    assert.deepEqual(await find('shop'), { problem: 'noPassword' });
    assert.ok(!service.requests.some((call) => call.endsWith('/connection_uri')));
  });

  it('sends nothing to another account', async () => {
    const { length } = service.requests;
    assert.deepEqual(await find(before, 'local'), { problem: 'offline' });
    assert.equal(service.requests.length, length);
  });
});
