import { DataTransferItem, type DataTransfer, type TreeDragAndDropController } from 'vscode';
import type { Inventory } from '../../model/inventory.ts';
import type { TreeNode } from './nodes.ts';

/** Computes dragged into an editor insert their hosts. */
export class HostDrag implements TreeDragAndDropController<TreeNode> {
  readonly dragMimeTypes = ['text/plain'];
  readonly dropMimeTypes: readonly string[] = [];
  readonly #inventory: Inventory;

  constructor(inventory: Inventory) {
    this.#inventory = inventory;
  }

  handleDrag(nodes: readonly TreeNode[], data: DataTransfer): void {
    const hosts = nodes.flatMap((node) => {
      if (node.kind !== 'compute') return [];
      return this.#inventory.compute(node.projectId, node.computeId)?.host ?? [];
    });
    if (hosts.length > 0) data.set('text/plain', new DataTransferItem(hosts.join('\n')));
  }
}
