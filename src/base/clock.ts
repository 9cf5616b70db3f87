import { toDisposable, type Disposable } from './disposable.ts';

/** Time as the pollers see it, so that a test can let a day pass in no time. Milliseconds. */
export interface Clock {
  /** Since 1970. It never goes back and never jumps, whatever is done to the clock of the machine meanwhile. */
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
