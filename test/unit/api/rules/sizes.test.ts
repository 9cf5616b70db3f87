import assert from 'node:assert/strict';
import {
  COMPUTE_SIZES,
  computeSize,
  DEFAULT_SIZE,
  isFixedSize,
  maxConnections,
  POOLED_CONNECTIONS,
  SHARED_BUFFERS_MB,
  sizeProblem,
  sizesOfPlan,
} from '../../../../src/api/rules/sizes.ts';

// CU, vCPU, RAM in GB, file cache in GB, max_connections.
const TABLE = [
  [0.25, 0.25, 1, 0.8, 112],
  [0.5, 0.5, 2, 1.6, 225],
  [1, 1, 4, 3.2, 450],
  [2, 2, 8, 6.4, 901],
  [3, 3, 12, 9.6, 1351],
  [4, 4, 16, 12.8, 1802],
  [5, 5, 20, 16, 2253],
  [6, 6, 24, 19.2, 2703],
  [7, 7, 28, 22.4, 3154],
  [8, 8, 32, 25.6, 3604],
  [9, 9, 36, 28.8, 4000],
  [10, 10, 40, 32, 4000],
] as const;

describe('compute sizes', () => {
  for (const [cu, vcpu, ramGb, fileCacheGb, connections] of TABLE) {
    it(`${cu} CU is as in the table`, () =>
      assert.deepEqual(computeSize(cu), { cu, vcpu, ramGb, fileCacheGb, maxConnections: connections }));
  }

  it('are those of the table', () => {
    assert.deepEqual(
      COMPUTE_SIZES.map(({ cu }) => cu),
      TABLE.map(([cu]) => cu),
    );
    for (const cu of [0, 0.1, 0.75, 1.5, 11, -1, Number.NaN]) assert.equal(computeSize(cu), undefined);
  });

  it('share the default and the limits', () => {
    assert.deepEqual(DEFAULT_SIZE, { min: 0.25, max: 0.25 });
    assert.deepEqual([SHARED_BUFFERS_MB, POOLED_CONNECTIONS], [128, 10_000]);
  });

  it('determine max_connections by the minimum of a range', () => {
    assert.equal(maxConnections(0.25), 112);
    assert.equal(maxConnections(0.3), undefined);
  });

  it('of the free plan end at 1 GB', () => {
    assert.deepEqual(
      sizesOfPlan('free').map(({ cu }) => cu),
      [0.25],
    );
    assert.equal(sizesOfPlan('paid').length, TABLE.length);
  });

  const problems = [
    [0.25, 10, 'paid', undefined],
    [2, 2, 'paid', undefined],
    [2, 1, 'paid', 'min-above-max'],
    [0.3, 1, 'paid', 'not-a-size'],
    [1, 11, 'paid', 'not-a-size'],
    [0.25, 0.25, 'free', undefined],
    [0.25, 0.5, 'free', 'above-plan'],
  ] as const;
  for (const [min, max, plan, problem] of problems) {
    it(`${min} to ${max} on the ${plan} plan: ${problem ?? 'allowed'}`, () =>
      assert.equal(sizeProblem({ min, max }, plan), problem));
  }

  it('are fixed when minimum and maximum are equal', () => {
    assert.ok(isFixedSize({ min: 2, max: 2 }));
    assert.ok(!isFixedSize({ min: 1, max: 2 }));
  });
});
