/** Keeps one object per node id, so that VS Code gets the same object every time. Nodes without a parent are dropped. */
export class NodeCache<Node> {
  readonly #idOf: (node: Node) => string;
  readonly #nodes = new Map<string, Node>();
  readonly #children = new Map<string, readonly string[]>();

  constructor(idOf: (node: Node) => string) {
    this.#idOf = idOf;
  }

  /** The object that VS Code has for this id, if any. */
  find(node: Node): Node | undefined {
    return this.#nodes.get(this.#idOf(node));
  }

  /** The object to return to VS Code for this id. */
  get(node: Node): Node {
    const id = this.#idOf(node);
    const cached = this.#nodes.get(id);
    if (cached === undefined) this.#nodes.set(id, node);
    return cached ?? node;
  }

  /** Replaces the children of a parent (undefined: the roots). */
  setChildren(parent: Node | undefined, nodes: readonly Node[]): Node[] {
    const parentId = parent === undefined ? '' : this.#idOf(parent);
    const ids = nodes.map(this.#idOf);
    const remaining = new Set(ids);
    for (const id of this.#children.get(parentId) ?? []) if (!remaining.has(id)) this.#forget(id);
    this.#children.set(parentId, ids);
    return nodes.map((node) => this.get(node));
  }

  /** Whether VS Code has other children than these. False if it has none yet. */
  childrenDiffer(parent: Node | undefined, nodes: readonly Node[]): boolean {
    const last = this.#children.get(parent === undefined ? '' : this.#idOf(parent));
    if (last === undefined) return false;
    return last.length !== nodes.length || nodes.some((node, index) => this.#idOf(node) !== last[index]);
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
