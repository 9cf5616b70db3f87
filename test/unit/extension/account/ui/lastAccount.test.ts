import assert from 'node:assert/strict';
import { lastAccount, rememberAccountKind } from '../../../../../src/extension/account/ui/lastAccount.ts';
import { connectModel, MemoryMap } from '../../../../helpers/connectedModel.ts';
import { scriptService } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';

describe('rememberAccountKind', () => {
  it('follows the session and writes only changes', async () => {
    const service = await scriptService(() => ({ projects: [] }));
    const store = await connectModel(service);
    const memory = new MemoryMap();
    const written: unknown[] = [];
    const fired: unknown[] = [];
    const memento = {
      get: (entry: string) => memory.get(entry) as never,
      update: async (entry: string, value: unknown) => {
        written.push(value);
        await memory.update(entry, value);
      },
    };
    assert.equal(lastAccount(memento), 'none');
    const listening = rememberAccountKind(store.session, memento, {
      fire: () => fired.push(lastAccount(memento)),
    });
    const becomes = (account: string) => until(account, async () => lastAccount(memento) === account);

    await store.accounts.add({ ...store.account, name: 'work' }, 'key-1');
    await becomes('remote');
    await store.accounts.add({ ...store.account, name: 'work' }, 'key-2');
    await until('the key', async () => store.session.connection?.hasKey('key-2') === true);
    await store.accounts.add({ ...store.account, name: 'here', local: true }, 'key-3');
    await becomes('local');
    await store.accounts.choose(undefined);
    await becomes('none');
    assert.deepEqual(written, ['remote', 'local', 'none']);
    assert.deepEqual(fired, written);

    listening.dispose();
  });
});
