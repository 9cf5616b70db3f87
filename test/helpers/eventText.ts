import type { InventoryEvent } from '../../src/extension/inventory/nodes.ts';

/** Describes a change, such as `compute shop br-main ep-one`. */
export const eventText = (change: InventoryEvent): string => {
  const { kind, ...rest } = change;
  return [kind, ...Object.values(rest)].join(' ');
};
