import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { DisposableStore, toDisposable } from '../../../src/base/disposable.ts';
import { Emitter } from '../../../src/base/event.ts';

describe('Emitter', () => {
  it('calls each listener until it is disposed', () => {
    const emitter = new Emitter<number>();
    const received: string[] = [];
    const first = emitter.event((value) => received.push(`first ${value}`));
    emitter.event((value) => received.push(`second ${value}`));
    emitter.fire(1);
    first.dispose();
    emitter.fire(2);
    emitter.dispose();
    emitter.fire(3);
    assert.deepEqual(received, ['first 1', 'second 1', 'second 2']);
  });

  it('calls a function once for each subscription', () => {
    const emitter = new Emitter<void>();
    let received = 0;
    const listener = () => (received += 1);
    const first = emitter.event(listener);
    emitter.event(listener);
    emitter.fire();
    first.dispose();
    emitter.fire();
    assert.equal(received, 3);
  });

  it('lets a listener remove itself and add others', () => {
    const emitter = new Emitter<void>();
    let received = 0;
    const listening = emitter.event(() => {
      received += 1;
      listening.dispose();
      emitter.event(() => (received += 10));
    });
    emitter.fire();
    assert.equal(received, 1);
    emitter.fire();
    assert.equal(received, 11);
  });
});

describe('an Emitter whose listener throws', () => {
  it('calls the other listeners and leaves the error to the host', () => {
    const emitter = new Emitter<void>();
    const error = new Error('a bug');
    let received = 0;
    emitter.event(() => {
      throw error;
    });
    emitter.event(() => (received += 1));
    const queue = mock.method(globalThis, 'queueMicrotask', () => undefined);
    try {
      emitter.fire();
    } finally {
      queue.mock.restore();
    }
    assert.equal(received, 1);
    const [reported] = queue.mock.calls[0]?.arguments ?? [];
    assert.throws(() => reported?.(), error);
  });
});

describe('toDisposable', () => {
  it('ends only once', () => {
    let ended = 0;
    const disposable = toDisposable(() => (ended += 1));
    disposable.dispose();
    disposable.dispose();
    assert.equal(ended, 1);
  });
});

describe('DisposableStore', () => {
  it('disposes its members in reverse order, and once', () => {
    const ended: string[] = [];
    const store = new DisposableStore();
    for (const name of ['a', 'b']) store.add({ dispose: () => ended.push(name) });
    store.dispose();
    store.dispose();
    assert.deepEqual(ended, ['b', 'a']);
  });

  it('disposes at once a member that is added later', () => {
    const store = new DisposableStore();
    store.dispose();
    let ended = false;
    store.add({ dispose: () => (ended = true) });
    assert.equal(ended, true);
  });
});
