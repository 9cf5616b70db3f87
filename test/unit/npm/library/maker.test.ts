import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import {
  isMakerRunning,
  decodeMaker,
  encodeMaker,
  describeOwnMaker,
  parseMaker,
} from '../../../../src/npm/library/maker.ts';
import { atEndOfTest } from '../../../helpers/atEndOfTest.ts';
import { until } from '../../../workbench/until.ts';

/** Says who it is, and then does nothing else. */
async function blockedThread() {
  const code = `const { parentPort } = require('node:worker_threads');
    import(${JSON.stringify(import.meta.resolve('../../../../src/npm/library/maker.ts'))}).then(async ({ describeOwnMaker }) => {
      parentPort.postMessage(await describeOwnMaker());
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const thread = new Worker(code, { eval: true });
  atEndOfTest(async () => thread.terminate());
  const [maker] = await once(thread, 'message');
  return { thread, maker };
}

describe('What has made a branch', () => {
  it('runs if it is this process', async () => {
    assert.equal(await isMakerRunning(await describeOwnMaker()), true);
  });

  it('is read from an annotation, unless another program has written that', async () => {
    const own = { ...(await describeOwnMaker()), port: 65535 };
    assert.deepEqual(parseMaker(JSON.stringify(own)), own);
    for (const text of ['x', 'null', '{}', JSON.stringify({ ...own, port: 65536 })])
      assert.equal(parseMaker(text), undefined, text);
  });

  it('is recognized by a part of a name', async () => {
    const own = { ...(await describeOwnMaker()), port: 65535 };
    const name = encodeMaker(own);
    assert.match(name, /^[0-9a-z_]{1,40}$/);
    assert.deepEqual(decodeMaker(name), { ...own, startedAt: Math.round(own.startedAt) });
    assert.equal(await isMakerRunning(decodeMaker(encodeMaker({ ...own, port: undefined }))), true);
    const another = { ...own, port: undefined, startedAt: 0, ...(own.uniqueId && { uniqueId: 'another' }) };
    assert.equal(await isMakerRunning(decodeMaker(encodeMaker(another))), false);
  });

  it('has ended if it is another process with the same pid', async () => {
    assert.equal(await isMakerRunning({ pid: process.pid, startedAt: 0, uniqueId: 'another' }), false);
  });

  it('runs if it is a thread that is blocked, until that is terminated', async () => {
    const [seen, other] = [await blockedThread(), await blockedThread()];
    // More often than the system keeps new connections of a blocked thread.
    for (let count = 0; count < 1000; count += 1) assert.equal(await isMakerRunning(seen.maker), true);
    await other.thread.terminate();
    assert.equal(await isMakerRunning(other.maker), false);
    assert.equal(await isMakerRunning(seen.maker), true);
    await seen.thread.terminate();
    await until('the end of the connection', async () => !(await isMakerRunning(seen.maker)));
  });
});
