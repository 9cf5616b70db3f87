import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { Session } from '../../../../src/extension/account/session.ts';
import type { InventoryState } from '../../../../src/extension/inventory/inventory.ts';
import { connectScripted, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { scriptService, type ScriptedService } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

const project = (id: string) => ({ id, name: id });

describe('Session', () => {
  let other: ScriptedService;
  let store: ScriptedModel;

  beforeEach(async () => {
    store = await connectScripted(() => ({ projects: [project('shop')], endpoints: [] }));
    other = await scriptService(() => ({ projects: [project('other')] }));
  });

  const becomes = (kind: InventoryState['kind']) =>
    until(`the session to be ${kind}`, async () => store.inventory.state.kind === kind);

  it('sends no request until the projects are shown', () => {
    assert.equal(store.inventory.state.kind, 'loading');
    assert.deepEqual(store.service.requests, []);
  });

  it('is ready with projects and empty without any', async () => {
    await store.inventory.projects?.load();
    assert.equal(store.inventory.state.kind, 'ready');
    store.service.script = () => ({ projects: [] });
    await store.inventory.refreshAll([]);
    assert.equal(store.inventory.state.kind, 'empty');
  });

  it('is signed out when any window removes the account', async () => {
    await store.inventory.loadComputes('shop');
    let event: string | undefined;
    store.inventory.onDidChange((changes) => (event = changes.at(-1)?.kind));
    await store.accounts.remove(store.account);
    await becomes('signedOut');
    assert.deepEqual(
      [event, store.inventory.projects, store.inventory.computesOf('shop')],
      ['all', undefined, undefined],
    );
  });

  it('has failed when nothing loads, keeps the key, and recovers with the next refresh', async () => {
    store.service.script = () => 401;
    await store.inventory.ensureProjects();
    assert.equal(store.inventory.state.kind, 'failed');
    assert.equal(await store.accounts.key(store.account), 'key');
    store.service.script = () => ({ projects: [project('shop')] });
    await store.inventory.refreshAll([]);
    assert.equal(store.inventory.state.kind, 'ready');
  });

  it('opens a new connection for another key of the account, not for the same key', async () => {
    const before = store.session.connection;
    await store.accounts.add(store.account, 'key');
    await store.session.reread();
    assert.equal(store.session.connection, before);
    await store.accounts.add(store.account, 'new-key');
    await until('another connection', async () => store.session.connection !== before);
    assert.equal(before?.isClosed, true);
  });

  it('is loading until the secret store has been read', async () => {
    const session = new Session(store.accounts, () => assert.fail('not used'));
    assert.equal(session.current.kind, 'loading');
    await session.start();
    assert.equal(session.current.kind, 'connected');
    session.dispose();
  });

  it('closes its connection when it is disposed, and opens no other', async () => {
    const { connection } = store.session;
    store.session.dispose();
    assert.equal(connection?.isClosed, true);
    await store.accounts.add(store.account, 'new-key');
    await store.session.whenRead();
    assert.equal(store.session.connection, connection);
  });

  it('waits for the last read of the secret store, also in earlier callers', async () => {
    const early = store.session.reread();
    const gate = Promise.withResolvers<void>();
    const get = store.secrets.get.bind(store.secrets);
    store.secrets.get = async (entry) => {
      if (entry === 'hostedPostgres.accounts') await gate.promise;
      return await get(entry);
    };
    const late = store.session.reread();
    const first = await Promise.race([early.then(() => 'early'), turn('neither')]);
    assert.equal(first, 'neither');
    gate.resolve();
    await Promise.all([early, late]);
  });

  it('drops late replies to the previous account', async () => {
    const late = Promise.withResolvers<unknown>();
    store.service.script = () => late.promise;
    const looking = store.inventory.ensureProjects();
    await until('the request', async () => store.service.requests.length > 0);
    await store.accounts.add({ baseUrl: other.baseUrl, name: '' }, 'other-key');
    await until('the other account', async () => store.session.connection?.account.baseUrl === other.baseUrl);
    await store.inventory.ensureProjects();
    late.resolve({ projects: [project('late')] });
    await looking;
    assert.deepEqual([...(store.inventory.projects?.entries.keys() ?? [])], ['other']);
    assert.equal(store.inventory.state.kind, 'ready');
  });

  it('is signed out while the account has no key', async () => {
    await store.secrets.delete(`hostedPostgres.apiKey:${store.account.baseUrl}`);
    await becomes('signedOut');
    await store.accounts.add(store.account, 'key');
    await becomes('loading');
  });

  it('opens a new connection when the id of the key becomes known', async () => {
    const before = store.session.connection;
    await store.accounts.replaceKey(store.account, { id: 7, key: 'key', name: 'laptop' });
    await until('the id', async () => store.session.connection?.account.keyId === 7);
    assert.equal(before?.isClosed, true);
  });

  it('reports being signed out once', async () => {
    const events: string[] = [];
    store.session.onDidChange(({ kind }) => events.push(kind));
    await store.accounts.choose(undefined);
    await store.session.reread();
    await store.session.reread();
    assert.deepEqual(events, ['signedOut']);
  });

  it('closes only the current connection when its service has ended', async () => {
    const { connection } = store.session;
    assert.ok(connection !== undefined);
    await store.accounts.add(store.account, 'new-key');
    await until('another connection', async () => store.session.connection !== connection);
    store.session.fail(connection, new Error('ended'));
    const current = store.session.connection;
    assert.ok(current !== undefined);
    store.session.fail(current, new Error('ended'));
    assert.equal(current.isClosed, true);
    assert.equal(store.inventory.state.kind, 'failed');
  });

  it('drops the result of a read of the secret store if a later read has started', async () => {
    const gate = Promise.withResolvers<void>();
    const get = store.secrets.get.bind(store.secrets);
    store.secrets.get = async () => {
      await gate.promise;
      throw new Error('late');
    };
    const early = store.session.reread();
    store.secrets.get = get;
    const late = store.session.reread();
    gate.resolve();
    await Promise.all([early, late]);
    assert.equal(store.session.current.kind, 'connected');
  });

  it('has failed without a connection when the secret store fails, and recovers', async () => {
    store.secrets.isLocked = true;
    await store.session.reread();
    assert.equal(store.inventory.state.kind, 'failed');
    assert.equal(store.session.connection, undefined);
    store.secrets.isLocked = false;
    await store.session.reread();
    assert.equal(store.inventory.state.kind, 'loading');
  });
});
