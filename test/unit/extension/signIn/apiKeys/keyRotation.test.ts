import assert from 'node:assert/strict';
import { Accounts } from '../../../../../src/extension/account/accounts.ts';
import type { RotationRecord } from '../../../../../src/extension/signIn/apiKeys/keyRotation.ts';
import { Session } from '../../../../../src/extension/account/session.ts';
import { startLocalService, type LocalService } from '../../../../helpers/localService.ts';
import { RotatingAccount } from '../../../../helpers/rotatingAccount.ts';

const NOTE = { account: 'the account', newName: 'laptop 2', oldName: 'laptop' };

describe('rotateKey', () => {
  let service: LocalService;
  let key: RotatingAccount;

  before(async () => {
    service = await startLocalService({ postgres: false });
  });
  beforeEach(async () => {
    key = await RotatingAccount.start(service);
  });
  afterEach(() => key.stop());

  it('replaces the old key with a new one and revokes it', async () => {
    const before = await key.storedKey();
    assert.deepEqual(await key.rotate(), { kind: 'rotated' });
    const [created, ...others] = await key.existing();
    assert.deepEqual([created?.name, others], ['laptop 2', []]);
    assert.notEqual(await key.storedKey(), before);
    assert.ok(await key.storedKeyWorks());
    assert.equal((await key.accounts.list()).current?.keyId, created?.id);
    assert.equal(key.seen.at(-1), await key.storedKey());
    assert.deepEqual(key.deps.records.all(), []);
  });

  it('creates, tests and stores the new key before it revokes the old one, with a recovery record from start to end', async () => {
    const steps: string[] = [];
    key.secrets.onDidChange((entry) => steps.push(entry.replace(/^hostedPostgres\.|:.*/g, '')));
    const fetched = key.proxy.requests;
    const { records } = key.deps;
    const deps = {
      records: {
        ...records,
        async set(id: string, record: RotationRecord) {
          assert.equal(fetched.length, 0);
          await records.set(id, record);
        },
        delete(id: string) {
          assert.equal(fetched.at(-1)?.method, 'DELETE');
          records.delete(id);
        },
      },
    };
    await key.rotate({ oldKey: key.oldKey, deps });
    const calls = fetched.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(calls, ['POST /api_keys', 'GET /projects', `DELETE /api_keys/${key.oldKey.id}`]);
    assert.deepEqual(steps, ['accounts', 'apiKey', 'accounts']);
    assert.deepEqual(key.deps.records.all(), []);
  });

  it('keeps all keys valid if the old one is unknown', async () => {
    assert.deepEqual(await key.rotate({ oldKey: undefined }), { kind: 'rotated' });
    assert.deepEqual(await key.existingNames(), ['laptop', 'laptop 2']);
  });

  it('creates no key without a recovery record', async () => {
    const set = () => {
      throw new Error('disk full');
    };
    const outcome = await key.rotate({ deps: { records: { ...key.deps.records, set, delete: set } } });
    assert.ok(outcome.kind === 'unchanged' && outcome.step === 'create');
    assert.deepEqual(key.proxy.requests, []);
  });

  it('makes other windows use the new key', async () => {
    const session = new Session(new Accounts(key.secrets), key.openClient);
    await session.start();
    const before = session.connection;
    await key.rotate();
    await new Promise<void>((resolve) => {
      if (session.connection?.account.keyId !== undefined) resolve();
      session.onDidChange(({ connection }) => connection?.account.keyId !== undefined && resolve());
    });
    assert.notEqual(session.connection, before);
    assert.ok(session.connection?.hasKey(await key.storedKey()));
    session.dispose();
  });

  describe('when a step fails', () => {
    let before: string;
    beforeEach(async () => {
      before = await key.storedKey();
    });
    afterEach(async () => assert.ok(await key.storedKeyWorks(), 'the stored key works'));

    const assertUnchanged = async (outcome: Awaited<ReturnType<typeof key.rotate>>, step: string) => {
      assert.ok(outcome.kind === 'unchanged' && outcome.step === step, JSON.stringify(outcome));
      assert.equal(await key.storedKey(), before);
      assert.deepEqual(await key.existingNames(), ['laptop']);
      assert.deepEqual(key.deps.records.all(), []);
    };
    const assertUnknown = (outcome: Awaited<ReturnType<typeof key.rotate>>, kind = 'unknown') => {
      assert.ok('record' in outcome && outcome.kind === kind, JSON.stringify(outcome));
      assert.deepEqual(key.deps.records.all(), [outcome.record]);
      const { id: _, accountId, oldId, ...names } = outcome.record;
      assert.deepEqual(names, NOTE);
      assert.deepEqual([accountId, oldId], [key.proxy.baseUrl, key.oldKey.id]);
    };

    it('changes nothing if no key can be created', async () => {
      key.proxy.inject('tooMany', { method: 'POST' });
      await assertUnchanged(await key.rotate(), 'create');
    });

    for (const [fault, names] of [
      ['resetAfter', ['laptop', 'laptop 2']],
      ['resetBeforeHeaders', ['laptop']],
    ] as const)
      it(`keeps the record if the reply with the new key is lost (${fault})`, async () => {
        key.proxy.inject(fault, { method: 'POST' });
        assertUnknown(await key.rotate());
        assert.deepEqual(await key.existingNames(), names);
        assert.equal(await key.storedKey(), before);
      });

    it('revokes a new key that does not work', async () => {
      key.proxy.inject('internalError', { method: 'GET', path: /projects$/ });
      await assertUnchanged(await key.rotate(), 'test');
    });

    it('revokes a new key that cannot be stored', async () => {
      const replaceKey = () => Promise.reject(new Error('locked'));
      const accounts = { key: (account: typeof key.account) => key.accounts.key(account), replaceKey };
      await assertUnchanged(await key.rotate({ deps: { accounts } }), 'store');
    });

    it('keeps the record of a new key that neither works nor can be revoked', async () => {
      key.proxy.inject('internalError', { method: 'GET', path: /projects$/ });
      key.proxy.inject('internalError', { method: 'DELETE' });
      assertUnknown(await key.rotate());
      assert.deepEqual(await key.existingNames(), ['laptop', 'laptop 2']);
      assert.equal(await key.storedKey(), before);
    });

    it('uses the new key and keeps the record if the old one cannot be revoked', async () => {
      key.proxy.inject('internalError', { method: 'DELETE' });
      assertUnknown(await key.rotate(), 'notRevoked');
      assert.notEqual(await key.storedKey(), before);
      assert.deepEqual(await key.existingNames(), ['laptop', 'laptop 2']);
    });

    it('does not trust an incomplete list of keys', async () => {
      key.proxy.inject('resetAfter', { method: 'DELETE' });
      key.proxy.inject('internalError', { method: 'GET', path: /api_keys$/ });
      assertUnknown(await key.rotate(), 'notRevoked');
      assert.deepEqual(await key.existingNames(), ['laptop 2']);
    });

    it('notices that the old key was revoked although the reply was lost', async () => {
      key.proxy.inject('resetAfter', { method: 'DELETE' });
      assert.deepEqual(await key.rotate(), { kind: 'rotated' });
      assert.deepEqual(await key.existingNames(), ['laptop 2']);
      assert.deepEqual(key.deps.records.all(), []);
    });

    it('notices that the old key was revoked before', async () => {
      const accounts: typeof key.deps.accounts = {
        key: (account) => key.accounts.key(account),
        async replaceKey(account, created) {
          await key.accounts.replaceKey(account, created);
          await service.client.revokeApiKey(key.oldKey.id);
        },
      };
      assert.deepEqual(await key.rotate({ oldKey: key.oldKey, deps: { accounts } }), { kind: 'rotated' });
      // The reply says so, without a look at the list.
      assert.equal(key.proxy.requests.at(-1)?.method, 'DELETE');
    });
  });
});
