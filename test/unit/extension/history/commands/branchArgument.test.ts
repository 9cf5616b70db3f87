/** The branch of Undo…, snapshots and times when the command comes from the palette. */
import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import { commandContext, fakeView } from '../../../../helpers/commandContext.ts';
import { connectModel } from '../../../../helpers/connectedModel.ts';
import { scriptService } from '../../../../helpers/scriptedService.ts';

const { branchArgument } = await import('../../../../../src/extension/history/commands/askForMoment.ts');

describe('The branch of a command from the palette', () => {
  const main = { kind: 'branch', projectId: 'shop', branchId: 'br-main' };
  const ofOther = { kind: 'compute', projectId: 'shop', branchId: 'br-try', computeId: 'ep-one' };

  const argumentWith = async (selection: readonly object[], argument?: object) => {
    const { baseUrl } = await scriptService(() => ({ projects: [] }));
    const model = await connectModel({ baseUrl });
    const current = { account: accountId(model.account), projectId: 'shop', branchId: 'br-main' };
    const workFolders = { states: [], shown: { work: { state: { current } } } };
    const context = commandContext(model, { workFolders, computesView: fakeView(selection) });
    return branchArgument(context, argument);
  };

  it('is that of the env file', async () => {
    assert.deepEqual(await argumentWith([]), main);
    assert.deepEqual(await argumentWith([main]), main);
    assert.deepEqual(await argumentWith([{ kind: 'project', projectId: 'shop' }]), main);
  });

  it('is asked for if a row of another branch is selected, whose data the user may mean', async () => {
    const column = {
      ...ofOther,
      kind: 'column',
      database: 'app',
      schema: 'public',
      table: 'users',
      name: 'id',
    };
    for (const row of [ofOther, column, { ...ofOther, kind: 'snapshot', snapshotId: 'snap-1' }])
      assert.equal(await argumentWith([row]), undefined);
  });

  it('is that of the row on which it was called', async () => {
    const other = { ...main, branchId: 'br-try' };
    assert.deepEqual(await argumentWith([main], other), other);
  });
});
