import assert from 'node:assert/strict';
import { growthIn, type Measures } from '../../soak/measures.ts';

/** Measurements of five minutes. For eight of eleven, a client has a separate service and two servers. */
const measurements = (
  leak: Partial<Record<'service' | 'servers' | 'descriptors' | 'ports' | 'files', number>>,
) =>
  Array.from({ length: 30 }, (_, index): Measures => {
    const isInUse = index % 11 < 8;
    const at = (rest: number, used: number, each = 0) => (isInUse ? used : rest) + each * index;
    return {
      memory: { service: at(230, 330, leak.service), npx: at(62, 126), mcp: 90, window: 225 },
      descriptors: at(167, 220, leak.descriptors),
      servers: at(45, 54, leak.servers),
      ports: at(28, 32, leak.ports),
      files: at(6400, 7400, leak.files),
    };
  });

describe('growthIn', () => {
  it('finds no growth if the same is in use again and again', () =>
    assert.deepEqual(growthIn(measurements({})), []));

  // Each measurement is after about six uses.
  for (const [what, leak] of [
    ['MB of service', { service: 5 }],
    ['servers', { servers: 2 }],
    ['descriptors', { descriptors: 3 }],
    ['ports', { ports: 1 }],
    ['files', { files: 300 }],
  ] as const)
    it(`finds ${what} that grow with use`, () => {
      const [problem = '', ...others] = growthIn(measurements(leak));
      assert.deepEqual(others, []);
      assert.ok(problem.startsWith(`${what}: at least `), problem);
    });
});
