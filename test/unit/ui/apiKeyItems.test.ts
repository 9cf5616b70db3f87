import '../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { Client } from '../../../src/api/client.ts';
import { Accounts } from '../../../src/model/accounts.ts';
import { ApiKeyList } from '../../../src/model/apiKeyList.ts';
import { Session } from '../../../src/model/session.ts';
import { scriptService, type ScriptedService } from '../../helpers/scriptedService.ts';
import { SecretMap } from '../../helpers/secretMap.ts';

const { keysItem, keysNodes } = await import('../../../src/ui/tree/apiKeyItems.ts');

describe('the rows of the API Keys view', () => {
  let service: ScriptedService;

  const now = new Date().toISOString();
  const used = { id: 7, name: 'laptop', created_at: now, last_used_at: now, last_used_from_addr: '10.0.0.1' };
  const unused = { id: 8, name: 'a](command:x) <img>', created_at: now, last_used_at: null };

  before(async () => {
    service = await scriptService(() => []);
  });
  after(() => service.close());

  /** The rows as the list of an account that knows its key by this id has them. */
  async function rowsOf(answer: unknown, keyId?: number) {
    service.script = () => answer;
    const accounts = new Accounts(new SecretMap());
    await accounts.add(
      { baseUrl: service.baseUrl, name: '', ...(keyId === undefined ? {} : { keyId }) },
      'key',
    );
    const session = new Session(accounts, async ({ baseUrl }, key) => {
      return new Client({ baseUrl, key, fetch: globalThis.fetch, retries: 0 });
    });
    const list = new ApiKeyList(session);
    await session.start();
    await list.look();
    const rows = keysNodes(list).map((node) => keysItem(list, node));
    list.dispose();
    session.dispose();
    return rows;
  }
  const textOf = ({ label, description }: { label?: unknown; description?: unknown }) =>
    `${String(label)} | ${String(description)}`;

  it('tell last use, creation and id', async () => {
    assert.deepEqual((await rowsOf([used, unused])).map(textOf), [
      'laptop | used just now from 10.0.0.1 · created just now · #7',
      'a] (command:x) <img> | never used · created just now · #8',
    ]);
  });

  it('mark the key in use when it is known, by a word too', async () => {
    const [first, second] = await rowsOf([used, unused], 7);
    assert.match(String(first?.description), /^this window · used/);
    assert.doesNotMatch(String(second?.description), /this window/);
    assert.deepEqual([first?.contextValue, second?.contextValue], ['apiKey inUse', 'apiKey']);
  });

  it('mark the only key there is, and none when it is not certain', async () => {
    assert.match(String((await rowsOf([used]))[0]?.description), /^this window/);
    for (const row of await rowsOf([used, unused]))
      assert.doesNotMatch(String(row.description), /this window/);
  });

  it('take a name for nothing but text', async () => {
    const [, row] = await rowsOf([used, unused]);
    const { tooltip } = row ?? {};
    const text = typeof tooltip === 'object' ? tooltip.value : String(tooltip);
    assert.doesNotMatch(text, /<img>|\]\(command/);
  });

  it('explain why an organization key shows none, and are no error', async () => {
    const [row, ...others] = await rowsOf(403);
    assert.equal(others.length, 0);
    assert.match(textOf(row ?? {}), /may not see the API keys \| it belongs to an organization/);
  });

  it('show a record that cannot be read', async () => {
    const rows = await rowsOf([used, { id: 'nine', name: 9 }]);
    assert.match(textOf(rows[1] ?? {}), /unreadable \(field /);
  });

  it('are none after any other failure', async () => {
    assert.deepEqual(await rowsOf(500), []);
  });
});
