import { toDisposable, type Disposable } from './disposable.ts';

/** The time and timers. Tests inject a clock that they advance. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  after(milliseconds: number, run: () => void): Disposable;
}

export const systemClock: Clock = {
  /**
   * Use this only to measure durations: changes to the system clock don't affect it, and on Linux it stands still while the machine
   * sleeps. Compare times of the service with `Date.now()`.
   */
  now: () => performance.timeOrigin + performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return toDisposable(() => clearTimeout(timer));
  },
};

export const pause = (milliseconds: number, clock: Clock = systemClock): Promise<void> =>
  new Promise((resolve) => {
    clock.after(milliseconds, resolve);
  });
