/** A tree view that is registered at activation and loads its data provider when VS Code first asks for rows. */
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
import { safeRow } from '../window.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';

export interface Tree<Node> {
  readonly onDidChangeTreeData: Event<Node[] | undefined>;
  getChildren(node?: Node): Promise<Node[]>;
  getTreeItem(node: Node): TreeItem;
  resolveTreeItem?(item: TreeItem, node: Node): TreeItem;
  getParent?(node: Node): Node | undefined;
  /** The text that dragged rows insert; undefined for rows without text. */
  dragText?(nodes: readonly Node[]): string | undefined;
}

export class LazyTreeView<Node>
  implements TreeDataProvider<Node>, TreeDragAndDropController<Node>, Disposable
{
  readonly #loadTree: () => Promise<Tree<Node>>;
  readonly #changed = new EventEmitter<Node[] | undefined>();
  readonly #disposables = new DisposableStore();
  #loading: Promise<Tree<Node>> | undefined;
  #tree: Tree<Node> | undefined;

  readonly onDidChangeTreeData = this.#changed.event;
  readonly dragMimeTypes = ['text/plain'];
  readonly dropMimeTypes: readonly string[] = [];
  readonly view: TreeView<Node>;

  /** @param isFlat rows have no children and can't be dragged */
  constructor(id: string, load: () => Promise<Tree<Node>>, { isFlat = false } = {}) {
    this.#loadTree = load;
    this.#disposables.add(this.#changed);
    const rows = { treeDataProvider: this, showCollapseAll: !isFlat };
    this.view = this.#disposables.add(
      window.createTreeView(id, isFlat ? rows : { ...rows, dragAndDropController: this }),
    );
  }

  async getChildren(node?: Node): Promise<Node[]> {
    return (await this.#load()).getChildren(node);
  }

  /** Synchronous once the tree is loaded, because VS Code calls it for every row. */
  getTreeItem(node: Node): TreeItem | Promise<TreeItem> {
    if (this.#tree !== undefined) return safeRow(this.#tree.getTreeItem(node));
    return this.#load().then((tree) => safeRow(tree.getTreeItem(node)));
  }

  async resolveTreeItem(item: TreeItem, node: Node, _token: CancellationToken): Promise<TreeItem> {
    return (await this.#load()).resolveTreeItem?.(item, node) ?? item;
  }

  async getParent(node: Node): Promise<Node | undefined> {
    return (await this.#load()).getParent?.(node);
  }

  async handleDrag(nodes: readonly Node[], data: DataTransfer): Promise<void> {
    const text = (await this.#load()).dragText?.(nodes);
    if (text !== undefined) data.set('text/plain', new DataTransferItem(text));
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #load(): Promise<Tree<Node>> {
    return (this.#loading ??= this.#attach());
  }

  async #attach(): Promise<Tree<Node>> {
    const tree = await this.#loadTree();
    this.#disposables.add(tree.onDidChangeTreeData((nodes) => this.#changed.fire(nodes)));
    this.#tree = tree;
    return tree;
  }
}
