/**
 * Finds computes that a client has woken: connecting to an idle compute starts it. Compares what the
 * inventory loads, without requests.
 */
import type { Compute } from '../../api/records/records.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { changedProjects } from '../inventory/nodes.ts';

/**
 * @param isTracked whether a change from this window is pending; its end is reported anyway
 * @param onWoken called once per refresh, with the computes that have become active
 */
export function watchWokenComputes(
  inventory: Inventory,
  isTracked: (compute: Compute) => boolean,
  onWoken: (computes: readonly Compute[]) => void,
): Disposable {
  /** The idle computes of each project when it last changed. */
  const idle = new Map<string, ReadonlySet<string>>();
  const wokenIn = (projectId: string) => {
    const before = idle.get(projectId);
    const computes = [...(inventory.computesOf(projectId)?.computes.values() ?? [])];
    const isIdle = ({ current_state: state }: Compute) => state === 'idle';
    idle.set(projectId, new Set(computes.filter(isIdle).map(({ id }) => id)));
    return computes.filter(
      (compute) =>
        compute.current_state === 'active' && before?.has(compute.id) === true && !isTracked(compute),
    );
  };
  return inventory.onDidChange((changes) => {
    if (changes.some(({ kind }) => kind === 'all')) idle.clear();
    const woken = [...changedProjects(changes)].flatMap(wokenIn);
    if (woken.length > 0) onWoken(woken);
  });
}
