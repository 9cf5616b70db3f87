import assert from 'node:assert/strict';
import { isBranchReady } from '../../../../src/extension/inventory/branchStatus.ts';
import { nameUnlessId } from '../../../../src/extension/inventory/names.ts';

const branch = { id: 'br-main', name: 'main' };

describe('isBranchReady', () => {
  it('is true for a branch with its data, also if the service does not say so', () => {
    for (const state of ['ready', 'archived', null, undefined])
      assert.equal(isBranchReady({ ...branch, current_state: state }), true, String(state));
    for (const state of ['init', 'resetting', 'melting'])
      assert.equal(isBranchReady({ ...branch, current_state: state }), false, state);
  });
});

describe('nameUnlessId', () => {
  it('is the name, unless it is empty or the id', () => {
    assert.equal(nameUnlessId(branch), 'main');
    assert.equal(nameUnlessId({ ...branch, name: '' }), undefined);
    assert.equal(nameUnlessId({ ...branch, name: 'br-main' }), undefined);
    assert.equal(nameUnlessId(undefined), undefined);
  });
});
