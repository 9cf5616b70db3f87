/** Readers and copies of a branch share its lock, and readers share a server. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { Postmaster } from '../../../../../src/service/postgres/server/postmaster.ts';
import { BranchLock } from '../../../../../src/service/postgres/branchData/branchLock.ts';

type TestLock = BranchLock<Pick<Postmaster, 'stop'>>;

/** A server that records its start and its end. */
function fakeServer(lock: TestLock, events: string[], problem?: string) {
  const start = async () => {
    events.push('start');
    if (problem !== undefined) throw new Error(problem);
    return { stop: async () => void events.push('stop') };
  };
  /** Work that uses the server until `end` is called. */
  return (name: string) => {
    const done = Promise.withResolvers<undefined>();
    const result = lock.shared(async () => lock.ownServer.use(start, async () => done.promise));
    void result.then(
      () => events.push(name),
      ({ message }: Error) => events.push(`${name}: ${message}`),
    );
    return { result, end: () => done.resolve(undefined) };
  };
}

describe('the lock of a branch', () => {
  let lock: TestLock;
  let events: string[];
  beforeEach(() => {
    lock = new BranchLock();
    events = [];
  });

  it('lets readers share one server, which ends before the lock is free', async () => {
    const read = fakeServer(lock, events);
    const first = read('first');
    await turn();
    const second = read('second');
    await turn();
    const primary = lock.exclusive(async () => events.push('primary'));
    first.end();
    await first.result;
    assert(lock.ownServer.isUsed);
    second.end();
    await primary;
    const order = events.filter((event) => event !== 'second');
    assert.deepEqual(order, ['start', 'first', 'stop', 'primary']);
    assert(!lock.ownServer.isUsed);
  });

  it('starts another server for later readers', async () => {
    const read = fakeServer(lock, events);
    for (const name of ['first', 'second']) {
      const { result, end } = read(name);
      end();
      await result;
    }
    assert.deepEqual(events, ['start', 'stop', 'first', 'start', 'stop', 'second']);
  });

  it('starts the server of readers after a copy that needs none', async () => {
    const copied = Promise.withResolvers<undefined>();
    const copy = lock.shared(async () => lock.ownServer.without(async () => copied.promise));
    await turn();
    const { result, end } = fakeServer(lock, events)('read');
    end();
    await turn();
    assert.deepEqual([events, lock.ownServer.isUsed], [[], true]);
    copied.resolve(undefined);
    await copy;
    await result;
    assert.deepEqual(events, ['start', 'stop', 'read']);
  });

  it('is free after a server that could not start', async () => {
    const reads = ['first', 'second'].map(fakeServer(lock, events, 'broken'));
    await Promise.allSettled(reads.map(async ({ result }) => result));
    await lock.exclusive(async () => undefined);
    assert.deepEqual(events, ['start', 'first: broken', 'second: broken']);
  });
});
