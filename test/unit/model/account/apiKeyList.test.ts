import assert from 'node:assert/strict';
import { ApiKeyList } from '../../../../src/model/account/apiKeyList.ts';
import { connectStore, type ConnectedStore } from '../../../helpers/connectedStore.ts';
import { scriptService, type ScriptedService } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

describe('ApiKeyList', () => {
  let service: ScriptedService;
  let store: ConnectedStore;
  let keys: ApiKeyList;

  const useKey = async (name: string, value: string) => {
    await store.accounts.add({ ...store.account, name }, value);
    await until('the key', async () => store.session.connection?.hasKey(value) === true);
  };

  beforeEach(async () => {
    service = await scriptService(() => [{ id: 1, name: 'laptop' }]);
    store = await connectStore(service);
    keys = new ApiKeyList(store.session);
    await useKey('', 'first-key');
    await keys.load();
  });

  afterEach(async () => {
    keys.dispose();
    store.dispose();
    await service.close();
  });

  it('keeps the keys and refreshes them when the key of the account changes', async () => {
    const [known] = keys.keys;
    service.script = () => [
      { id: 1, name: 'laptop' },
      { id: 2, name: 'new' },
    ];
    await useKey('', 'second-key');
    assert.deepEqual(keys.keys, [known]);
    await until('the new list', async () => keys.keys.length === 2);
  });

  it('starts empty with another account and sends no request until it is shown', async () => {
    const asked = service.requests.length;
    await useKey('other', 'second-key');
    assert.deepEqual(keys.keys, []);
    assert.equal(keys.isWanted, false);
    assert.equal(service.requests.length, asked);
  });

  describe('when the reply to a change is lost', () => {
    /** The change is made, and its answer lost; the list replies as given. */
    const lose = (list: () => unknown) => {
      service.script = (call) => (call.startsWith('GET') ? list() : 504);
    };
    const ids = () => keys.keys.map(({ id }) => id);

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

    it('reports the failure when the key is still listed or the list fails', async () => {
      const both = [
        { id: 1, name: 'laptop' },
        { id: 2, name: 'new' },
      ];
      lose(() => both);
      await assert.rejects(keys.revoke(1), /status 504/);
      assert.deepEqual(ids(), [1, 2]);
      lose(() => 500);
      await assert.rejects(keys.revoke(1), /status 504/);
      lose(() => [{ id: 1, name: 7 }]);
      await assert.rejects(keys.revoke(1), /status 504/);
    });

    it('shows a created key whose value was lost', async () => {
      lose(() => [
        { id: 1, name: 'laptop' },
        { id: 2, name: 'new' },
      ]);
      await assert.rejects(keys.create('new'), /status 504/);
      assert.deepEqual(ids(), [1, 2]);
    });
  });

  it('keeps a key that the service did not revoke', async () => {
    service.script = (call) =>
      call.startsWith('GET') ? [{ id: 1, name: 'laptop' }] : { id: 1, name: 'laptop', revoked: false };
    await assert.rejects(keys.revoke(1), /no usable revoked/);
    assert.equal(keys.keys.length, 1);
  });

  it('removes a key that another client has revoked', async () => {
    service.script = (call) => (call.startsWith('GET') ? [] : 404);
    await assert.rejects(keys.revoke(1), /status 404/);
    assert.deepEqual(keys.keys, []);
  });
});
