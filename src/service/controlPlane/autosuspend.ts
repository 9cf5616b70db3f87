/**
 * Suspends inactive computes (section 3.1). A compute is in use while a client connection is open. The delay counts from
 * the end of the last connection, or from the start of the compute if there was none.
 */
import { autosuspendSeconds } from '../../api/records/autosuspend.ts';
import { toTimestamp, type ServiceClock } from '../core/clock.ts';
import type { Store } from '../state/store.ts';
import type { StoredCompute } from '../state/storedRecords.ts';

const CHECK_EVERY = 1_000;

/** Milliseconds between two updates of `last_active` while connections come and go. */
const PRECISION = 10_000;

interface AutosuspendDependencies {
  readonly store: Store;
  readonly clock: ServiceClock;
  /** Whether an operation runs on the compute. */
  readonly isBusy: (computeId: string) => boolean;
  readonly suspend: (computeId: string) => void;
}

export class Autosuspend {
  readonly #deps: AutosuspendDependencies;
  readonly #use = new Map<string, { readonly at: number; readonly open: number }>();
  readonly #stop: () => void;

  constructor(deps: AutosuspendDependencies) {
    this.#deps = deps;
    this.#stop = deps.clock.every(CHECK_EVERY, () => this.#check());
  }

  /** @param open the number of client connections now */
  activity(computeId: string, open: number): void {
    const compute = this.#deps.store.account.compute(computeId);
    if (compute === undefined) return;
    this.#use.set(computeId, { at: this.#deps.clock.now(), open });
    this.#updateLastActive(compute);
  }

  /** The number of open client connections. */
  connections(computeId: string): number {
    return this.#use.get(computeId)?.open ?? 0;
  }

  close(): void {
    this.#stop();
  }

  /** Milliseconds since 1970; now while a connection is open. */
  #lastUse({ record }: StoredCompute): number {
    const use = this.#use.get(record.id);
    if (use !== undefined && use.open > 0) return this.#deps.clock.now();
    return Math.max(use?.at ?? 0, Date.parse(record.last_active ?? record.created_at));
  }

  #check(): void {
    const { store, clock, isBusy, suspend } = this.#deps;
    for (const compute of store.account.activeComputes()) {
      const { record } = compute;
      if (isBusy(record.id)) continue;
      if (this.#lastUse(compute) > clock.now()) {
        // The clock was set back. A last use in the future would keep the compute active until then.
        this.#use.set(record.id, { at: clock.now(), open: this.connections(record.id) });
        this.#setLastActive(compute, clock.now());
        continue;
      }
      this.#updateLastActive(compute);
      const seconds = autosuspendSeconds(record.suspend_timeout_seconds);
      if (seconds === undefined || clock.now() - this.#lastUse(compute) < seconds * 1000) continue;
      this.#updateLastActive(compute, 0);
      suspend(record.id);
    }
    for (const id of this.#use.keys()) if (store.account.compute(id) === undefined) this.#use.delete(id);
  }

  #updateLastActive(compute: StoredCompute, precision = PRECISION): void {
    const at = this.#lastUse(compute);
    const { last_active, created_at } = compute.record;
    if (at - Date.parse(last_active ?? created_at) > precision) this.#setLastActive(compute, at);
  }

  #setLastActive(compute: StoredCompute, at: number): void {
    const value = { ...compute, record: { ...compute.record, last_active: toTimestamp(at) } };
    this.#deps.store.commit({ set: 'compute', value });
  }
}
