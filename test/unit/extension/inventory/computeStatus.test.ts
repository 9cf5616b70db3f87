import assert from 'node:assert/strict';
import {
  compareComputes,
  isSettled,
  computeStatus,
} from '../../../../src/extension/inventory/computeStatus.ts';
import { computeRecord } from '../../../helpers/scriptedService.ts';

describe('computeStatus', () => {
  const rows = [
    ['init', { current_state: 'init' }],
    ['init', { current_state: 'init', pending_state: 'active' }],
    ['active', { current_state: 'active' }],
    ['active', { current_state: 'active', pending_state: null }],
    ['pending', { current_state: 'active', pending_state: 'idle' }],
    ['pending', { current_state: 'active', pending_state: 'active' }],
    ['pending', { current_state: 'idle', pending_state: 'active', disabled: true }],
    ['idle', { current_state: 'idle' }],
    ['disabled', { current_state: 'idle', disabled: true }],
    ['unknown', { current_state: 'hibernating' }],
  ] as const;
  for (const [status, record] of rows) {
    it(`is ${status} for ${JSON.stringify(record)}`, () => assert.equal(computeStatus(record), status));
  }
});

describe('isSettled', () => {
  it('is false during the first start and with a pending state', () => {
    assert.equal(isSettled({ current_state: 'init' }), false);
    assert.equal(isSettled({ current_state: 'active', pending_state: 'idle' }), false);
    assert.equal(isSettled({ current_state: 'hibernating', pending_state: null }), true);
  });
});

describe('compareComputes', () => {
  it('sorts the primary first, then by name, then by id', () => {
    const computes = [
      computeRecord('ep-c', { type: 'read_only' }),
      computeRecord('ep-b', { type: 'read_only', name: 'alpha' }),
      computeRecord('ep-z'),
      computeRecord('ep-a', { type: 'read_only', name: 'alpha' }),
    ];
    assert.deepEqual(
      computes.toSorted(compareComputes).map(({ id }) => id),
      ['ep-z', 'ep-a', 'ep-b', 'ep-c'],
    );
  });
});
