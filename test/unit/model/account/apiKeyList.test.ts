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

  it('keeps the keys with another key of the same account, and asks for them anew', async () => {
    const [known] = keys.keys;
    service.script = () => [
      { id: 1, name: 'laptop' },
      { id: 2, name: 'new' },
    ];
    await useKey('', 'second-key');
    assert.deepEqual(keys.keys, [known]);
    await until('the new list', async () => keys.keys.length === 2);
  });

  it('begins empty with another account, and asks for nothing until somebody looks', async () => {
    const asked = service.requests.length;
    await useKey('other', 'second-key');
    assert.deepEqual(keys.keys, []);
    assert.equal(keys.isWanted, false);
    assert.equal(service.requests.length, asked);
  });

  describe('when the answer to a change is lost', () => {
    /** The change is made, and its answer lost; the list answers as told. */
    const lose = (list: () => unknown) => {
      service.script = (call) => (call.startsWith('GET') ? list() : 504);
    };
    const ids = () => keys.keys.map(({ id }) => id);

    it('takes a key that is listed no longer for revoked', async () => {
      lose(() => [{ id: 2, name: 'new' }]);
      await keys.revoke(1);
      assert.deepEqual(ids(), [2]);
    });

    it('takes the key in use for revoked when it is refused from then on', async () => {
      lose(() => 401);
      await keys.revoke(1);
      assert.deepEqual(ids(), []);
    });

    it('says so when the key is still listed, or nothing can be told', async () => {
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

    it('shows a key that was created and whose value nobody knows', async () => {
      lose(() => [
        { id: 1, name: 'laptop' },
        { id: 2, name: 'new' },
      ]);
      await assert.rejects(keys.create('new'), /status 504/);
      assert.deepEqual(ids(), [1, 2]);
    });
  });

  it('does not take a key for revoked that the service says is not', async () => {
    service.script = (call) =>
      call.startsWith('GET') ? [{ id: 1, name: 'laptop' }] : { id: 1, name: 'laptop', revoked: false };
    await assert.rejects(keys.revoke(1), /no usable revoked/);
    assert.equal(keys.keys.length, 1);
  });

  it('shows that a key is gone which somebody else has revoked', async () => {
    service.script = (call) => (call.startsWith('GET') ? [] : 404);
    await assert.rejects(keys.revoke(1), /status 404/);
    assert.deepEqual(keys.keys, []);
  });
});
