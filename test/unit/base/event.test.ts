import assert from 'node:assert/strict';
import { DisposableStore } from '../../../src/base/disposable.ts';
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
