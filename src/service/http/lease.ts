/**
 * Leases keep a service alive for programs that share it: each holds a request open for as long as it lives, and
 * the system closes the connection even of one that was killed. Without any lease for the grace time, it is over.
 */
export interface LeasesOptions {
  /** Milliseconds without a lease, also from the start on; undefined: the service does not end by itself. */
  readonly grace: number | undefined;
  readonly onNoneLeft: () => void;
}

export class Leases {
  readonly #options: LeasesOptions;
  readonly #held = new Set<{ readonly end: () => void }>();
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LeasesOptions) {
    this.#options = options;
    this.#watch();
  }

  /**
   * @param end called when the service ends before the lease does
   * @returns gives the lease back; calling it again does nothing
   */
  hold(end: () => void): () => void {
    const lease = { end };
    this.#held.add(lease);
    this.#watch();
    return () => {
      if (this.#held.delete(lease)) this.#watch();
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#watch();
    for (const { end } of this.#held) end();
  }

  #watch(): void {
    clearTimeout(this.#timer);
    const { grace, onNoneLeft } = this.#options;
    const isWatching = grace !== undefined && this.#held.size === 0 && !this.#isClosed;
    this.#timer = isWatching ? setTimeout(onNoneLeft, grace) : undefined;
  }
}
