import assert from 'node:assert/strict';
import { CallOrder } from '../../../../src/extension/agents/callOrder.ts';

const never = new AbortController().signal;
const own = { projectId: 'shop', branchId: 'br-own' };

describe('The order of calls', () => {
  /** Sends calls at once. @returns those that have begun, and functions to end them */
  const send = async (calls: readonly (readonly [tool: string, input: object])[], signal = never) => {
    const order = new CallOrder();
    const begun: number[] = [];
    const ends: (() => Promise<void>)[] = [];
    const results = calls.map(([tool, input], index) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const result = order.run(tool, input, signal, async () => {
        begun.push(index);
        await promise;
        return index;
      });
      ends.push(async () => {
        resolve();
        await result.catch(() => undefined);
        await new Promise((done) => setImmediate(done));
      });
      return result;
    });
    await new Promise((resolve) => setImmediate(resolve));
    return { begun, ends, results };
  };

  it('is that of their arrival, for the changes of a branch', async () => {
    const change = ['runSql', { ...own, sql: '', write: true }] as const;
    const { begun, ends, results } = await send([change, change, ['resetBranch', own], change]);
    assert.deepEqual(begun, [0]);
    for (const [index, end] of ends.entries()) {
      assert.deepEqual(begun, [0, 1, 2, 3].slice(0, index + 1));
      await end();
    }
    assert.deepEqual(await Promise.all(results), [0, 1, 2, 3]);
  });

  it('lets what only reads run at once, after the changes before it', async () => {
    const read = ['runSql', { ...own, sql: '' }] as const;
    const { begun, ends } = await send([
      ['readSql', own],
      read,
      ['undo', own],
      ['undo', { ...own, to: 'x' }],
      read,
      ['compareSchema', own],
    ]);
    assert.deepEqual(begun, [0, 1, 2]);
    await ends[0]?.();
    await ends[2]?.();
    assert.deepEqual(begun, [0, 1, 2]);
    await ends[1]?.();
    assert.deepEqual(begun, [0, 1, 2, 3]);
    await ends[3]?.();
    assert.deepEqual(begun, [0, 1, 2, 3, 4, 5]);
  });

  it('does not make another branch, a list or a creation wait', async () => {
    const other = { projectId: 'shop', branchId: 'br-other' };
    const { begun } = await send([
      ['resetBranch', own],
      ['resetBranch', other],
      ['listBranches', {}],
      ['createBranch', { name: 'x' }],
      ['createBranch', {}],
      ['noTool', {}],
    ]);
    assert.deepEqual(begun, [0, 1, 2, 3, 4, 5]);
  });

  it('holds for the computes of a project, whose branches are not known here', async () => {
    const compute = { projectId: 'shop', computeId: 'ep-1' };
    const { begun, ends } = await send([
      ['runSql', { ...own, write: true }],
      ['suspendCompute', compute],
      ['readSql', own],
      ['suspendCompute', { ...compute, projectId: 'blog' }],
    ]);
    assert.deepEqual(begun, [0, 3]);
    await ends[0]?.();
    assert.deepEqual(begun, [0, 3, 1]);
    await ends[1]?.();
    assert.deepEqual(begun, [0, 3, 1, 2]);
  });

  it('continues after a failed call, and without one that is canceled while it waits', async () => {
    const order = new CallOrder();
    const { promise, reject } = Promise.withResolvers<void>();
    const controller = new AbortController();
    const run = (signal: AbortSignal, call: () => Promise<unknown>) =>
      order.run('resetBranch', own, signal, call);
    const failed = assert.rejects(
      run(never, () => promise),
      /failed/,
    );
    const canceled = assert.rejects(
      run(controller.signal, async () => assert.fail('begun')),
      { name: 'AbortError' },
    );
    const last = run(never, async () => 'done');
    controller.abort();
    await canceled;
    reject(new Error('failed'));
    await failed;
    assert.equal(await last, 'done');
  });
});
