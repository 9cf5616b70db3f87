/** The time and timers of the service; tests replace them. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after the delay, or at once when the signal is aborted. */
  delay(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Calls repeatedly until the returned function is called. */
  every(milliseconds: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  delay: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal.aborted || milliseconds <= 0) return resolve();
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      signal.addEventListener('abort', end);
    }),
  every(milliseconds, call) {
    const timer = setInterval(call, milliseconds);
    // The server keeps the process running; the timer must not.
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** ISO 8601, UTC, with a `Z`. */
export const timestamp = (milliseconds: number): string => new Date(milliseconds).toISOString();
