import assert from 'node:assert/strict';
import { branchCalls } from '../../../helpers/branchCalls.ts';
import { endOperations, startInProcess } from '../inProcess.ts';
import { BRANCHES, MAIN, PROJECT } from './sampleProject.ts';

describe('A branch that is restored to its own history', () => {
  it('keeps its parent, also when it goes back to what was preserved', async () => {
    const test = await startInProcess();
    const api = branchCalls(test);
    const settle = () => endOperations(test, PROJECT);
    const at = (milliseconds: number) => new Date(test.clock.now() + milliseconds).toISOString();
    // It can't have child branches.
    const branch = { parent_id: MAIN, expires_at: at(3_600_000) };
    const { id } = (await api.send('POST', BRANCHES, { branch })).branch;
    await settle();
    const start = at(-1000);
    test.engine.history = async () => ({ start, isWhole: false, startLsn: '0/1', endLsn: '0/2' });
    const restore = async (body: object, status: number) => {
      await api.send('POST', `${BRANCHES}/${id}/restore`, body, status);
      await settle();
    };
    const own = { source_branch_id: id };
    await restore({ ...own, preserve_under_name: 'present' }, 422);
    await restore({ ...own, source_timestamp: at(0) }, 422);
    await restore({ ...own, source_timestamp: at(-2000), preserve_under_name: 'present' }, 422);
    await restore({ ...own, source_timestamp: at(60_000), preserve_under_name: 'present' }, 422);
    await restore({ ...own, source_timestamp: at(0), preserve_under_name: 'present' }, 200);
    const preserved = (await api.branches(PROJECT)).find(({ name }) => name === 'present');
    // A protected branch may lose nothing.
    await api.send('PATCH', `${BRANCHES}/${id}`, { branch: { expires_at: null, protected: true } });
    await restore({ source_branch_id: preserved?.id }, 422);
    await restore({ source_branch_id: preserved?.id, preserve_under_name: 'past' }, 200);
    assert.equal((await api.branches(PROJECT)).find((each) => each.id === id)?.protected, true);
    await api.send('PATCH', `${BRANCHES}/${id}`, { branch: { protected: false } });
    assert.equal((await api.branches(PROJECT)).find((each) => each.id === id)?.parent_id, MAIN);
    await api.send('DELETE', `${BRANCHES}/${preserved?.id}`);
  });
});
