/** A keyring that is missing, locked or failing: the user is told once and goes on for as long as the window is open. */
import assert from 'node:assert/strict';
import type { SecretStorage } from 'vscode';
import { PUBLIC_BASE_URL } from '../../src/api/baseUrl.ts';
import { Client } from '../../src/api/client.ts';
import { Accounts, type Account } from '../../src/model/accounts.ts';
import { Session } from '../../src/model/session.ts';
import { Secrets } from '../../src/ui/secrets.ts';
import { SecretMap } from '../helpers/secretMap.ts';
import { until } from '../workbench/until.ts';
import { tell } from './tally.ts';

type Call = 'get' | 'store' | 'delete';

/** VS Code's storage over a map, of which some calls fail. */
class Keyring {
  readonly map = new SecretMap();
  readonly failing = new Set<Call>();
  /** How often each window was told. */
  readonly told: unknown[] = [];

  open(): { readonly secrets: Secrets; readonly accounts: Accounts; readonly session: Session } {
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
    const secrets = new Secrets(storage);
    secrets.onDidFail((error) => this.told.push(error));
    const accounts = new Accounts(secrets);
    const open = async ({ baseUrl }: Account, key: string) => new Client({ baseUrl, key, fetch });
    return { secrets, accounts, session: new Session(accounts, open) };
  }
}

const main: Account = { baseUrl: PUBLIC_BASE_URL, name: '' };
const other: Account = { baseUrl: PUBLIC_BASE_URL, name: 'other' };

const rows: readonly (readonly [string, readonly Call[]])[] = [
  ['is not there', ['get', 'store', 'delete']],
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
    it(`${what}: the user is told once and can connect, switch and disconnect in this window`, async () => {
      for (const call of failing) keyring.failing.add(call);
      const { accounts, session } = keyring.open();
      await session.start();
      assert.equal(session.current.kind, 'signedOut');
      await accounts.add(main, 'first-key');
      await accounts.add(other, 'second-key');
      await until('the second account', async () => session.connection?.hasKey('second-key'));
      await accounts.choose(main);
      await until('the first account', async () => session.connection?.hasKey('first-key'));
      await accounts.remove(main);
      await until('nobody to be connected', async () => session.current.kind === 'signedOut');
      assert.equal(keyring.told.length, 1);
      const next = keyring.open();
      keyring.failing.clear();
      await next.session.start();
      assert.equal(next.session.current.kind, 'signedOut', 'another window knows nothing of it');
    });
  }

  it('could not be read loses nothing of what it holds', async () => {
    const before = keyring.open();
    await before.accounts.add(main, 'kept-key');
    keyring.failing.add('get');
    const window = keyring.open();
    await window.session.start();
    await window.accounts.add(other, 'key-of-this-window');
    await until('the other account', async () => window.session.connection?.hasKey('key-of-this-window'));
    keyring.failing.clear();
    const after = keyring.open();
    await after.session.start();
    assert.equal(after.session.connection?.hasKey('kept-key'), true);
    assert.deepEqual((await after.accounts.list()).accounts, [main]);
  });

  it('works again is used again', async () => {
    keyring.failing.add('store');
    const { secrets } = keyring.open();
    await secrets.store('entry', 'kept here');
    assert.equal(keyring.map.entries.has('entry'), false);
    keyring.failing.clear();
    await secrets.store('entry', 'kept there');
    assert.equal(await secrets.get('entry'), 'kept there');
    assert.equal(keyring.map.entries.get('entry'), 'kept there');
  });
});
