import { systemClock } from '../../src/base/clock.ts';
import { FakeClock } from './fakeClock.ts';

/** For models connected to a local service, whose operations take real time. */
export class RealClock extends FakeClock {
  override now = () => systemClock.now();
  override after = (milliseconds: number, run: () => void) => systemClock.after(milliseconds, run);
}
