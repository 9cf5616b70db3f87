import type { ServiceClock } from './serviceClock.ts';

/** Milliseconds by which two clocks may differ. */
const TOLERANCE = 5_000;
/** A check that is later than this counts as a sleep of the machine. An overloaded machine is some seconds late. */
const SLEEP = 60_000;
const AFTER_START = 60_000;
const AFTER_JUMP = 600_000;

/**
 * Says whether the time of the machine is good enough to delete what has expired by it. For a while, it isn't after the clock was
 * set, the machine has slept, or the service has started: a machine that wakes up may have a wrong time until it has asked for it.
 *
 * The time is compared with a steady one, because timers are late on an overloaded machine. On Linux, the steady time stands still during
 * a sleep (CLOCK_MONOTONIC), which then looks like a clock that was set. On macOS (mach_continuous_time) and Windows
 * (QueryPerformanceCounter) it continues, so that a sleep is only a long time between two checks.
 */
export class ClockWatch {
  readonly #interval: number;
  readonly #clock: ServiceClock;
  #last: number;
  #steadyLast: number;
  #untrusted = AFTER_START;

  /** @param interval milliseconds between two checks */
  constructor(interval: number, clock: ServiceClock) {
    this.#interval = interval;
    this.#clock = clock;
    this.#last = clock.now();
    this.#steadyLast = clock.steadyNow();
  }

  /** Call it at each interval. */
  check(): boolean {
    const [now, steadyNow] = [this.#clock.now(), this.#clock.steadyNow()];
    const passed = steadyNow - this.#steadyLast;
    const difference = now - this.#last - passed;
    [this.#last, this.#steadyLast] = [now, steadyNow];
    const isJump = Math.abs(difference) > TOLERANCE || passed - this.#interval > SLEEP;
    this.#untrusted = isJump ? AFTER_JUMP : Math.max(0, this.#untrusted - this.#interval);
    return this.isTrusted;
  }

  /** Whether the clock was right at the last check. */
  get isTrusted(): boolean {
    return this.#untrusted === 0;
  }
}
