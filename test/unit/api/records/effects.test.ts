import assert from 'node:assert/strict';
import { changeEffect } from '../../../../src/api/records/effects.ts';
import type { ComputePatch } from '../../../../src/api/records/requests.ts';

const current = {
  branch_id: 'br-main',
  autoscaling_limit_min_cu: 0.25,
  autoscaling_limit_max_cu: 1,
  settings: { pg_settings: { work_mem: '4MB', jit: 'off' } },
  pooler_enabled: false,
  disabled: false,
};

describe('changeEffect', () => {
  const rows: readonly [string, ComputePatch, string][] = [
    ['nothing', {}, 'none'],
    ['the current values', { autoscaling_limit_min_cu: 0.25, branch_id: 'br-main', disabled: false }, 'none'],
    ['autosuspend', { suspend_timeout_seconds: 60 }, 'none'],
    ['a name', { name: 'reports' }, 'none'],
    ['the pooler', { pooler_enabled: true }, 'none'],
    ['a minimum', { autoscaling_limit_min_cu: 0.5 }, 'restart'],
    ['a maximum', { autoscaling_limit_max_cu: 2 }, 'restart'],
    ['a setting', { settings: { pg_settings: { work_mem: '8MB', jit: 'off' } } }, 'restart'],
    ['a removed setting', { settings: { pg_settings: { work_mem: '4MB' } } }, 'restart'],
    [
      'the same settings in another order',
      { settings: { pg_settings: { jit: 'off', work_mem: '4MB' } } },
      'none',
    ],
    ['a branch', { branch_id: 'br-other' }, 'move'],
    ['a branch and a size', { branch_id: 'br-other', autoscaling_limit_max_cu: 2 }, 'move'],
    ['disabling', { disabled: true, branch_id: 'br-other' }, 'disable'],
  ];
  for (const [what, change, effect] of rows) {
    it(`${what}: ${effect}`, () => assert.equal(changeEffect(current, change), effect));
  }

  it("returns 'none' for settings that were and stay empty", () => {
    const bare = { ...current, settings: undefined };
    assert.equal(changeEffect(bare, { settings: { pg_settings: {} } }), 'none');
  });

  it("returns 'none' for disabling a disabled compute", () =>
    assert.equal(changeEffect({ ...current, disabled: true }, { disabled: true }), 'none'));
});
