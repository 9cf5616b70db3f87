import { statusBarItems } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { FakeClock } from '../../../../helpers/fakeClock.ts';
import type * as Announce from '../../../../../src/extension/window/ui/announce.ts';

describe('announce', () => {
  let announce: typeof Announce.announce;
  let tests = 0;

  // The module keeps when the last message was shown.
  beforeEach(async () => {
    const fresh: typeof Announce = await import(
      `../../../../../src/extension/window/ui/announce.ts?${(tests += 1)}`
    );
    announce = fresh.announce;
  });

  const shown = () => [...statusBarItems.values()];

  it('shows each message for its whole time, even if another was announced shortly before', () => {
    const clock = new FakeClock();
    announce('first', 'check', clock);
    clock.pass(5000);
    announce('second', 'check', clock);
    // A timer of the first message would end the second.
    while (clock.waits.length > 1) clock.next();
    assert.deepEqual(shown(), ['$(check) second']);
    clock.next();
    assert.deepEqual(shown(), []);
  });

  it('shows messages that come together one after the other, each long enough to be read', () => {
    const clock = new FakeClock();
    for (const message of ['first', 'second', 'third']) announce(message, 'check', clock);
    assert.deepEqual(shown(), ['$(check) first']);
    assert.equal(clock.next(), 2000);
    assert.deepEqual(shown(), ['$(check) second']);
    assert.equal(clock.next(), 2000);
    assert.deepEqual(shown(), ['$(check) third']);
    assert.equal(clock.next(), 6000);
    assert.deepEqual(shown(), []);
  });
});
