/** Loads projects and computes for a list that the user already sees. */
import type { Inventory } from '../../../model/inventory/inventory.ts';

/** With more projects than this, computes are loaded only for the project that the user picks. */
export const MAX_LOADED = 50;

/** Shows what is known while more is loaded: again for each doubling, because VS Code takes long to draw thousands. */
export async function loadItems<T>(
  inventory: Inventory,
  known: () => readonly T[],
  show: (items: readonly T[]) => void,
  load: () => Promise<void>,
): Promise<readonly T[]> {
  let shown = 0;
  const update = () => {
    if (knownCount(inventory) < 2 * shown) return;
    shown = knownCount(inventory);
    show(known());
  };
  update();
  const subscription = inventory.onDidChange(update);
  try {
    await load();
  } finally {
    subscription.dispose();
  }
  return known();
}

/** Projects count only in a large account, where they are listed. */
function knownCount(inventory: Inventory): number {
  const ids = [...(inventory.projects?.entries.keys() ?? [])];
  const listed = ids.length > MAX_LOADED ? ids.length : 0;
  return ids.reduce((sum, id) => sum + (inventory.computesOf(id)?.computes.size ?? 0), listed);
}
