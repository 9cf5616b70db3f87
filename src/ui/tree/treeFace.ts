/** A view as VS Code knows it from the start. The tree behind it is loaded when its rows are first wanted. */
import {
  DataTransferItem,
  EventEmitter,
  window,
  type CancellationToken,
  type DataTransfer,
  type Event,
  type TreeDataProvider,
  type TreeDragAndDropController,
  type TreeItem,
  type TreeView,
} from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';

export interface Tree<Node> {
  readonly onDidChangeTreeData: Event<Node[] | undefined>;
  getChildren(node?: Node): Promise<Node[]>;
  getTreeItem(node: Node): TreeItem;
  resolveTreeItem?(item: TreeItem, node: Node): TreeItem;
  getParent?(node: Node): Node | undefined;
  /** What dragged rows leave where they are dropped; undefined where there is nothing to leave. */
  textOf?(nodes: readonly Node[]): string | undefined;
}

export class TreeFace<Node> implements TreeDataProvider<Node>, TreeDragAndDropController<Node>, Disposable {
  readonly #load: () => Promise<Tree<Node>>;
  readonly #changed = new EventEmitter<Node[] | undefined>();
  readonly #held = new DisposableStore();
  #loading: Promise<Tree<Node>> | undefined;
  #tree: Tree<Node> | undefined;

  readonly onDidChangeTreeData = this.#changed.event;
  readonly dragMimeTypes = ['text/plain'];
  readonly dropMimeTypes: readonly string[] = [];
  readonly view: TreeView<Node>;

  /** @param isFlat whether no row has others below it or is worth dragging */
  constructor(id: string, load: () => Promise<Tree<Node>>, { isFlat = false } = {}) {
    this.#load = load;
    this.#held.add(this.#changed);
    const rows = { treeDataProvider: this, showCollapseAll: !isFlat };
    this.view = this.#held.add(
      window.createTreeView(id, isFlat ? rows : { ...rows, dragAndDropController: this }),
    );
  }

  async getChildren(node?: Node): Promise<Node[]> {
    return (await this.#loaded()).getChildren(node);
  }

  /** At once where it can: each row that is drawn comes through here. */
  getTreeItem(node: Node): TreeItem | Promise<TreeItem> {
    return this.#tree?.getTreeItem(node) ?? this.#loaded().then((tree) => tree.getTreeItem(node));
  }

  async resolveTreeItem(item: TreeItem, node: Node, _token: CancellationToken): Promise<TreeItem> {
    return (await this.#loaded()).resolveTreeItem?.(item, node) ?? item;
  }

  async getParent(node: Node): Promise<Node | undefined> {
    return (await this.#loaded()).getParent?.(node);
  }

  async handleDrag(nodes: readonly Node[], data: DataTransfer): Promise<void> {
    const text = (await this.#loaded()).textOf?.(nodes);
    if (text !== undefined) data.set('text/plain', new DataTransferItem(text));
  }

  dispose(): void {
    this.#held.dispose();
  }

  #loaded(): Promise<Tree<Node>> {
    return (this.#loading ??= this.#attach());
  }

  async #attach(): Promise<Tree<Node>> {
    const tree = await this.#load();
    this.#held.add(tree.onDidChangeTreeData((nodes) => this.#changed.fire(nodes)));
    this.#tree = tree;
    return tree;
  }
}
