/** Milliseconds by which two clocks may differ. */
const TOLERANCE = 5_000;
const AFTER_START = 60_000;
const AFTER_JUMP = 600_000;

/**
 * Says whether the time of the machine is good enough to delete what has expired by it. For a while, it isn't after the clock was
 * set, the machine has slept, or the service has started: a machine that wakes up may have a wrong time until it has asked for it.
 */
export class ClockWatch {
  readonly #interval: number;
  #last: number;
  #untrusted = AFTER_START;

  /** @param interval milliseconds between two checks */
  constructor(interval: number, now: number) {
    this.#interval = interval;
    this.#last = now;
  }

  /** Call it at each interval. @param now milliseconds since 1970 */
  check(now: number): boolean {
    const difference = now - this.#last - this.#interval;
    this.#last = now;
    this.#untrusted =
      Math.abs(difference) > TOLERANCE ? AFTER_JUMP : Math.max(0, this.#untrusted - this.#interval);
    return this.isTrusted;
  }

  /** Whether the clock was right at the last check. */
  get isTrusted(): boolean {
    return this.#untrusted === 0;
  }
}
