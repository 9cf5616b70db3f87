import assert from 'node:assert/strict';
import { ApiKeyList } from '../../../src/model/apiKeyList.ts';
import { connectStore, type ConnectedStore } from '../../helpers/connectedStore.ts';
import { scriptService, type ScriptedService } from '../../helpers/scriptedService.ts';
import { until } from '../../workbench/until.ts';

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
});
