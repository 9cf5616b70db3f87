/**
 * Suspends inactive computes. A compute is in use while a client connection is open. The delay counts from
 * the end of the last connection, or, before the first connection, from the start of the compute.
 */
import { autosuspendSeconds } from '../../../api/rules/autosuspendDelay.ts';
import { toTimestamp } from '../../core/serviceClock.ts';
import type { StoredCompute } from '../../state/storedRecords.ts';
import { unfinishedCopyFrom } from '../records/branchRecord.ts';
import { suspendCompute } from './computes.ts';
import type { ControlPlaneContext } from '../operations/operations.ts';

/** Milliseconds between two checks. */
export const AUTOSUSPEND_INTERVAL = 1_000;

/** Milliseconds between two updates of `last_active` while connections come and go. */
const PRECISION = 10_000;

/** Notes when computes are used, and suspends those that aren't. */
export class Autosuspend {
  readonly #plane: ControlPlaneContext;
  readonly #use = new Map<string, { readonly at: number; readonly open: number }>();

  constructor(plane: ControlPlaneContext) {
    this.#plane = plane;
  }

  /** Records that clients have connected or disconnected. @param open the number of client connections now */
  recordActivity(computeId: string, open: number): void {
    const compute = this.#plane.store.account.compute(computeId);
    if (compute === undefined) return;
    this.#use.set(computeId, { at: this.#plane.clock.now(), open });
    this.#updateLastActive(compute);
  }

  /** Returns the number of open client connections. */
  openConnections(computeId: string): number {
    return this.#use.get(computeId)?.open ?? 0;
  }

  /** Returns when the compute was last used, in milliseconds since 1970. While a connection is open, that is now. */
  #lastUse({ record }: StoredCompute): number {
    const use = this.#use.get(record.id);
    if (use !== undefined && use.open > 0) return this.#plane.clock.now();
    return Math.max(use?.at ?? 0, Date.parse(record.last_active ?? record.created_at));
  }

  /** Suspends the computes that have been inactive for too long. */
  suspendInactive(): void {
    const { store, clock, operations } = this.#plane;
    for (const compute of store.account.activeComputes()) {
      const { record } = compute;
      if (operations.whenEnded(record.id) !== undefined) continue;
      if (this.#lastUse(compute) > clock.now()) {
        // The clock was set back. A last use in the future would keep the compute active until then.
        this.#use.set(record.id, { at: clock.now(), open: this.openConnections(record.id) });
        this.#setLastActive(compute, clock.now());
        continue;
      }
      this.#updateLastActive(compute);
      const seconds = autosuspendSeconds(record.suspend_timeout_seconds);
      if (seconds === undefined || clock.now() - this.#lastUse(compute) < seconds * 1000) continue;
      const project = store.account.project(record.project_id);
      // A suspension would wait for the end of the copy, and then disconnect all clients that have connected by then.
      if (unfinishedCopyFrom(project, record.branch_id) !== undefined) continue;
      this.#updateLastActive(compute, { precision: 0 });
      suspendCompute(this.#plane, project, record.id, 'inactivity');
    }
    for (const id of this.#use.keys()) if (store.account.compute(id) === undefined) this.#use.delete(id);
  }

  /**
   * Updates `last_active` if the compute was used since that time.
   * @param options `precision`: the least difference for that, in milliseconds
   */
  #updateLastActive(compute: StoredCompute, { precision = PRECISION } = {}): void {
    const at = this.#lastUse(compute);
    const { last_active, created_at } = compute.record;
    if (at - Date.parse(last_active ?? created_at) > precision) this.#setLastActive(compute, at);
  }

  #setLastActive(compute: StoredCompute, at: number): void {
    const value = { ...compute, record: { ...compute.record, last_active: toTimestamp(at) } };
    this.#plane.store.commit({ set: 'compute', value });
  }
}
