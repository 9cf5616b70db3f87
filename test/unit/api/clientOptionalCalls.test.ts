/** The calls of computes that the specification does not promise. */
import assert from 'node:assert/strict';
import { isRejected } from '../../../src/api/errors.ts';
import { withService } from './stubService.ts';

const compute = {
  id: 'ep-1',
  host: 'ep-1.example',
  project_id: 'shop',
  branch_id: 'br-main',
  type: 'read_only',
  current_state: 'init',
};

describe('Client', () => {
  for (const [name, action] of [
    ['startCompute', 'start'],
    ['suspendCompute', 'suspend'],
  ] as const) {
    it(`${name} returns the compute and its operations`, () =>
      withService(
        () => ({ json: { endpoint: compute, operations: [] } }),
        async (client, seen) => {
          assert.deepEqual(await client[name]('shop', 'ep-1'), { compute, operations: [] });
          assert.deepEqual(
            seen.map(({ method, path }) => `${method} ${path}`),
            [`POST /projects/shop/endpoints/ep-1/${action}`],
          );
        },
      ));

    it(`${name} throws if the service doesn't offer it`, () =>
      withService(
        () => ({ status: 405, json: { message: 'no' } }),
        async (client) =>
          await assert.rejects(client[name]('shop', 'ep-1'), (error) => isRejected(error, 405)),
      ));
  }

  it('findCompute returns a single compute with its number of connections', () =>
    withService(
      () => ({ json: { endpoint: { ...compute, connections: 3 } } }),
      async (client) =>
        assert.deepEqual(await client.findCompute('shop', 'ep-1'), { ...compute, connections: 3 }),
    ));

  for (const status of [404, 405])
    it(`findCompute returns undefined for status ${status}`, () =>
      withService(
        () => ({ status, json: { message: 'no' } }),
        async (client) => assert.equal(await client.findCompute('shop', 'ep-1'), undefined),
      ));
});
