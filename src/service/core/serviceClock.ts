import { systemClock, type Clock } from '../../base/clock.ts';

/** The clock of the service, whose `now` is the time of the machine, because records have timestamps. */
export interface ServiceClock extends Clock {
  /** Milliseconds since any moment, which don't change when the clock is set. */
  steadyNow(): number;
}

export const serviceClock: ServiceClock = {
  ...systemClock,
  now: () => Date.now(),
  steadyNow: () => performance.now(),
};

/** Resolves after the delay, or at once when the signal is aborted. */
export function delay(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (milliseconds <= 0 || signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      timer.dispose();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.after(milliseconds, end);
    signal?.addEventListener('abort', end);
  });
}

/** Calls repeatedly until the returned function is called. */
export function callEvery(clock: Clock, milliseconds: number, call: () => void): () => void {
  const startTimer = () =>
    clock.after(milliseconds, () => {
      timer = startTimer();
      call();
    });
  let timer = startTimer();
  return () => timer.dispose();
}

/** Returns a time as ISO 8601, in UTC, with a `Z`. */
export const toTimestamp = (milliseconds: number): string => new Date(milliseconds).toISOString();
