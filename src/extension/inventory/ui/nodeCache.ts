import { nodeId, type TreeNode } from './treeNodes.ts';

/** Keeps one object per node id, so that VS Code always gets the same object. Nodes without a parent are dropped. */
export class NodeCache {
  readonly #nodes = new Map<string, TreeNode>();
  readonly #children = new Map<string, readonly string[]>();

  /** Returns the object that VS Code already has for this node, if any. */
  find(node: TreeNode): TreeNode | undefined {
    return this.#nodes.get(nodeId(node));
  }

  /** Returns the object that VS Code already has for this node, or else the node itself, which is kept from then on. */
  intern(node: TreeNode): TreeNode {
    const id = nodeId(node);
    const cached = this.#nodes.get(id);
    if (cached === undefined) this.#nodes.set(id, node);
    return cached ?? node;
  }

  /** Replaces the children of a parent, or the roots if it is undefined. @returns the objects to give to VS Code */
  setChildren(parent: TreeNode | undefined, nodes: readonly TreeNode[]): TreeNode[] {
    const parentId = parent === undefined ? '' : nodeId(parent);
    const ids = nodes.map(nodeId);
    const remaining = new Set(ids);
    for (const id of this.#children.get(parentId) ?? []) if (!remaining.has(id)) this.#forget(id);
    this.#children.set(parentId, ids);
    return nodes.map((node) => this.intern(node));
  }

  /** Whether VS Code has different children. False if it has none yet. */
  childrenDiffer(parent: TreeNode | undefined, nodes: readonly TreeNode[]): boolean {
    const last = this.#children.get(parent === undefined ? '' : nodeId(parent));
    if (last === undefined) return false;
    return last.length !== nodes.length || nodes.some((node, index) => nodeId(node) !== last[index]);
  }

  clear(): void {
    this.#nodes.clear();
    this.#children.clear();
  }

  #forget(id: string): void {
    for (const child of this.#children.get(id) ?? []) this.#forget(child);
    this.#children.delete(id);
    this.#nodes.delete(id);
  }
}
