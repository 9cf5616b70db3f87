import { statusBarItems } from '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import type * as Announce from '../../../../src/ui/notifications/announce.ts';

/** Each bundle has a copy of the module. */
const copies = await Promise.all(
  ['app', 'commands'].map(
    (bundle): Promise<typeof Announce> => import(`../../../../src/ui/notifications/announce.ts?${bundle}`),
  ),
);

const reset = () => Reflect.deleteProperty(globalThis, 'hostedPostgresAnnouncements');

describe('announce', () => {
  beforeEach(reset);
  after(reset);

  const shown = () => [...statusBarItems.values()];

  it('shows each message for its whole time, even if another bundle announced the one before', () => {
    const clock = new FakeClock();
    copies[0]?.announce('first', 'check', clock);
    clock.pass(5000);
    copies[1]?.announce('second', 'check', clock);
    // A timer of the first message would end the second.
    while (clock.waits.length > 1) clock.next();
    assert.deepEqual(shown(), ['$(check) second']);
    clock.next();
    assert.deepEqual(shown(), []);
  });

  it('shows messages that come together one after the other, each long enough to be read', () => {
    const clock = new FakeClock();
    for (const message of ['first', 'second', 'third']) copies[0]?.announce(message, 'check', clock);
    assert.deepEqual(shown(), ['$(check) first']);
    assert.equal(clock.next(), 2000);
    assert.deepEqual(shown(), ['$(check) second']);
    assert.equal(clock.next(), 2000);
    assert.deepEqual(shown(), ['$(check) third']);
    assert.equal(clock.next(), 6000);
    assert.deepEqual(shown(), []);
  });
});
