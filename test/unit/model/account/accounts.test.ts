import assert from 'node:assert/strict';
import { PUBLIC_BASE_URL } from '../../../../src/api/baseUrl.ts';
import { accountId, Accounts, type Account } from '../../../../src/model/account/accounts.ts';
import { SecretMap } from '../../../helpers/secretMap.ts';

const main: Account = { baseUrl: PUBLIC_BASE_URL, name: '' };
const work: Account = { baseUrl: PUBLIC_BASE_URL, name: 'work' };

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
    const { accounts: known, current } = await accounts.list();
    assert.deepEqual(known, [main, work]);
    assert.deepEqual(current, work);
  });

  it('replaces the key of an account it knows', async () => {
    await accounts.add(main, 'old');
    await accounts.add(main, 'new');
    assert.equal((await accounts.list()).accounts.length, 1);
    assert.equal(await accounts.key(main), 'new');
  });

  it('removes the key with the account and keeps the others', async () => {
    await accounts.add(main, 'a');
    await accounts.add(work, 'b');
    await accounts.remove(work);
    assert.deepEqual(await accounts.list(), { accounts: [main], current: undefined });
    assert.equal(await accounts.key(work), undefined);
    assert.equal(await accounts.key(main), 'a');
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
    let told = 0;
    other.onDidChange(() => (told += 1));
    await accounts.add(main, 'a');
    assert.ok(told > 0);
    assert.deepEqual((await other.list()).current, main);
  });

  for (const entry of ['', '{', 'null', '[]', '{"accounts":[{"baseUrl":"http://evil.test/v2","name":""}]}']) {
    it(`reads no account from ${JSON.stringify(entry)}`, async () => {
      secrets.entries.set('hostedPostgres.accounts', entry);
      assert.deepEqual(await accounts.list(), { accounts: [], current: undefined });
    });
  }
});
