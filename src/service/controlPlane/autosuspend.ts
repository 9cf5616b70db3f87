/**
 * Suspends computes that nobody uses (section 3.1). Activity is an open client connection: the delay counts from
 * the moment the last one closed, or from the start of a compute that nobody connected to.
 */
import { autosuspendSeconds } from '../../api/records/autosuspend.ts';
import { timestamp, type Clock } from '../core/clock.ts';
import type { Store } from '../state/store.ts';
import type { StoredCompute } from '../state/storedRecords.ts';

const CHECK_EVERY = 1_000;

/** Milliseconds: `last_active` on the record is as exact as this while connections come and go. */
const EXACTNESS = 10_000;

export interface AutosuspendOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Whether an operation runs on it. */
  readonly isBusy: (computeId: string) => boolean;
  readonly suspend: (computeId: string) => void;
}

export class Autosuspend {
  readonly #options: AutosuspendOptions;
  readonly #use = new Map<string, { readonly at: number; readonly open: number }>();
  readonly #stop: () => void;

  constructor(options: AutosuspendOptions) {
    this.#options = options;
    this.#stop = options.clock.every(CHECK_EVERY, () => this.#check());
  }

  /** @param open client connections now */
  activity(computeId: string, open: number): void {
    const compute = this.#options.store.account.compute(computeId);
    if (compute === undefined) return;
    this.#use.set(computeId, { at: this.#options.clock.now(), open });
    this.#noteActive(compute);
  }

  close(): void {
    this.#stop();
  }

  /** Milliseconds since 1970 of the last use; connections that are open are use now. */
  lastUse({ record }: StoredCompute): number {
    const use = this.#use.get(record.id);
    if (use !== undefined && use.open > 0) return this.#options.clock.now();
    return Math.max(use?.at ?? 0, Date.parse(record.last_active ?? record.created_at));
  }

  #check(): void {
    const { store, clock, isBusy, suspend } = this.#options;
    for (const compute of store.account.active.values()) {
      const { record } = compute;
      if (isBusy(record.id)) continue;
      if (this.lastUse(compute) > clock.now()) {
        this.#beginAnew(compute);
        continue;
      }
      this.#noteActive(compute);
      const seconds = autosuspendSeconds(record.suspend_timeout_seconds);
      if (seconds === undefined || clock.now() - this.lastUse(compute) < seconds * 1000) continue;
      this.#noteActive(compute, 0);
      suspend(record.id);
    }
    for (const id of this.#use.keys()) if (store.account.compute(id) === undefined) this.#use.delete(id);
  }

  /** The clock was set back: a use that is still to come would keep the compute awake until then. */
  #beginAnew({ record, ...rest }: StoredCompute): void {
    const now = this.#options.clock.now();
    this.#use.set(record.id, { at: now, open: this.#use.get(record.id)?.open ?? 0 });
    const value = { ...rest, record: { ...record, last_active: timestamp(now) } };
    this.#options.store.commit({ set: 'compute', value });
  }

  #noteActive(compute: StoredCompute, exactness = EXACTNESS): void {
    const at = this.lastUse(compute);
    const { record } = compute;
    if (at - Date.parse(record.last_active ?? record.created_at) <= exactness) return;
    const value = { ...compute, record: { ...record, last_active: timestamp(at) } };
    this.#options.store.commit({ set: 'compute', value });
  }
}
