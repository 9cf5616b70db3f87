import assert from 'node:assert/strict';
import type { Compute } from '../../../../src/api/records/records.ts';
import { onlyChanged } from '../../../../src/model/operations/computeActions.ts';

const compute: Compute = {
  id: 'ep-one',
  host: 'ep-one.local',
  project_id: 'shop',
  branch_id: 'br-main',
  type: 'read_write',
  current_state: 'idle',
  autoscaling_limit_min_cu: 1,
  autoscaling_limit_max_cu: 4,
};

describe('onlyChanged', () => {
  it('returns only attributes that differ', () => {
    const wanted = { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 2, name: 'orders' };
    assert.deepEqual(onlyChanged(compute, wanted), { autoscaling_limit_max_cu: 2, name: 'orders' });
  });

  it('returns undefined if nothing differs', () => {
    assert.equal(onlyChanged(compute, { autoscaling_limit_min_cu: 1, branch_id: 'br-main' }), undefined);
  });

  it('assumes the default for attributes that the record lacks', () => {
    const defaults = { suspend_timeout_seconds: 0, pooler_enabled: false, disabled: false };
    assert.equal(onlyChanged(compute, defaults), undefined);
    assert.deepEqual(onlyChanged(compute, { disabled: true }), { disabled: true });
    assert.deepEqual(onlyChanged(compute, { suspend_timeout_seconds: -1 }), { suspend_timeout_seconds: -1 });
  });

  it('compares every attribute with the record', () => {
    const full: Compute = {
      ...compute,
      name: 'orders',
      suspend_timeout_seconds: 300,
      pooler_enabled: true,
      disabled: true,
      settings: { pg_settings: { work_mem: '8MB' } },
    };
    const same = {
      branch_id: 'br-main',
      autoscaling_limit_min_cu: 1,
      autoscaling_limit_max_cu: 4,
      name: 'orders',
      suspend_timeout_seconds: 300,
      pooler_enabled: true,
      disabled: true,
      settings: { pg_settings: { work_mem: '8MB' } },
    };
    assert.equal(onlyChanged(full, same), undefined);
    assert.equal(onlyChanged(compute, { name: '', settings: { pg_settings: {} } }), undefined);
    assert.deepEqual(onlyChanged(full, { name: '' }), { name: '' });
  });

  it('returns a size that the record lacks', () => {
    const { autoscaling_limit_min_cu: _, autoscaling_limit_max_cu: __, ...sizeless } = compute;
    const wanted = { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 };
    assert.deepEqual(onlyChanged(sizeless, wanted), wanted);
  });
});
