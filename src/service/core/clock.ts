import { setTimeout } from 'node:timers/promises';

/** The time and timers of the service; tests replace them. */
export interface ServiceClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after the delay, or at once when the signal is aborted. */
  delay(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Calls repeatedly until the returned function is called. */
  every(milliseconds: number, call: () => void): () => void;
}

export const serviceClock: ServiceClock = {
  now: () => Date.now(),
  async delay(milliseconds, signal) {
    if (milliseconds > 0) await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
  },
  every(milliseconds, call) {
    const timer = setInterval(call, milliseconds);
    // The server keeps the process running; the timer must not.
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** ISO 8601, UTC, with a `Z`. */
export const toTimestamp = (milliseconds: number): string => new Date(milliseconds).toISOString();
