import assert from 'node:assert/strict';
import { Accounts } from '../../../../src/model/account/accounts.ts';
import { resumeRotation, revokeLost } from '../../../../src/model/account/keyRotation.ts';
import { Session } from '../../../../src/model/account/session.ts';
import { startLocalService, type LocalService } from '../../../helpers/localService.ts';
import { RotatingAccount } from '../../../helpers/rotatingAccount.ts';

describe('rotateKey', () => {
  let service: LocalService;
  let key: RotatingAccount;

  before(async () => {
    service = await startLocalService({ postgres: false });
  });
  after(() => service.stop());
  beforeEach(async () => {
    key = await RotatingAccount.start(service);
  });
  afterEach(() => key.stop());

  it('replaces the old key with a new one and revokes it', async () => {
    const before = await key.storedKey();
    const outcome = await key.rotate();
    assert.ok(outcome.kind === 'rotated');
    assert.deepEqual(await key.existing(), [outcome.newKey]);
    assert.notEqual(await key.storedKey(), before);
    assert.ok(await key.storedKeyWorks());
    assert.equal((await key.accounts.list()).current?.keyId, outcome.newKey.id);
    assert.equal(key.seen.at(-1), await key.storedKey());
    assert.deepEqual(key.pending.accounts, []);
    assert.equal(await key.accounts.newKey(key.account), undefined);
  });

  it('creates, proves and stores the new key before it revokes the old one', async () => {
    const steps: string[] = [];
    key.secrets.onDidChange((entry) => steps.push(entry.replace(/^hostedPostgres\.|:.*/g, '')));
    await key.rotate();
    const calls = key.proxy.requests.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(calls, [
      'GET /api_keys',
      'POST /api_keys',
      'GET /projects',
      `DELETE /api_keys/${key.oldKey.id}`,
    ]);
    assert.deepEqual(steps, ['newApiKey', 'apiKey', 'accounts', 'newApiKey']);
  });

  it('keeps all keys valid if the old one is unknown', async () => {
    const outcome = await key.rotate({ oldKey: undefined });
    assert.equal(outcome.kind, 'rotated');
    assert.equal((await key.existing()).length, 2);
  });

  it('makes other windows use the new key', async () => {
    const session = new Session(new Accounts(key.secrets), key.openClient);
    await session.start();
    const before = session.connection;
    await key.rotate();
    const replaced = new Promise<void>((resolve) => {
      if (session.connection?.account.keyId !== undefined) resolve();
      session.onDidChange(({ connection }) => connection?.account.keyId !== undefined && resolve());
    });
    await replaced;
    assert.notEqual(session.connection, before);
    assert.ok(session.connection?.hasKey(await key.storedKey()));
    session.dispose();
  });

  describe('when the service fails', () => {
    let before: string;
    beforeEach(async () => {
      before = await key.storedKey();
    });
    afterEach(async () => assert.ok(await key.storedKeyWorks(), 'the stored key works'));

    it('changes nothing if no key can be created', async () => {
      key.proxy.inject('tooMany', { method: 'POST' });
      const outcome = await key.rotate();
      assert.ok(outcome.kind === 'unchanged' && outcome.step === 'create');
      assert.equal(await key.storedKey(), before);
      assert.deepEqual(await key.existing(), [key.oldKey]);
      assert.deepEqual(key.pending.accounts, []);
    });

    it('creates nothing when another key has the name', async () => {
      assert.deepEqual(await key.rotate({ name: 'laptop' }), { kind: 'taken' });
      assert.deepEqual(key.pending.accounts, []);
      assert.deepEqual(await key.existing(), [key.oldKey]);
    });

    it('finds a key whose creation lost its reply, and revokes it on demand', async () => {
      key.proxy.inject('resetAfter', { method: 'POST' });
      const outcome = await key.rotate();
      assert.ok(outcome.kind === 'lost');
      assert.deepEqual(await key.existing(), [key.oldKey, outcome.newKey]);
      const rotation = key.pending.of(key.account.baseUrl);
      assert.ok(rotation !== undefined);
      await revokeLost(key.parts, rotation, outcome.newKey.id);
      assert.deepEqual(await key.existing(), [key.oldKey]);
      assert.deepEqual(key.pending.accounts, []);
      assert.equal(await key.storedKey(), before);
    });

    it('revokes a lost key that is gone already, and no key without an account', async () => {
      key.proxy.inject('resetAfter', { method: 'POST' });
      const outcome = await key.rotate();
      assert.ok(outcome.kind === 'lost');
      const rotation = key.kept();
      await service.client.revokeApiKey(outcome.newKey.id);
      const accounts = { ...key.parts.accounts, list: async () => ({ accounts: [], current: undefined }) };
      const revoking = revokeLost({ ...key.parts, accounts }, rotation, outcome.newKey.id);
      await assert.rejects(revoking, /No API key is stored/);
      assert.deepEqual(key.kept(), rotation);
      await revokeLost(key.parts, rotation, outcome.newKey.id);
      assert.deepEqual(key.pending.accounts, []);
    });

    it('stays pending when the list fails after a reload', async () => {
      key.proxy.inject('resetAfter', { method: 'POST' });
      assert.equal((await key.rotate()).kind, 'lost');
      const openClient = async () => await Promise.reject(new Error('offline'));
      const outcome = await resumeRotation({ ...key.parts, openClient }, key.kept());
      assert.ok(outcome.kind === 'unfinished' && outcome.step === 'create');
      assert.deepEqual(outcome.newKey, { id: undefined, name: 'laptop 2' });
      assert.equal((await key.resume()).kind, 'lost');
    });

    it('stays pending when the reply was lost and there is no new key yet', async () => {
      key.proxy.inject('resetBeforeHeaders', { method: 'POST' });
      assert.equal((await key.rotate()).kind, 'absent');
      const late = await service.client.createApiKey('laptop 2');
      const outcome = await key.resume();
      assert.ok(outcome.kind === 'lost');
      assert.equal(outcome.newKey.id, late.id);
    });

    it('reports that a key may exist when the reply was lost and the list fails', async () => {
      key.proxy.inject('resetAfter', { method: 'POST' });
      key.proxy.inject('internalError', { method: 'GET', path: /api_keys$/, nth: 2 });
      const outcome = await key.rotate();
      assert.ok(outcome.kind === 'unfinished' && outcome.step === 'create');
      assert.deepEqual(outcome.newKey, { id: undefined, name: 'laptop 2' });
      assert.equal(await key.storedKey(), before);
      assert.equal((await key.resume()).kind, 'lost');
    });

    it('revokes a new key that does not work', async () => {
      key.proxy.inject('internalError', { method: 'GET', path: /projects$/ });
      const outcome = await key.rotate();
      assert.ok(outcome.kind === 'unchanged' && outcome.step === 'test');
      assert.equal(await key.storedKey(), before);
      assert.deepEqual(await key.existing(), [key.oldKey]);
      assert.deepEqual(key.pending.accounts, []);
    });

    it('names a new key that neither works nor can be revoked, and finishes on retry', async () => {
      key.proxy.inject('internalError', { method: 'GET', path: /projects$/ });
      key.proxy.inject('internalError', { method: 'DELETE' });
      const outcome = await key.rotate();
      assert.ok(outcome.kind === 'unfinished' && outcome.step === 'test');
      assert.deepEqual(await key.existing(), [key.oldKey, outcome.newKey]);
      assert.equal(await key.storedKey(), before);
      assert.equal((await key.resume()).kind, 'rotated');
      assert.deepEqual(await key.existing(), [outcome.newKey]);
    });

    it('uses the new key when the old one cannot be revoked, and revokes it on retry', async () => {
      key.proxy.inject('internalError', { method: 'DELETE' });
      const outcome = await key.rotate();
      assert.ok(outcome.kind === 'unfinished' && outcome.step === 'revoke');
      assert.notEqual(await key.storedKey(), before);
      assert.deepEqual(await key.existing(), [key.oldKey, outcome.newKey]);
      assert.equal((await key.resume()).kind, 'rotated');
      assert.deepEqual(await key.existing(), [outcome.newKey]);
    });

    it('never revokes the new key once it is stored', async () => {
      key.proxy.inject('internalError', { method: 'DELETE' });
      await key.rotate();
      let opened = 0;
      const openClient: typeof key.openClient = async (...given) => {
        opened += 1;
        if (opened === 2) throw new Error('not now');
        return await key.openClient(...given);
      };
      const outcome = await resumeRotation({ ...key.parts, openClient }, key.kept());
      assert.ok(outcome.kind === 'unfinished');
      assert.ok(await key.storedKeyWorks());
      assert.equal((await key.resume()).kind, 'rotated');
    });

    it('recognizes a stored new key by its id', async () => {
      key.proxy.inject('internalError', { method: 'DELETE' });
      await key.rotate();
      await key.accounts.forgetNewKey(key.account.baseUrl);
      const outcome = await key.resume();
      assert.ok(outcome.kind === 'rotated');
      assert.deepEqual(await key.existing(), [outcome.newKey]);
    });

    it('never takes the old key for the new one', async () => {
      const name = 'laptop 5';
      const { id } = await service.client.createApiKey(name);
      const rotation = { account: key.account.baseUrl, name, oldKey: { id, name } };
      await key.pending.begin(rotation, async () => undefined);
      assert.deepEqual(await key.resume(), { kind: 'absent', error: undefined });
    });

    it('notices that the old key was revoked although the reply was lost', async () => {
      key.proxy.inject('resetAfter', { method: 'DELETE' });
      const outcome = await key.rotate();
      assert.ok(outcome.kind === 'rotated');
      assert.deepEqual(await key.existing(), [outcome.newKey]);
    });

    it('creates no key if the account does not let its keys be listed', async () => {
      key.proxy.inject('forbiddenPage', { method: 'GET', path: /api_keys$/ });
      const outcome = await key.rotate();
      assert.ok(outcome.kind === 'unchanged' && outcome.step === 'create');
      assert.deepEqual(await key.existing(), [key.oldKey]);
      assert.deepEqual(key.pending.accounts, []);
    });
  });
});
