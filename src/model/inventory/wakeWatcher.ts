/**
 * Notices computes that somebody else has woken: a client that connects to an idle compute starts it (section 3.1).
 * Looks at what the store is told anyway, and costs no request of its own.
 */
import type { Compute } from '../../api/records/records.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import type { Inventory, InventoryChange } from './inventory.ts';

export class WakeWatcher implements Disposable {
  readonly #inventory: Inventory;
  readonly #isFollowed: (computeId: string) => boolean;
  readonly #woke = new Emitter<readonly Compute[]>();
  readonly #held = new DisposableStore();
  /** The idle computes of each project, as last told. */
  readonly #idle = new Map<string, ReadonlySet<string>>();

  /** Those of one list of computes together. */
  readonly onDidWake = this.#woke.event;

  /** @param isFollowed whether a change of our own is under way, whose end is told anyway */
  constructor(inventory: Inventory, isFollowed: (computeId: string) => boolean) {
    this.#inventory = inventory;
    this.#isFollowed = isFollowed;
    this.#held.add(this.#woke);
    this.#held.add(inventory.onDidChange((changes) => this.#notice(changes)));
  }

  dispose(): void {
    this.#held.dispose();
  }

  #notice(changes: readonly InventoryChange[]): void {
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
      ({ id, current_state: state }) =>
        state === 'active' && before?.has(id) === true && !this.#isFollowed(id),
    );
  }
}
