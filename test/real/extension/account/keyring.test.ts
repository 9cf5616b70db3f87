/** A keyring that is locked or fails: the user sees the error, and no key is lost. */
import '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { SecretStorage } from 'vscode';
import { PUBLIC_BASE_URL } from '../../../helpers/publicBaseUrl.ts';
import { Client } from '../../../../src/api/client.ts';
import { Accounts, type Account } from '../../../../src/extension/account/accounts.ts';
import { Session } from '../../../../src/extension/account/session.ts';
import { RotatingAccount } from '../../../helpers/rotatingAccount.ts';
import { startLocalService, type LocalService } from '../../../helpers/localService.ts';
import { SecretMap } from '../../../helpers/secretMap.ts';
import { until } from '../../../workbench/until.ts';

const { secretStore } = await import('../../../../src/extension/account/ui/secrets.ts');

type Call = 'get' | 'store' | 'delete';

/** VS Code's secret storage, backed by a map. Some calls fail. */
class Keyring {
  readonly map = new SecretMap();
  readonly failing = new Set<Call>();

  open(): { readonly accounts: Accounts; readonly session: Session } {
    const may = async <T>(call: Call, then: () => Promise<T>): Promise<T> => {
      if (this.failing.has(call)) throw new Error(`the keyring is locked (${call})`);
      return await then();
    };
    const storage: SecretStorage = {
      keys: async () => [...this.map.entries.keys()],
      get: (key) => may('get', () => this.map.get(key)),
      store: (key, value) => may('store', () => this.map.store(key, value)),
      delete: (key) => may('delete', () => this.map.delete(key)),
      onDidChange: (listener) => this.map.onDidChange((key) => listener({ key })),
    };
    const accounts = new Accounts(secretStore(storage));
    const open = async ({ baseUrl }: Account, key: string) => new Client({ baseUrl, key, fetch });
    return { accounts, session: new Session(accounts, open) };
  }
}

const first: Account = { baseUrl: PUBLIC_BASE_URL, name: '' };
const second: Account = { baseUrl: PUBLIC_BASE_URL, name: 'second' };

const rows: readonly (readonly [string, readonly Call[]])[] = [
  ['is locked', ['get', 'store', 'delete']],
  ['cannot be written', ['store', 'delete']],
  ['cannot be read', ['get']],
];

describe('A keyring that', () => {
  let keyring: Keyring;

  beforeEach(() => {
    keyring = new Keyring();
  });

  for (const [what, failing] of rows) {
    it(`${what}: connecting fails with the reason, and works once the keyring does`, async () => {
      for (const call of failing) keyring.failing.add(call);
      const { accounts, session } = keyring.open();
      await session.start();
      assert.equal(session.current.kind, failing.includes('get') ? 'failed' : 'signedOut');
      await assert.rejects(accounts.add(first, 'first-key'), /the keyring is locked/);
      keyring.failing.clear();
      await session.reread();
      assert.equal(session.current.kind, 'signedOut');
      await accounts.add(first, 'first-key');
      await until('the connection', async () => session.connection?.hasKey('first-key'));
    });
  }

  it('could not be read loses no keys', async () => {
    const before = keyring.open();
    await before.accounts.add(first, 'kept-key');
    keyring.failing.add('get');
    const window = keyring.open();
    await window.session.start();
    await assert.rejects(window.accounts.add(second, 'key-of-this-window'));
    keyring.failing.clear();
    const after = keyring.open();
    await after.session.start();
    assert.equal(after.session.connection?.hasKey('kept-key'), true);
    assert.deepEqual((await after.accounts.list()).accounts, [first]);
  });

  describe('fails during a key rotation', () => {
    let service: LocalService;
    before(async () => {
      service = await startLocalService({ postgres: false });
    });

    /** A rotation has three writes: it removes the old id, stores the new key, and stores its id. From one of them on, only stores fail, or all calls. */
    for (const write of [1, 2, 3])
      for (const calls of [['store'], ['get', 'store', 'delete']] as const)
        it(`at write ${write} (${calls.join()}): the stored key works, and the user learns which keys exist`, async () => {
          const rotating = await RotatingAccount.start(service, keyring.open().accounts);
          failAt(write, calls);
          const outcome = await rotating.rotate();
          keyring.failing.clear();
          const names = await rotating.existingNames();
          assert.ok(names.includes('laptop'), 'the old key is not revoked');
          assert.ok(await rotating.storedKeyWorks());
          if (write < 3 && calls.length === 1) {
            assert.equal(outcome.kind, 'unchanged');
            assert.deepEqual([names, rotating.records.size], [['laptop'], 0]);
          } else {
            assert.equal(outcome.kind, 'unknown');
            assert.deepEqual([names, rotating.records.size], [['laptop', 'laptop 2'], 1]);
          }
          await rotating.stop();
        });

    it('stores nothing and reports no error: the new key is revoked', async () => {
      const rotating = await RotatingAccount.start(service, keyring.open().accounts);
      const store = keyring.map.store.bind(keyring.map);
      keyring.map.store = async (entry, value) => {
        if (!entry.startsWith('hostedPostgres.apiKey')) await store(entry, value);
      };
      assert.equal((await rotating.rotate()).kind, 'unchanged');
      assert.deepEqual(await rotating.existingNames(), ['laptop']);
      assert.ok(await rotating.storedKeyWorks());
      await rotating.stop();
    });

    /** Makes these calls fail from this write on. */
    function failAt(write: number, calls: readonly Call[]): void {
      const store = keyring.map.store.bind(keyring.map);
      let writes = 0;
      keyring.map.store = async (entry, value) => {
        writes += 1;
        if (writes === write) {
          for (const call of calls) keyring.failing.add(call);
          throw new Error('the keyring is locked');
        }
        await store(entry, value);
      };
    }
  });
});
