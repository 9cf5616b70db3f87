import assert from 'node:assert/strict';
import type { Compute, Operation } from '../../../../src/api/records/records.ts';
import { operationsKnownSince, lastDayActivity } from '../../../../src/extension/operations/activitySpans.ts';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const HOUR = 60 * 60_000;
const at = (hoursAgo: number) => new Date(NOW - hoursAgo * HOUR).toISOString();
const compute = (fields: object) =>
  ({ id: 'ep-1', current_state: 'idle', created_at: at(100), ...fields }) as Compute;
const operation = (action: string, hoursAgo: number, fields: object = {}) =>
  ({ action, endpoint_id: 'ep-1', status: 'finished', created_at: at(hoursAgo), ...fields }) as Operation;

/** Such as `idle 20, active 4`, in hours. */
function day(of: Compute, operations: readonly Operation[], since?: number): string {
  const { spans, starts } = lastDayActivity(of, { operations, now: NOW, knownSince: since });
  const first = spans[0]?.from;
  assert.equal(first, NOW - 24 * HOUR);
  for (const [index, span] of spans.entries()) assert.equal(span.to, spans[index + 1]?.from ?? NOW);
  const parts = spans.map(({ phase, from, to }) => `${phase} ${(to - from) / HOUR}`);
  return [...parts, `${starts.filter(({ isRestart }) => !isRestart).length} starts`].join(', ');
}

describe('The last day of a compute', () => {
  it('has no gap, and begins with what the first operation ended', () => {
    assert.equal(day(compute({}), []), 'idle 24, 0 starts');
    assert.equal(day(compute({ current_state: 'active' }), []), 'active 24, 0 starts');
    const operations = [operation('suspend_compute', 2), operation('start_compute', 6)];
    assert.equal(day(compute({}), operations), 'idle 18, active 4, idle 2, 1 starts');
    assert.equal(day(compute({}), [operation('suspend_compute', 2)]), 'active 22, idle 2, 0 starts');
  });

  it('is unknown before the compute existed, or the oldest operation that the service has', () => {
    assert.equal(day(compute({ created_at: at(3) }), []), 'unknown 21, idle 3, 0 starts');
    const operations = [operation('start_compute', 1, { endpoint_id: 'ep-2' })];
    assert.equal(operationsKnownSince({ operations, isComplete: true }), undefined);
    const since = operationsKnownSince({ operations, isComplete: false });
    assert.equal(day(compute({}), operations, since), 'unknown 23, idle 1, 0 starts');
  });

  it('shows how long starts took, and that one failed', () => {
    const slow = operation('start_compute', 6, { total_duration_ms: HOUR });
    assert.equal(
      day(compute({ current_state: 'active' }), [slow]),
      'idle 18, starting 1, active 5, 1 starts',
    );
    const failed = operation('start_compute', 6, { status: 'failed' });
    assert.equal(day(compute({}), [failed]), 'idle 24, 0 starts');
    const pending = operation('start_compute', 1, { status: 'running' });
    assert.equal(day(compute({}), [pending]), 'idle 23, starting 1, 1 starts');
  });

  it('counts no restart as a start', () => {
    const operations = [
      operation('start_compute', 1),
      operation('suspend_compute', 1),
      operation('start_compute', 5),
    ];
    assert.equal(day(compute({ current_state: 'active' }), operations), 'idle 19, active 5, 1 starts');
  });

  it('ends with the last use if the service ended', () => {
    const operations = [operation('start_compute', 6)];
    assert.equal(day(compute({ last_active: at(4) }), operations), 'idle 18, active 2, idle 4, 1 starts');
  });
});
