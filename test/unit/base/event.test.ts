import assert from 'node:assert/strict';
import { DisposableStore } from '../../../src/base/disposable.ts';
import { Emitter } from '../../../src/base/event.ts';

describe('Emitter', () => {
  it('tells every listener until it is disposed', () => {
    const emitter = new Emitter<number>();
    const heard: string[] = [];
    const first = emitter.event((value) => heard.push(`first ${value}`));
    emitter.event((value) => heard.push(`second ${value}`));
    emitter.fire(1);
    first.dispose();
    emitter.fire(2);
    emitter.dispose();
    emitter.fire(3);
    assert.deepEqual(heard, ['first 1', 'second 1', 'second 2']);
  });

  it('lets a listener remove itself and add others while it is told', () => {
    const emitter = new Emitter<void>();
    let heard = 0;
    const listening = emitter.event(() => {
      heard += 1;
      listening.dispose();
      emitter.event(() => (heard += 10));
    });
    emitter.fire();
    assert.equal(heard, 1);
    emitter.fire();
    assert.equal(heard, 11);
  });
});

describe('DisposableStore', () => {
  it('ends what it holds in reverse order and once', () => {
    const ended: string[] = [];
    const store = new DisposableStore();
    for (const name of ['a', 'b']) store.add({ dispose: () => ended.push(name) });
    store.dispose();
    store.dispose();
    assert.deepEqual(ended, ['b', 'a']);
  });

  it('ends at once what comes after its own end', () => {
    const store = new DisposableStore();
    store.dispose();
    let ended = false;
    store.add({ dispose: () => (ended = true) });
    assert.equal(ended, true);
  });
});
