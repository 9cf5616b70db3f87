import assert from 'node:assert/strict';
import { redrawRelativeTimes } from '../../../../src/ui/tree/relativeTime.ts';
import { FakeClock } from '../../../helpers/fakeClock.ts';

describe('redrawRelativeTimes', () => {
  it('redraws every minute and when the view becomes visible, never while it is hidden', () => {
    const clock = new FakeClock();
    const listeners = new Set<() => void>();
    const view = {
      visible: true,
      onDidChangeVisibility(listener: () => void) {
        listeners.add(listener);
        return { dispose: () => listeners.delete(listener) };
      },
    };
    const setVisible = (visible: boolean) => {
      view.visible = visible;
      for (const listener of listeners) listener();
    };
    let drawn = 0;
    const listener = redrawRelativeTimes(view as never, () => (drawn += 1), clock);
    assert.equal(clock.next(), 60_000);
    assert.equal(drawn, 1);
    setVisible(false);
    assert.deepEqual(clock.waits, []);
    setVisible(true);
    assert.equal(drawn, 2);
    assert.deepEqual(clock.waits, [60_000]);
    listener.dispose();
    assert.deepEqual([clock.waits, listeners.size], [[], 0]);
  });
});
