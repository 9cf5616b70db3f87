import assert from 'node:assert/strict';
import { Client } from '../../../src/api/client.ts';
import { Accounts, type Account } from '../../../src/model/accounts.ts';
import { Session } from '../../../src/model/session.ts';
import { rotateKey, type Rotation, type RotationOutcome } from '../../../src/model/keyRotation.ts';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { SecretMap } from '../../helpers/secretMap.ts';

describe('rotating an API key', () => {
  let service: LocalService;
  let proxy: FaultProxy;
  let secrets: SecretMap;
  let accounts: Accounts;
  let account: Account;
  let oldKeyId: number;

  before(async () => {
    service = await startLocalService({ postgres: false });
  });
  after(() => service.stop());

  beforeEach(async () => {
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
    secrets = new SecretMap();
    accounts = new Accounts(secrets);
    account = { baseUrl: proxy.baseUrl, name: '' };
    const old = await service.client.createApiKey('laptop');
    oldKeyId = old.id;
    await accounts.add(account, old.key);
  });
  afterEach(() => proxy.stop());

  const openClient = async ({ baseUrl }: Account, key: string) =>
    new Client({ baseUrl, key, fetch: globalThis.fetch, retries: 0 });
  const seen: string[] = [];
  const rotate = (more: Partial<Rotation> = {}): Promise<RotationOutcome> =>
    rotateKey(
      { accounts, openClient, onSecret: (value) => seen.push(value) },
      { account, name: 'laptop 2', oldKeyId, organizationId: undefined, ...more },
    );
  const storedKey = async () => (await accounts.key(account)) ?? '';
  const storedKeyWorks = async () => {
    const client = new Client({ baseUrl: service.baseUrl, key: await storedKey(), fetch: globalThis.fetch });
    return (await client.projectPages().next()).done === false;
  };
  /** Ids of this test's keys that are still valid, by name. */
  const existing = async () =>
    (await service.client.listApiKeys()).items
      .filter(({ id, name }) => id >= oldKeyId && name.startsWith('laptop'))
      .map(({ id, name }) => ({ id, name }));

  it('puts a new key in the place of the old one and revokes that', async () => {
    const before = await storedKey();
    const outcome = await rotate();
    assert.ok(outcome.kind === 'rotated');
    assert.deepEqual(await existing(), [outcome.newKey]);
    assert.notEqual(await storedKey(), before);
    assert.ok(await storedKeyWorks());
    assert.equal((await accounts.list()).current?.keyId, outcome.newKey.id);
    assert.equal(seen.at(-1), await storedKey());
  });

  it('does it in this order: create, prove, store, revoke', async () => {
    const steps: string[] = [];
    secrets.onDidChange((entry) => steps.push(entry.includes('apiKey:') ? 'store' : 'list of accounts'));
    await rotate();
    const calls = proxy.requests.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(calls, [
      'GET /api_keys',
      'POST /api_keys',
      'GET /projects',
      `DELETE /api_keys/${oldKeyId}`,
    ]);
    assert.deepEqual(steps, ['store', 'list of accounts']);
  });

  it('keeps the old key valid where it is not known which one it is', async () => {
    const outcome = await rotate({ oldKeyId: undefined });
    assert.equal(outcome.kind, 'rotated');
    assert.equal((await existing()).length, 2);
  });

  it('reaches the other windows, which go on with the new key', async () => {
    const session = new Session(new Accounts(secrets), openClient);
    await session.start();
    const before = session.connection;
    await rotate();
    const replaced = new Promise<void>((resolve) => {
      if (session.connection?.account.keyId !== undefined) resolve();
      session.onDidChange(({ connection }) => connection?.account.keyId !== undefined && resolve());
    });
    await replaced;
    assert.notEqual(session.connection, before);
    assert.ok(session.connection?.hasKey(await storedKey()));
    session.dispose();
  });

  describe('when something fails', () => {
    let before: string;
    beforeEach(async () => {
      before = await storedKey();
    });
    afterEach(async () => assert.ok(await storedKeyWorks(), 'the stored key works'));

    it('stays as it was when no key could be created', async () => {
      proxy.inject('internalError', { method: 'POST' });
      const outcome = await rotate();
      assert.ok(outcome.kind === 'create');
      assert.equal(await storedKey(), before);
      assert.deepEqual(await existing(), [{ id: oldKeyId, name: 'laptop' }]);
    });

    it('revokes a key that was created although the answer was lost', async () => {
      proxy.inject('resetAfter', { method: 'POST' });
      const outcome = await rotate();
      assert.ok(outcome.kind === 'create');
      assert.equal(outcome.left, undefined);
      assert.deepEqual(await existing(), [{ id: oldKeyId, name: 'laptop' }]);
    });

    it('says that a key may exist when the answer was lost and nothing can be found out', async () => {
      proxy.inject('resetAfter', { method: 'POST' });
      proxy.inject('internalError', { method: 'GET', path: /api_keys$/, nth: 2 });
      const outcome = await rotate();
      assert.ok(outcome.kind === 'create');
      assert.deepEqual(outcome.left, { id: undefined, name: 'laptop 2' });
      assert.equal(await storedKey(), before);
    });

    it('revokes a new key that does not work', async () => {
      proxy.inject('internalError', { method: 'GET', path: /projects$/ });
      const outcome = await rotate();
      assert.ok(outcome.kind === 'prove');
      assert.equal(outcome.left, undefined);
      assert.equal(await storedKey(), before);
      assert.deepEqual(await existing(), [{ id: oldKeyId, name: 'laptop' }]);
    });

    it('tells of a new key that neither works nor could be revoked', async () => {
      proxy.inject('internalError', { method: 'GET', path: /projects$/ });
      proxy.inject('internalError', { method: 'DELETE' });
      const outcome = await rotate();
      assert.ok(outcome.kind === 'prove');
      assert.deepEqual((await existing()).at(-1), outcome.left);
      assert.equal(await storedKey(), before);
    });

    it('goes on with the old key when the new one could not be stored', async () => {
      const add = accounts.add.bind(accounts);
      accounts.add = async (to, key) => {
        if (key !== before) throw new Error('no room');
        await add(to, key);
      };
      const outcome = await rotate();
      assert.ok(outcome.kind === 'store');
      assert.equal(outcome.left, undefined);
      assert.equal(await storedKey(), before);
      assert.deepEqual(await existing(), [{ id: oldKeyId, name: 'laptop' }]);
    });

    it('puts the old key back when the new one was stored by half', async () => {
      const add = accounts.add.bind(accounts);
      accounts.add = async (to, key) => {
        await add(to, key);
        if (key !== before) throw new Error('the list was not written');
      };
      const outcome = await rotate();
      assert.ok(outcome.kind === 'store');
      assert.equal(await storedKey(), before);
      assert.deepEqual(await existing(), [{ id: oldKeyId, name: 'laptop' }]);
    });

    it('leaves both keys valid while the secret store tells nothing', async () => {
      const add = accounts.add.bind(accounts);
      accounts.add = async (to, key) => {
        await add(to, key);
        secrets.isLocked = true;
        throw new Error('locked');
      };
      const outcome = await rotate();
      secrets.isLocked = false;
      assert.ok(outcome.kind === 'store');
      assert.deepEqual((await existing()).at(-1), outcome.left);
      assert.equal((await existing()).length, 2);
    });

    it('uses the new key when the old one could not be revoked, and tells so', async () => {
      proxy.inject('internalError', { method: 'DELETE' });
      const outcome = await rotate();
      assert.ok(outcome.kind === 'revoke');
      assert.notEqual(await storedKey(), before);
      assert.deepEqual(await existing(), [{ id: oldKeyId, name: 'laptop' }, outcome.newKey]);
    });

    it('finds out that the old key was revoked although the answer was lost', async () => {
      proxy.inject('resetAfter', { method: 'DELETE' });
      const outcome = await rotate();
      assert.ok(outcome.kind === 'rotated');
      assert.deepEqual(await existing(), [outcome.newKey]);
    });

    it('creates nothing where the keys may not be seen', async () => {
      proxy.inject('forbiddenPage', { method: 'GET', path: /api_keys$/ });
      await assert.rejects(rotate());
      assert.deepEqual(await existing(), [{ id: oldKeyId, name: 'laptop' }]);
    });
  });
});
