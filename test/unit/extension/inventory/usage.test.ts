import assert from 'node:assert/strict';
import { usageStep } from '../../../../src/extension/inventory/usage.ts';

describe('usageStep', () => {
  it('changes with each tenth of an hour of either counter, of a branch or a project', () => {
    assert.equal(usageStep({}), 0);
    for (const counter of ['compute_time_seconds', 'active_time_seconds', 'cpu_used_sec', 'active_time']) {
      assert.equal(usageStep({ [counter]: 359 }), 0, counter);
      assert.equal(usageStep({ [counter]: 360 }), 1, counter);
    }
    assert.equal(usageStep({ compute_time_seconds: 720, active_time_seconds: 360 }), 2);
  });
});
