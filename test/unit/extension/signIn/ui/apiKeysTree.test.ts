import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { Client } from '../../../../../src/api/client.ts';
import { Accounts } from '../../../../../src/extension/account/accounts.ts';
import { ApiKeyList } from '../../../../../src/extension/signIn/apiKeys/apiKeyList.ts';
import { Session } from '../../../../../src/extension/account/session.ts';
import { FakeClock } from '../../../../helpers/fakeClock.ts';
import { scriptService, type ScriptedService } from '../../../../helpers/scriptedService.ts';
import { SecretMap } from '../../../../helpers/secretMap.ts';

const { ApiKeysTree, redrawRelativeTimes } =
  await import('../../../../../src/extension/signIn/ui/apiKeysTree.ts');

describe('ApiKeysTree', () => {
  let service: ScriptedService;

  const created = new Date(Date.now() - 2.5 * 60 * 60 * 1000).toISOString();
  const used = {
    id: 7,
    name: 'laptop',
    created_at: created,
    last_used_at: created,
    last_used_from_addr: '10.0.0.1',
  };
  const unused = { id: 8, name: 'phone', created_at: created, last_used_at: null };

  before(async () => {
    service = await scriptService(() => []);
  });

  /** @param keyId id of the key in use, if the account knows it */
  async function withKeys<T>(
    answer: unknown,
    use: (list: ApiKeyList, session: Session) => T | Promise<T>,
    keyId?: number,
  ) {
    service.script = (call) => (typeof answer === 'function' ? answer(call) : answer);
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
    await list.ensureLoaded();
    try {
      return await use(list, session);
    } finally {
      list.dispose();
      session.dispose();
    }
  }
  const rowsOf = (answer: unknown, keyId?: number) =>
    withKeys(
      answer,
      async (list) => {
        const tree = new ApiKeysTree(list, hiddenView as never);
        const nodes = await tree.getChildren();
        tree.dispose();
        return nodes.map((node) => tree.getTreeItem(node));
      },
      keyId,
    );
  const hiddenView = { visible: false, onDidChangeVisibility: () => ({ dispose: () => undefined }) };
  const textOf = ({ label, description }: { label?: unknown; description?: unknown }) =>
    `${String(label)} | ${String(description)}`;

  it('shows last use, creation and id', async () => {
    assert.deepEqual((await rowsOf([used, unused])).map(textOf), [
      'laptop | used 2 hours ago from 10.0.0.1 · created 2 hours ago · #7',
      'phone | never used · created 2 hours ago · #8',
    ]);
  });

  it('marks the key in use, with text as well as color', async () => {
    const [first, second] = await rowsOf([used, unused], 7);
    assert.match(String(first?.description), /^this window · used/);
    assert.doesNotMatch(String(second?.description), /this window/);
    assert.deepEqual([first?.contextValue, second?.contextValue], ['apiKey inUse', 'apiKey']);
  });

  it('marks the only key of an account, but none if the key in use is unknown', async () => {
    assert.match(String((await rowsOf([used]))[0]?.description), /^this window/);
    for (const row of await rowsOf([used, unused]))
      assert.doesNotMatch(String(row.description), /this window/);
  });

  it("explains that a key can't list keys", async () => {
    const rows = await rowsOf(() => 403);
    assert.deepEqual(rows.map(textOf), ["This key can't list API keys | it may belong to an organization"]);
  });

  it('shows a record that cannot be parsed', async () => {
    const rows = await rowsOf([used, { id: 'nine', name: 9 }]);
    assert.match(textOf(rows[1] ?? {}), /unreadable \(field /);
  });

  it('redraws only rows that look different, and the whole tree, in which VS Code finds no row by then, for others', async () => {
    let keys: unknown[] = [used, unused];
    await withKeys(
      () => keys,
      async (list) => {
        const tree = new ApiKeysTree(list, hiddenView as never);
        const redrawn: unknown[] = [];
        tree.onDidChangeTreeData((nodes) => redrawn.push(nodes));
        const nodes = await tree.getChildren();
        const node = nodes.find((each) => each.kind === 'apiKey' && each.keyId === used.id) ?? assert.fail();
        const tooltip = () => tree.resolveTreeItem(tree.getTreeItem(node), node).tooltip;
        const before = tooltip();
        keys = [{ ...used, last_used_at: new Date(Date.parse(created) + 1000).toISOString() }, unused];
        await list.refresh();
        assert.deepEqual(redrawn, []);
        assert.notDeepEqual(tooltip(), before);
        keys = [{ ...used, name: 'desk' }, unused];
        await list.refresh();
        await list.refresh();
        assert.deepEqual(redrawn, [[node]]);
        keys = [unused];
        await list.refresh();
        assert.deepEqual(redrawn, [[node], undefined]);
        tree.dispose();
      },
    );
  });

  it('selects the row of a key that the list has', async () => {
    const revealed: unknown[] = [];
    const view = { ...hiddenView, reveal: async (...reveal: unknown[]) => void revealed.push(reveal) };
    await withKeys([used, unused], async (list) => {
      const tree = new ApiKeysTree(list, view as never);
      await tree.reveal(9);
      await tree.reveal(8);
      tree.dispose();
    });
    assert.deepEqual(revealed, [
      [
        { kind: 'apiKey', keyId: 8 },
        { select: true, focus: true },
      ],
    ]);
  });

  it('loads the keys of a new connection, although no row looks different before', async () => {
    await withKeys([used], async (list, session) => {
      assert.ok(session.connection);
      session.fail(session.connection, new Error('gone'));
      const tree = new ApiKeysTree(list, hiddenView as never);
      assert.deepEqual(await tree.getChildren(), []);
      let redrawn = 0;
      tree.onDidChangeTreeData(() => (redrawn += 1));
      await session.reread();
      assert.equal(redrawn, 1);
      assert.equal((await tree.getChildren()).length, 1);
      tree.dispose();
    });
  });

  it('returns no items after any other failure', async () => {
    assert.deepEqual(await rowsOf(500), []);
  });
});

describe('redrawRelativeTimes', () => {
  it('redraws every minute and when the view becomes visible, never while it is hidden', () => {
    const clock = new FakeClock();
    const listeners = new Set<() => void>();
    const view = {
      visible: true,
      onDidChangeVisibility(listener: () => void) {
        listeners.add(listener);
        return { dispose: () => listeners.delete(listener) };
      },
    };
    const setVisible = (visible: boolean) => {
      view.visible = visible;
      for (const listener of listeners) listener();
    };
    let drawn = 0;
    const listener = redrawRelativeTimes(view as never, () => (drawn += 1), clock);
    assert.equal(clock.next(), 60_000);
    assert.equal(drawn, 1);
    setVisible(false);
    assert.deepEqual(clock.waits, []);
    setVisible(true);
    assert.equal(drawn, 2);
    assert.deepEqual(clock.waits, [60_000]);
    listener.dispose();
    assert.deepEqual([clock.waits, listeners.size], [[], 0]);
  });
});
