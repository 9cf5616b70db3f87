import { toDisposable, type Disposable } from './disposable.ts';

/** Time as the pollers see it, so that a test can let a day pass in no time. Milliseconds. */
export interface Clock {
  now(): number;
  after(milliseconds: number, run: () => void): Disposable;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return toDisposable(() => clearTimeout(timer));
  },
};

export const pause = (milliseconds: number, clock: Clock = systemClock): Promise<void> =>
  new Promise((resolve) => {
    clock.after(milliseconds, resolve);
  });
