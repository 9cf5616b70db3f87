/** Creates a tree view at activation. Its tree is loaded when VS Code first asks for rows. */
import {
  DataTransferItem,
  EventEmitter,
  window,
  type Event,
  type TreeDataProvider,
  type TreeDragAndDropController,
  type TreeItem,
  type TreeView,
} from 'vscode';
import type { DisposableStore } from '../../../base/disposable.ts';
import { keepUnlessRejected } from '../keepUnlessRejected.ts';
import { safeRow } from './window.ts';

/** A tree for VS Code, whose code is loaded when the view is shown. */
export interface LazyTree<Node> {
  readonly onDidChangeTreeData: Event<Node[] | undefined>;
  getChildren(node?: Node): Promise<Node[]>;
  getTreeItem(node: Node): TreeItem;
  resolveTreeItem?(item: TreeItem, node: Node): TreeItem | Promise<TreeItem>;
  getParent?(node: Node): Node | undefined;
  /** Returns the text that dragged rows insert; undefined for rows without text. */
  dragText?(nodes: readonly Node[]): string | undefined;
}

/** @param isFlat whether rows have no children and can't be dragged */
export function createLazyTreeView<Node>(
  id: string,
  loadTree: () => Promise<LazyTree<Node>>,
  disposables: DisposableStore,
  { isFlat = false } = {},
): TreeView<Node> {
  const changed = disposables.add(new EventEmitter<Node[] | undefined>());
  let tree: LazyTree<Node> | undefined;
  const load = keepUnlessRejected(async () => {
    tree = await loadTree();
    disposables.add(tree.onDidChangeTreeData((nodes) => changed.fire(nodes)));
    return tree;
  });
  const treeDataProvider: TreeDataProvider<Node> = {
    onDidChangeTreeData: changed.event,
    getChildren: async (node) => (await load()).getChildren(node),
    // This is synchronous once the tree is loaded, because VS Code calls it for every row.
    getTreeItem: (node) =>
      tree === undefined
        ? load().then((loaded) => safeRow(loaded.getTreeItem(node)))
        : safeRow(tree.getTreeItem(node)),
    resolveTreeItem: async (item, node) => (await load()).resolveTreeItem?.(item, node) ?? item,
    getParent: async (node) => (await load()).getParent?.(node),
  };
  const dragAndDropController: TreeDragAndDropController<Node> = {
    dragMimeTypes: ['text/plain'],
    dropMimeTypes: [],
    async handleDrag(nodes, data) {
      const text = (await load()).dragText?.(nodes);
      if (text !== undefined) data.set('text/plain', new DataTransferItem(text));
    },
  };
  const options = { treeDataProvider, showCollapseAll: !isFlat };
  const view = window.createTreeView(id, isFlat ? options : { ...options, dragAndDropController });
  return withLastSelection(disposables.add(view), disposables);
}

/**
 * While VS Code draws rows again, it doesn't find those that are selected, and a key would do nothing. So the rows that were selected
 * last count until then. Once they are drawn, VS Code says which are selected.
 */
export function withLastSelection<Node>(view: TreeView<Node>, disposables: DisposableStore): TreeView<Node> {
  let last: readonly Node[] = [];
  disposables.add(view.onDidChangeSelection(({ selection }) => (last = selection)));
  return Object.create(view, {
    selection: { get: () => (view.selection.length > 0 ? view.selection : last) },
  });
}
