import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { connectModel } from '../../../../helpers/connectedModel.ts';
import { scriptService } from '../../../../helpers/scriptedService.ts';

const { isReadOnly } = await import('../../../../../src/ui/commands/apiKey/rotationRecovery.ts');

describe('isReadOnly', () => {
  it('knows the marks of the account of a rotation, even if another one is connected', async () => {
    const service = await scriptService(() => ({}));
    const store = await connectModel(service);
    const id = `${service.baseUrl}#other`;
    await store.accounts.add({ ...store.account, name: 'other' }, 'key');
    await store.accounts.choose(store.account);
    assert.equal(await isReadOnly(store, id), false);
    store.marks[id] = 'readOnly';
    assert.deepEqual([await isReadOnly(store, id), await isReadOnly(store, service.baseUrl)], [true, false]);
    store.dispose();
    await service.close();
  });
});
