/**
 * Finds computes that a client has woken: connecting to an idle compute starts it (section 3.1). It compares what the
 * inventory loads and sends no requests.
 */
import type { Compute } from '../../api/records/records.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import type { Inventory, InventoryEvent } from './inventory.ts';

export class WakeWatcher implements Disposable {
  readonly #inventory: Inventory;
  readonly #isTracked: (compute: Compute) => boolean;
  readonly #woke = new Emitter<readonly Compute[]>();
  readonly #disposables = new DisposableStore();
  /** The idle computes of each project when it last changed. */
  readonly #idle = new Map<string, ReadonlySet<string>>();

  /** The computes that one refresh has found active. */
  readonly onDidWake = this.#woke.event;

  /** @param isTracked whether the user's own change is pending, whose end is shown anyway */
  constructor(inventory: Inventory, isTracked: (compute: Compute) => boolean) {
    this.#inventory = inventory;
    this.#isTracked = isTracked;
    this.#disposables.add(this.#woke);
    this.#disposables.add(inventory.onDidChange((changes) => this.#update(changes)));
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #update(changes: readonly InventoryEvent[]): void {
    const projects = new Set<string>();
    for (const change of changes) {
      if (change.kind === 'all') this.#idle.clear();
      else if ('projectId' in change) projects.add(change.projectId);
    }
    const woken = [...projects].flatMap((projectId) => this.#wokenIn(projectId));
    if (woken.length > 0) this.#woke.fire(woken);
  }

  #wokenIn(projectId: string): Compute[] {
    const before = this.#idle.get(projectId);
    const computes = [...(this.#inventory.computesOf(projectId)?.computes.values() ?? [])];
    const idle = computes.filter(({ current_state: state }) => state === 'idle');
    this.#idle.set(projectId, new Set(idle.map(({ id }) => id)));
    return computes.filter(
      (compute) =>
        compute.current_state === 'active' && before?.has(compute.id) === true && !this.#isTracked(compute),
    );
  }
}
