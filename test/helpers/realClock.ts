import { systemClock } from '../../src/base/clock.ts';
import { FakeClock } from './fakeClock.ts';

/** Shorter waits are for the next poll. Milliseconds. */
const SHORTEST_LIMIT = 5_000;

/** For models connected to a local service, whose operations take real time. Polls ten times as often. */
export class RealClock extends FakeClock {
  override now = () => systemClock.now();
  override after = (milliseconds: number, run: () => void) =>
    systemClock.after(milliseconds < SHORTEST_LIMIT ? milliseconds / 10 : milliseconds, run);
}
