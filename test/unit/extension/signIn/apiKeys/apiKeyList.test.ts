import assert from 'node:assert/strict';
import { ApiKeyList } from '../../../../../src/extension/signIn/apiKeys/apiKeyList.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { until } from '../../../../workbench/until.ts';

describe('ApiKeyList', () => {
  let store: ScriptedModel;
  let keys: ApiKeyList;

  const useKey = async (name: string, value: string) => {
    await store.accounts.add({ ...store.account, name }, value);
    await until('the key', async () => store.session.connection?.hasKey(value) === true);
  };

  beforeEach(async () => {
    store = await connectScripted(() => [{ id: 1, name: 'laptop' }]);
    keys = new ApiKeyList(store.session);
    await useKey('', 'first-key');
    await keys.load();
  });

  afterEach(() => keys.dispose());

  it('keeps the keys and refreshes them when the key of the account changes', async () => {
    const [known] = keys.keys;
    store.service.script = () => [
      { id: 1, name: 'laptop' },
      { id: 2, name: 'new' },
    ];
    await useKey('', 'second-key');
    assert.deepEqual(keys.keys, [known]);
    await until('the new list', async () => keys.keys.length === 2);
  });

  it('loads the keys with a new key of the account, even if they could not be loaded before', async () => {
    store.service.script = () => 401;
    await useKey('other', 'revoked-key');
    await keys.load().catch(() => undefined);
    store.service.script = () => [{ id: 1, name: 'laptop' }];
    await useKey('other', 'second-key');
    await until('the keys', async () => keys.keys.length === 1);
  });

  it('starts empty with another account and sends no request until it is shown', async () => {
    const before = store.service.requests.length;
    await useKey('other', 'second-key');
    assert.deepEqual(keys.keys, []);
    assert.equal(keys.wasRequested, false);
    assert.equal(store.service.requests.length, before);
  });

  it('loads the keys of another account that is chosen while they are loaded', async () => {
    await useKey('other', 'second-key');
    const gate = Promise.withResolvers<unknown>();
    store.service.script = () => gate.promise;
    const loading = keys.ensureLoaded();
    store.service.script = () => [{ id: 3, name: 'third' }];
    await useKey('third', 'third-key');
    gate.resolve([]);
    await loading;
    assert.equal(keys.key(3)?.name, 'third');
  });

  it('knows which key is in use if it is the only one or was created from here', async () => {
    assert.equal(keys.isInUse(1), true);
    assert.equal(keys.isInUse(2), false);
    assert.equal(keys.isUseKnown, true);
    store.service.script = () => [
      { id: 1, name: 'laptop' },
      { id: 2, name: 'new' },
    ];
    await keys.refresh();
    assert.equal(keys.isInUse(1), false);
    assert.equal(keys.isUseKnown, false);
    await store.accounts.add({ ...store.account, keyId: 2 }, 'other-key');
    await until('the id', async () => store.session.connection?.account.keyId === 2);
    assert.equal(keys.isInUse(1), false);
    assert.equal(keys.isInUse(2), true);
    assert.equal(keys.isUseKnown, true);
  });

  it('does not know the key in use while another key is unreadable', async () => {
    store.service.script = () => [
      { id: 1, name: 'laptop' },
      { id: 2, name: 7 },
    ];
    await keys.refresh();
    assert.deepEqual(keys.unreadable, [{ id: '2', field: 'name' }]);
    assert.equal(keys.isInUse(1), false);
  });

  it('was requested once it has loaded or failed to load', async () => {
    assert.equal(keys.wasRequested, true);
    await useKey('other', 'second-key');
    assert.equal(keys.wasRequested, false);
    store.service.script = () => 403;
    await keys.ensureLoaded();
    assert.equal(keys.wasRequested, true);
    assert.match(String(keys.failure), /status 403/);
    const before = store.service.requests.length;
    await keys.ensureLoaded();
    assert.equal(store.service.requests.length, before);
  });

  it('shows a created key, and no longer a revoked one', async () => {
    let listed = [
      { id: 1, name: 'laptop' },
      { id: 2, name: 'new' },
    ];
    store.service.script = (call) => {
      if (call.startsWith('GET')) return listed;
      return call.startsWith('POST')
        ? { id: 2, name: 'new', key: 'value' }
        : { id: 1, name: 'laptop', revoked: true };
    };
    assert.equal((await keys.create('new')).key, 'value');
    assert.equal(keys.key(2)?.name, 'new');
    const gate = Promise.withResolvers<unknown>();
    const { script } = store.service;
    store.service.script = (call) => (call.startsWith('GET') ? gate.promise : script(call));
    const revoking = keys.revoke(1);
    await until('the key to vanish', async () => keys.key(1) === undefined);
    listed = listed.slice(1);
    gate.resolve(listed);
    await revoking;
    assert.deepEqual(
      keys.keys.map(({ id }) => id),
      [2],
    );
  });

  it('is empty and rejects changes without a connection', async () => {
    await store.accounts.choose(undefined);
    await until('the end of the session', async () => store.session.connection === undefined);
    await keys.refresh();
    assert.deepEqual(
      [keys.keys, keys.unreadable, keys.wasRequested, keys.isInUse(1)],
      [[], [], false, false],
    );
    await assert.rejects(keys.create('new'), /Not connected/);
    await assert.rejects(keys.revoke(1), /Not connected/);
  });

  it('reports changes until it is disposed', async () => {
    let events = 0;
    keys.onDidChange(() => (events += 1));
    await keys.refresh();
    assert.ok(events > 0);
    const before = events;
    const refreshing = keys.refresh();
    keys.dispose();
    await refreshing;
    await useKey('other', 'second-key');
    assert.equal(events, before);
  });

  describe('when the reply to a change is lost', () => {
    /** The service makes the change and loses the reply. Then it replies to a request for the list. */
    const lose = (list: () => unknown) => {
      store.service.script = (call) => (call.startsWith('GET') ? list() : 504);
    };
    const ids = () => keys.keys.map(({ id }) => id);
    const both = [
      { id: 1, name: 'laptop' },
      { id: 2, name: 'new' },
    ];

    it('treats a key that is no longer listed as revoked', async () => {
      lose(() => [{ id: 2, name: 'new' }]);
      await keys.revoke(1);
      assert.deepEqual(ids(), [2]);
    });

    it('treats the key in use as revoked when it is rejected from then on', async () => {
      lose(() => 401);
      await keys.revoke(1);
      assert.deepEqual(ids(), []);
    });

    it('treats a key as revoked when the list is rejected from then on, unless another key is in use', async () => {
      store.service.script = () => both;
      await keys.refresh();
      lose(() => 401);
      await keys.revoke(1);
      assert.deepEqual(ids(), [2]);
      store.service.script = () => both;
      await store.accounts.add({ ...store.account, keyId: 2 }, 'other-key');
      await until('both keys', async () => keys.isInUse(2) && keys.keys.length === 2);
      lose(() => 401);
      await assert.rejects(keys.revoke(1), /status 504/);
    });

    it('reports the failure when the key is still listed or the list fails', async () => {
      lose(() => both);
      await assert.rejects(keys.revoke(1), /status 504/);
      assert.deepEqual(ids(), [1, 2]);
      lose(() => 500);
      await assert.rejects(keys.revoke(1), /status 504/);
      lose(() => [{ id: 1, name: 7 }]);
      await assert.rejects(keys.revoke(1), /status 504/);
    });

    it('reports the failure when the account was switched in the meantime', async () => {
      store.service.script = async (call) => {
        if (call.startsWith('GET')) return [];
        await useKey('other', 'second-key');
        return 504;
      };
      await assert.rejects(keys.revoke(1), /status 504/);
    });

    it('shows a created key whose value was lost', async () => {
      lose(() => both);
      await assert.rejects(keys.create('new'), /status 504/);
      assert.deepEqual(ids(), [1, 2]);
    });
  });

  it('keeps a key that the service did not revoke', async () => {
    store.service.script = (call) =>
      call.startsWith('GET') ? [{ id: 1, name: 'laptop' }] : { id: 1, name: 'laptop', revoked: false };
    await assert.rejects(keys.revoke(1), /no usable revoked/);
    assert.equal(keys.keys.length, 1);
  });

  it('removes a key that another client has revoked', async () => {
    store.service.script = (call) => (call.startsWith('GET') ? [] : 404);
    await assert.rejects(keys.revoke(1), /status 404/);
    assert.deepEqual(keys.keys, []);
  });
});
