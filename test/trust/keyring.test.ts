/** A keyring that is locked or fails: the user sees the error, and no key is lost. */
import '../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { SecretStorage } from 'vscode';
import { PUBLIC_BASE_URL } from '../../src/api/baseUrl.ts';
import { Client } from '../../src/api/client.ts';
import { Accounts, type Account } from '../../src/model/account/accounts.ts';
import {
  resumeRotation,
  rotateKey,
  type RotationOutcome,
  type RotationParts,
} from '../../src/model/account/keyRotation.ts';
import { Connection } from '../../src/model/account/connection.ts';
import { PendingRotations } from '../../src/model/account/pendingRotations.ts';
import { Session } from '../../src/model/account/session.ts';
import { RotationMap } from '../helpers/rotatingAccount.ts';
import { startLocalService, type LocalService } from '../helpers/localService.ts';
import { SecretMap } from '../helpers/secretMap.ts';
import { until } from '../workbench/until.ts';
import { tell } from './tally.ts';

const { secretStore } = await import('../../src/ui/state/secrets.ts');

type Call = 'get' | 'store' | 'delete';

/** VS Code's storage over a map, of which some calls fail. */
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

const main: Account = { baseUrl: PUBLIC_BASE_URL, name: '' };
const other: Account = { baseUrl: PUBLIC_BASE_URL, name: 'other' };

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
  after(() => tell('keyring faults', rows.length));

  for (const [what, failing] of rows) {
    it(`${what}: connecting fails with the reason, and works once the keyring does`, async () => {
      for (const call of failing) keyring.failing.add(call);
      const { accounts, session } = keyring.open();
      await session.start();
      assert.equal(session.current.kind, failing.includes('get') ? 'failed' : 'signedOut');
      await assert.rejects(accounts.add(main, 'first-key'), /the keyring is locked/);
      keyring.failing.clear();
      await session.reread();
      assert.equal(session.current.kind, 'signedOut');
      await accounts.add(main, 'first-key');
      await until('the connection', async () => session.connection?.hasKey('first-key'));
    });
  }

  it('could not be read loses no keys', async () => {
    const before = keyring.open();
    await before.accounts.add(main, 'kept-key');
    keyring.failing.add('get');
    const window = keyring.open();
    await window.session.start();
    await assert.rejects(window.accounts.add(other, 'key-of-this-window'));
    keyring.failing.clear();
    const after = keyring.open();
    await after.session.start();
    assert.equal(after.session.connection?.hasKey('kept-key'), true);
    assert.deepEqual((await after.accounts.list()).accounts, [main]);
  });

  describe('fails during a key rotation', () => {
    let service: LocalService;
    let account: Account;
    let oldKey: { readonly id: number; readonly name: string };
    let pending: PendingRotations;

    before(async () => {
      service = await startLocalService({ postgres: false });
      account = { baseUrl: service.baseUrl, name: '' };
    });
    after(() => service.stop());
    beforeEach(() => {
      pending = new PendingRotations(new RotationMap());
    });
    afterEach(async () => {
      for (const { id } of await existing()) await service.client.revokeApiKey(id);
    });

    const existing = async () =>
      (await service.client.listApiKeys()).items
        .filter(({ name }) => name.startsWith('rotated'))
        .map(({ id, name }) => ({ id, name }));
    const open = ({ accounts }: { readonly accounts: Accounts }): RotationParts => ({
      accounts,
      pending,
      openClient: async ({ baseUrl }, key) => new Client({ baseUrl, key, fetch, retries: 0 }),
      organizationId: () => undefined,
      onSecret: () => undefined,
    });
    const storedKeyWorks = async () => {
      keyring.failing.clear();
      const key = (await keyring.open().accounts.key(account)) ?? '';
      const client = new Client({ baseUrl: service.baseUrl, key, fetch, retries: 0 });
      return (await client.projectPages().next()).done === false;
    };

    async function rotate(): Promise<RotationOutcome> {
      const window = keyring.open();
      const old = await service.client.createApiKey('rotated 1');
      oldKey = { id: old.id, name: 'rotated 1' };
      await window.accounts.add(account, old.key);
      const parts = open(window);
      return await rotateKey(parts, new Connection(account, old.key, parts.openClient), {
        name: 'rotated 2',
        oldKey,
      });
    }

    /** The write that fails: of the new key, the key in use or the list. Afterwards only stores fail, or all calls. */
    for (const entry of ['newApiKey', 'apiKey', 'accounts'])
      for (const calls of [['store'], ['get', 'store', 'delete']] as const)
        it(`at ${entry} (${calls.join()}): the next window has a key that works, and no key is forgotten`, async () => {
          const writes = failAt(`hostedPostgres.${entry}`, calls);
          const outcome = await rotate();
          writes.dispose();
          const left = await existing();
          assert.ok(
            left.some(({ id }) => id === oldKey.id),
            'the old key is not revoked',
          );
          assert.ok(await storedKeyWorks());
          if (outcome.kind === 'unchanged') return assert.deepEqual(left, [oldKey]);
          assert.ok(outcome.kind === 'unfinished');
          assert.deepEqual(left, [oldKey, outcome.newKey]);
          const rotation = pending.of(account.baseUrl);
          assert.ok(rotation !== undefined);
          const next = await resumeRotation(open(keyring.open()), rotation);
          assert.equal(next.kind, 'rotated');
          assert.deepEqual(await existing(), [outcome.newKey]);
          assert.ok(await storedKeyWorks());
        });

    it('stores nothing and reports no error: the new key is revoked', async () => {
      const store = keyring.map.store.bind(keyring.map);
      keyring.map.store = async (entry, value) => {
        if (!entry.startsWith('hostedPostgres.newApiKey')) await store(entry, value);
      };
      assert.equal((await rotate()).kind, 'unchanged');
      assert.deepEqual(await existing(), [oldKey]);
      assert.ok(await storedKeyWorks());
    });

    /** Makes these calls fail from the rotation's first write to the entry on. */
    function failAt(prefix: string, calls: readonly Call[]): { dispose(): void } {
      const store = keyring.map.store.bind(keyring.map);
      keyring.map.store = async (entry, value) => {
        if (pending.accounts.length > 0 && entry.startsWith(prefix)) {
          for (const call of calls) keyring.failing.add(call);
          throw new Error('the keyring is locked');
        }
        await store(entry, value);
      };
      return { dispose: () => (keyring.map.store = store) };
    }
  });
});
