import assert from 'node:assert/strict';
import { redrawWhileSeen } from '../../../src/ui/tree/aging.ts';
import { FakeClock } from '../../helpers/fakeClock.ts';

describe('Rows that grow old', () => {
  it('are drawn anew each minute and when they are seen again, and never while they are not', () => {
    const clock = new FakeClock();
    const listeners = new Set<() => void>();
    const view = {
      visible: true,
      onDidChangeVisibility(listener: () => void) {
        listeners.add(listener);
        return { dispose: () => listeners.delete(listener) };
      },
    };
    const see = (visible: boolean) => {
      view.visible = visible;
      for (const listener of listeners) listener();
    };
    let drawn = 0;
    const aging = redrawWhileSeen(view as never, () => (drawn += 1), clock);
    assert.equal(clock.next(), 60_000);
    assert.equal(drawn, 1);
    see(false);
    assert.deepEqual(clock.waits, []);
    see(true);
    assert.equal(drawn, 2);
    assert.deepEqual(clock.waits, [60_000]);
    aging.dispose();
    assert.deepEqual([clock.waits, listeners.size], [[], 0]);
  });
});
