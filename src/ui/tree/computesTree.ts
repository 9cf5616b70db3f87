/** The Computes view: projects, their branches by id, and the computes of each. */
import { EventEmitter, l10n, type TreeItem, type TreeView } from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { Inventory, InventoryChange } from '../../model/inventory.ts';
import type { ComputeNode } from '../../model/nodes.ts';
import type { Session } from '../../model/session.ts';
import { accountLabel } from '../accountWords.ts';
import { explain } from '../fault.ts';
import type { Log } from '../log.ts';
import { Interned } from './interned.ts';
import { childrenOf, failureShown, idOf, parentOf, roots, type TreeNode } from './nodes.ts';
import { tooltip } from './tooltips.ts';
import type { Tree } from './treeFace.ts';
import { shownOf, treeItem } from './treeItems.ts';

/** Projects at a time: each root costs VS Code a call when the roots are drawn. */
const PAGE = 400;

export class ComputesTree implements Tree<TreeNode>, Disposable {
  readonly #session: Pick<Session, 'connection'>;
  readonly #inventory: Inventory;
  readonly #log: Log;
  readonly #nodes = new Interned(idOf);
  readonly #changed = new EventEmitter<TreeNode[] | undefined>();
  readonly #held = new DisposableStore();
  readonly #expanded = new Set<string>();
  /** What of each project was drawn last. */
  readonly #drawn = new Map<string, string>();
  #shownRoots = PAGE;

  readonly onDidChangeTreeData = this.#changed.event;
  readonly view: TreeView<TreeNode>;

  constructor(
    session: Pick<Session, 'connection'>,
    inventory: Inventory,
    log: Log,
    view: TreeView<TreeNode>,
  ) {
    this.#session = session;
    this.#inventory = inventory;
    this.#log = log;
    this.#held.add(this.#changed);
    this.#held.add(inventory.onDidChange((changes) => this.#update(changes)));
    this.#held.add(inventory.waits.onDidChange(() => this.#tellHealth()));
    this.view = view;
    this.#held.add(this.view.onDidExpandElement(({ element }) => this.#expand(element)));
    this.#held.add(this.view.onDidCollapseElement(({ element }) => this.#collapse(element)));
  }

  /** Projects whose computes are on screen. */
  get expandedProjects(): ReadonlySet<string> {
    return this.#expanded;
  }

  async getChildren(node?: TreeNode): Promise<TreeNode[]> {
    if (node === undefined) {
      await this.#inventory.lookAtProjects();
      return this.#nodes.setChildren(undefined, roots(this.#inventory, this.#shownRoots));
    }
    if (node.kind === 'project') {
      this.#expanded.add(node.projectId);
      await this.#inventory.lookAtComputes(node.projectId);
    }
    return this.#nodes.setChildren(node, childrenOf(this.#inventory, node));
  }

  getTreeItem(node: TreeNode): TreeItem {
    if (node.kind === 'project') this.#drawn.set(node.projectId, this.#shownOf(node.projectId));
    return treeItem(this.#inventory, node);
  }

  resolveTreeItem(item: TreeItem, node: TreeNode): TreeItem {
    const text = tooltip(this.#inventory, node);
    if (text !== undefined) item.tooltip = text;
    return item;
  }

  getParent(node: TreeNode): TreeNode | undefined {
    const parent = parentOf(node);
    return parent && this.#nodes.get(parent);
  }

  /** Computes dragged into an editor insert their hosts. */
  textOf(nodes: readonly TreeNode[]): string | undefined {
    const hosts = nodes.flatMap((node) => {
      if (node.kind !== 'compute') return [];
      return this.#inventory.compute(node.projectId, node.computeId)?.host ?? [];
    });
    return hosts.length === 0 ? undefined : hosts.join('\n');
  }

  /** Selects a compute, loading and showing what leads to it. */
  async reveal(compute: ComputeNode): Promise<void> {
    const projects = [...(this.#inventory.projects?.entries.keys() ?? [])];
    const position = projects.indexOf(compute.projectId);
    if (position >= this.#shownRoots) this.#show(Math.ceil((position + 1) / PAGE) * PAGE);
    await this.#inventory.loadComputes(compute.projectId);
    await this.view.reveal(this.#nodes.get(compute), { select: true, focus: true });
  }

  /** As `reveal`, for a compute of which only ids are known; nothing happens where it is gone. */
  async revealById({ projectId, computeId }: Pick<ComputeNode, 'projectId' | 'computeId'>): Promise<void> {
    const branchId = this.#inventory.compute(projectId, computeId)?.branch_id;
    if (branchId !== undefined) await this.reveal({ kind: 'compute', projectId, branchId, computeId });
  }

  showMore(): void {
    this.#show(this.#shownRoots + PAGE);
  }

  dispose(): void {
    this.#held.dispose();
  }

  #show(roots: number): void {
    this.#shownRoots = roots;
    this.#changed.fire(undefined);
  }

  #expand(node: TreeNode): void {
    if (node.kind !== 'project' || this.#expanded.has(node.projectId)) return;
    this.#expanded.add(node.projectId);
    // VS Code shows the children it has; while the project was folded nobody kept them fresh.
    this.#inventory.refreshComputes(node.projectId).catch((error: unknown) => {
      this.#log.error(`Refreshing the computes of ${node.projectId}`, error);
    });
  }

  #askAnew(): void {
    this.#inventory.refreshAll(this.#expanded).catch((error: unknown) => {
      this.#log.error('Refreshing with another key', error);
    });
  }

