/**
 * A token bucket for the background requests of a window: a burst, then a steady rate. The public service allows about 700
 * requests a minute per account, which all windows and clients share.
 */
import { systemClock, type Clock } from '../../../base/clock.ts';

/** The requests that may be sent at once. */
const BURST = 40;
/** The requests that may be sent each minute after that. */
const PER_MINUTE = 300;
const PER_MILLISECOND = PER_MINUTE / 60_000;

interface RequestBudgetDependencies {
  /** Whether the service is on this machine, where requests cost little. */
  readonly isUnlimited?: () => boolean;
  readonly clock?: Clock;
}

/** Limits how many requests a window sends in the background. */
export class RequestBudget {
  readonly #isUnlimited: () => boolean;
  readonly #clock: Clock;
  /** The number of requests that may be sent; below 0 if more was spent than available. */
  #tokens = BURST;
  #refilledAt: number;

  constructor({ isUnlimited = () => false, clock = systemClock }: RequestBudgetDependencies = {}) {
    this.#isUnlimited = isUnlimited;
    this.#clock = clock;
    this.#refilledAt = clock.now();
  }

  get isUnlimited(): boolean {
    return this.#isUnlimited();
  }

  /** The number of requests that may be sent now. */
  get available(): number {
    return this.isUnlimited ? Infinity : Math.max(0, Math.floor(this.#refill()));
  }

  /** Notes requests that are sent. If they are more than available, later ones wait. */
  spend(requests: number): void {
    this.#tokens = this.#refill() - (this.isUnlimited ? 0 : requests);
  }

  /** Returns the milliseconds until this many requests, or else a whole burst, may be sent. */
  waitFor(requests: number): number {
    const missing = Math.min(requests, BURST) - this.#refill();
    return this.isUnlimited || missing <= 0 ? 0 : Math.ceil(missing / PER_MILLISECOND);
  }

  /** Adds the requests that may be sent since the last call. @returns all that may be sent now */
  #refill(): number {
    const now = this.#clock.now();
    this.#tokens = Math.min(BURST, this.#tokens + (now - this.#refilledAt) * PER_MILLISECOND);
    this.#refilledAt = now;
    return this.#tokens;
  }
}
