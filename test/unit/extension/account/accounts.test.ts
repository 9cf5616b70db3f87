import assert from 'node:assert/strict';
import { PUBLIC_BASE_URL } from '../../../helpers/publicBaseUrl.ts';
import { accountId, Accounts, type Account } from '../../../../src/extension/account/accounts.ts';
import { NotConnectedError } from '../../../../src/extension/window/changeErrors.ts';
import { SecretMap } from '../../../helpers/secretMap.ts';

const main: Account = { baseUrl: PUBLIC_BASE_URL, name: '' };
const work: Account = { baseUrl: PUBLIC_BASE_URL, name: 'work' };
const createdKey = { id: 7, key: 'new', name: 'laptop' };

describe('Accounts', () => {
  let secrets: SecretMap;
  let accounts: Accounts;

  beforeEach(() => {
    secrets = new SecretMap();
    accounts = new Accounts(secrets);
  });

  it('keeps each key in a separate entry, named after the address and the name', async () => {
    await accounts.add(main, 'key of main');
    await accounts.add(work, 'key of work');
    assert.equal(secrets.entries.get(`hostedPostgres.apiKey:${PUBLIC_BASE_URL}`), 'key of main');
    assert.equal(secrets.entries.get(`hostedPostgres.apiKey:${PUBLIC_BASE_URL}#work`), 'key of work');
    assert.equal(await accounts.key(work), 'key of work');
  });

  it('makes the last added account the current one', async () => {
    await accounts.add(main, 'a');
    await accounts.add(work, 'b');
    assert.deepEqual(await accounts.list(), { accounts: [main, work], current: work });
  });

  it('replaces the key of a stored account', async () => {
    await accounts.add(main, 'old');
    await accounts.add(main, 'new');
    assert.equal((await accounts.list()).accounts.length, 1);
    assert.equal(await accounts.key(main), 'new');
  });

  it('removes the key with the account and keeps the others', async () => {
    await accounts.add(main, 'a');
    await accounts.add(work, 'b');
    await accounts.remove(main);
    assert.deepEqual(await accounts.list(), { accounts: [work], current: work });
    assert.deepEqual([await accounts.key(main), await accounts.key(work)], [undefined, 'b']);
    await accounts.remove(work);
    assert.deepEqual(await accounts.list(), { accounts: [], current: undefined });
  });

  it('keeps all accounts when several are added at once', async () => {
    const named = ['a', 'b', 'c', 'd'].map((name): Account => ({ baseUrl: PUBLIC_BASE_URL, name }));
    await Promise.all(named.map((account) => accounts.add(account, account.name)));
    assert.deepEqual((await accounts.list()).accounts.map(accountId).toSorted(), named.map(accountId));
  });

  it('works again after the secret store has failed', async () => {
    secrets.isLocked = true;
    await assert.rejects(accounts.add(main, 'a'), /locked/);
    secrets.isLocked = false;
    await accounts.add(work, 'b');
    assert.deepEqual((await accounts.list()).accounts, [work]);
  });

  it('notifies other windows of a change', async () => {
    const other = new Accounts(secrets);
    let events = 0;
    other.onDidChange(() => (events += 1));
    await accounts.add(main, 'a');
    assert.ok(events > 0);
    assert.deepEqual((await other.list()).current, main);
  });

  it('fires no event for other secrets', async () => {
    let events = 0;
    accounts.onDidChange(() => (events += 1));
    await secrets.store('another.secret', 'a');
    assert.equal(events, 0);
  });

  it('gives a new key only to its account, and the current account stays', async () => {
    for (const account of [main, work]) await accounts.add(account, 'old');
    await accounts.replaceKey(main, createdKey);
    assert.deepEqual(await accounts.list(), { accounts: [{ ...main, keyId: 7 }, work], current: work });
    assert.equal(await accounts.key(main), 'new');
    assert.equal(await accounts.key(work), 'old');
  });

  it('stores no new key for an account that was removed', async () => {
    await accounts.add(main, 'a');
    await assert.rejects(accounts.replaceKey(work, createdKey), NotConnectedError);
    assert.equal(await accounts.key(work), undefined);
  });

  it('never has the id of the old key with the new key, even if it is interrupted', async () => {
    await accounts.add({ ...main, keyId: 3 }, 'old');
    const seen: unknown[] = [];
    secrets.onDidChange(() => {
      const list: unknown = JSON.parse(secrets.entries.get('hostedPostgres.accounts') ?? '');
      const key = secrets.entries.get(`hostedPostgres.apiKey:${PUBLIC_BASE_URL}`);
      seen.push([key, (list as { accounts: { keyId?: number }[] }).accounts[0]?.keyId]);
    });
    await accounts.replaceKey(main, createdKey);
    assert.deepEqual(seen, [
      ['old', undefined],
      ['new', undefined],
      ['new', 7],
    ]);
  });

  it('makes only a stored account the current one', async () => {
    await accounts.add(main, 'a');
    await accounts.choose(work);
    assert.deepEqual(await accounts.list(), { accounts: [main], current: undefined });
    await accounts.choose(main);
    assert.deepEqual((await accounts.list()).current, main);
    await accounts.choose(undefined);
    assert.equal((await accounts.list()).current, undefined);
  });

  it('keeps the organization that was chosen for an account', async () => {
    for (const account of [work, main]) await accounts.add(account, 'a');
    await accounts.setOrganization(work, 'org-a-1');
    const changed = { ...work, organizationId: 'org-a-1' };
    assert.deepEqual(await accounts.list(), { accounts: [changed, main], current: main });
    await accounts.setOrganization(main, 'org-b-2');
    assert.equal((await accounts.list()).current?.organizationId, 'org-b-2');
  });

  it('leaves out invalid accounts and fields', async () => {
    const local = { ...work, local: true, keyId: 7 };
    const invalid = [null, 'text', { name: '' }, { ...main, baseUrl: 7 }, { ...main, name: 7 }];
    const stored = [...invalid, { ...main, local: 'yes', keyId: '7', organizationId: '../x' }, local];
    secrets.entries.set('hostedPostgres.accounts', JSON.stringify({ accounts: stored }));
    assert.deepEqual(await accounts.list(), { accounts: [main, local], current: undefined });
  });

  for (const entry of ['', '{', 'null', '[]', '{"accounts":[{"baseUrl":"http://evil.test/v2","name":""}]}']) {
    it(`reads no account from ${JSON.stringify(entry)}`, async () => {
      secrets.entries.set('hostedPostgres.accounts', entry);
      assert.deepEqual(await accounts.list(), { accounts: [], current: undefined });
    });
  }
});