  #collapse(node: TreeNode): void {
    if (node.kind === 'project') this.#expanded.delete(node.projectId);
  }

  #update(changes: readonly InventoryChange[]): void {
    this.#tellHealth();
    if (changes.some(({ kind }) => kind === 'all')) {
      this.#nodes.clear();
      this.#drawn.clear();
      this.#expanded.clear();
      this.#shownRoots = PAGE;
      return this.#changed.fire(undefined);
    }
    const nodes: TreeNode[] = [];
    for (const change of changes) {
      if (change.kind === 'all') continue;
      if (change.kind === 'key') this.#askAnew();
      else if (change.kind === 'projects') {
        this.#forgetGone();
        const now = roots(this.#inventory, this.#shownRoots);
        if (this.#nodes.childrenDiffer(undefined, now)) return this.#changed.fire(undefined);
        // More pages have come, and all they change on screen is how many projects are left.
        nodes.push(...now.filter(({ kind }) => kind === 'more'));
      } else if (!this.#isAsDrawn(change)) nodes.push(change);
    }
    const known = nodes.flatMap((node) => this.#nodes.find(node) ?? []);
    if (known.length > 0) this.#changed.fire(known);
  }

  /** Drawn anew for nothing, its children would be gone for a moment, and with them the one whose menu is open. */
  #isAsDrawn(change: InventoryChange): boolean {
    if (change.kind !== 'project') return false;
    if (this.#drawn.get(change.projectId) !== this.#shownOf(change.projectId)) return false;
    const children = childrenOf(this.#inventory, change);
    return !this.#nodes.childrenDiffer(change, children) && children[0]?.kind !== 'failure';
  }

  #shownOf(projectId: string): string {
    return shownOf(this.#inventory.project(projectId));
  }

  /** Above the tree; where that is empty VS Code has room for either a message or the welcome text with its buttons. */
  #sayFailure(words: string): void {
    const isEmpty = roots(this.#inventory, 1).length === 0;
    if (isEmpty) this.view.description = words;
    this.view.message = isEmpty ? '' : l10n.t('Not up to date: {0}', words);
  }

  #tellHealth(): void {
    const { current } = this.#inventory.waits;
    const failure = failureShown(this.#inventory, this.#expanded);
    // Whose computes these are: one click deletes one.
    const account = this.#session.connection?.account;
    this.view.description = account === undefined ? '' : accountLabel(account);
    if (failure !== undefined) this.#sayFailure(explain(failure).words);
    else this.view.message = current === undefined ? '' : waitWords(current.status);
  }

  /** Projects that are no longer there are not asked after any more. */
  #forgetGone(): void {
    const known = this.#inventory.projects?.entries;
    for (const id of this.#expanded) if (known?.has(id) !== true) this.#expanded.delete(id);
  }
}

const waitWords = (status: number | undefined): string =>
  status === undefined
    ? l10n.t('No answer from the service; trying again…')
    : l10n.t('The service answers with status {0}; trying again…', status);
