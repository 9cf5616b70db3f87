import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { PendingChange } from '../../../../../src/extension/operations/pendingChange.ts';

const { changeEndText } = await import('../../../../../src/extension/operations/ui/changeText.ts');

const change: PendingChange = {
  id: 'op-1',
  account: 'http://127.0.0.1:1/api/v2',
  verb: 'create',
  projectId: 'shop',
  name: 'Shop',
  operations: [],
  since: 0,
};

describe('changeEndText', () => {
  it('says that a project could not be created if the service has removed it', () => {
    const text = changeEndText({ change, outcome: 'lost', reason: undefined });
    assert.equal(text, 'Creating Shop failed: the service gave no reason');
  });

  it('names the compute, branch or project by its id if the name has no visible characters', () => {
    for (const name of [undefined, null, '', ' ', '\u200b'])
      for (const ids of [{}, { branchId: 'br-dev' }, { branchId: 'br-dev', computeId: 'ep-dev' }])
        assert.equal(
          changeEndText({ change: { ...change, ...ids, name }, outcome: 'finished' }),
          `Created ${Object.values(ids).at(-1) ?? 'shop'}`,
        );
  });

  it('says that the project of another change no longer exists', () => {
    const inProject: PendingChange = { ...change, branchId: 'br-dev', name: 'dev' };
    const text = changeEndText({ change: inProject, outcome: 'lost', reason: undefined });
    assert.equal(text, 'Creating dev: the project no longer exists.');
  });
});
