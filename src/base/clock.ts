import { toDisposable, type Disposable } from './disposable.ts';

/** The time that pollers use, in milliseconds. In tests, a day passes at once. */
export interface Clock {
  /** Since 1970. Not affected by changes to the system clock. */
  now(): number;
  after(milliseconds: number, run: () => void): Disposable;
}

export const systemClock: Clock = {
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
