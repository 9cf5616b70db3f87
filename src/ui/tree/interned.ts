/** One object for each id, for as long as its parent has it: what is no longer anybody's child is let go. */
export class Interned<Node> {
  readonly #idOf: (node: Node) => string;
  readonly #nodes = new Map<string, Node>();
  readonly #children = new Map<string, readonly string[]>();

  constructor(idOf: (node: Node) => string) {
    this.#idOf = idOf;
  }

  /** The object VS Code knows under this id, if it was given one. */
  find(node: Node): Node | undefined {
    return this.#nodes.get(this.#idOf(node));
  }

  /** The object to give out for this id. */
  get(node: Node): Node {
    const id = this.#idOf(node);
    const known = this.#nodes.get(id);
    if (known === undefined) this.#nodes.set(id, node);
    return known ?? node;
  }

  /** The children of a parent (undefined: the roots) from now on. */
  setChildren(parent: Node | undefined, nodes: readonly Node[]): Node[] {
    const parentId = parent === undefined ? '' : this.#idOf(parent);
    const ids = nodes.map(this.#idOf);
    const stays = new Set(ids);
    for (const id of this.#children.get(parentId) ?? []) if (!stays.has(id)) this.#forget(id);
    this.#children.set(parentId, ids);
    return nodes.map((node) => this.get(node));
  }

  /** Whether children were given out and are others now. */
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
