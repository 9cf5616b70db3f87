/** The Computes view: projects, their branches (by id), and the computes, databases and snapshots of each branch. */
import { EventEmitter, window, type TreeItem, type TreeView } from 'vscode';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import type { ExpandedProjects } from '../expandedProjects.ts';
import type { Inventory } from '../inventory.ts';
import type { BranchNode, InventoryEvent } from '../nodes.ts';
import type { DatabaseParentNode } from '../databaseNodes.ts';
import { DatabaseTreeRows, type DatabaseReader } from '../databaseTreeRows.ts';
import { EmptyRows } from '../../window/emptyRows.ts';
import type { AgentBranch, AgentBranches } from '../agentBranches.ts';
import type { LazyTree } from '../../window/ui/lazyTreeView.ts';
import { showsMark, markDecorations, markItem, nodeTooltip, treeItem, projectFields } from './treeItems.ts';
import { BranchesInUse, type EnvTargets } from './branchesInUse.ts';
import { NodeCache } from './nodeCache.ts';
import { childNodes, findNode, hostsText, nodeId, parentNode, roots, type TreeNode } from './treeNodes.ts';
import { updateViewMessage, type MessageDependencies } from './viewMessage.ts';
import type { ResourceRef } from '../../account/refs.ts';
import type { Compute } from '../../../api/records/records.ts';
import type { Event } from '../../../base/event.ts';
import type { Session } from '../../account/session.ts';
import type { Mark } from '../../window/marks.ts';
import type { Config } from '../../window/ui/config.ts';
import type { Log } from '../../window/ui/log.ts';

/** The projects per page. More would be slow, because VS Code calls the extension for each root it draws. */
const PAGE_SIZE = 400;

interface ComputesTreeDependencies extends MessageDependencies {
  readonly session: Session;
  readonly log: Pick<Log, 'error'>;
  readonly whyActiveSentences: { forTooltip(compute: Compute): Promise<string | undefined> };
  readonly agentBranches: Pick<AgentBranches, 'find' | 'onDidChange'>;
  readonly localService: {
    readonly postgresProblem: string | undefined;
    readonly onDidChangePostgres: Event<void>;
  };
  readonly guards: MessageDependencies['guards'] & { cachedMark(resource: ResourceRef): Mark | undefined };
  readonly config: Pick<Config, 'onDidChangeMarks'>;
  readonly databaseReader: DatabaseReader;
  readonly workFolders: EnvTargets;
  readonly expandedProjects: ExpandedProjects;
}

export class ComputesTree implements LazyTree<TreeNode>, Disposable {
  readonly #deps: ComputesTreeDependencies;
  readonly #inventory: Inventory;
  readonly #nodes = new NodeCache();
  readonly #databaseTreeRows: DatabaseTreeRows;
  readonly #inUse: BranchesInUse;
  readonly #changed = new EventEmitter<TreeNode[] | undefined>();
  readonly #disposables = new DisposableStore();
  readonly #expanded: ExpandedProjects;
  /** The fields of each project that were last drawn. */
  readonly #drawn = new Map<string, string>();
  /** The descriptions of branches that expire as last drawn. */
  readonly #drawnTimes = new Map<TreeNode, TreeItem['description']>();
  #shownRoots = PAGE_SIZE;
  /** The project that is expanded without a click. */
  #first: string | undefined;

  readonly onDidChangeTreeData = this.#changed.event;
  readonly view: TreeView<TreeNode>;
  readonly emptyRows = new EmptyRows();

  constructor(deps: ComputesTreeDependencies, view: TreeView<TreeNode>) {
    const { session, inventory, localService, config } = deps;
    this.#deps = deps;
    this.#inventory = inventory;
    this.#expanded = deps.expandedProjects;
    this.#inUse = new BranchesInUse(session, deps.workFolders);
    this.#databaseTreeRows = new DatabaseTreeRows(session, deps.databaseReader);
    this.view = view;
    for (const each of [
      this.#changed,
      config.onDidChangeMarks(() => this.redraw()),
      deps.agentBranches.onDidChange(() => this.redrawTimes()),
      localService.onDidChangePostgres(() => this.#handleChanges([{ kind: 'projects' }])),
      this.#inUse.onDidChange((branches) => this.#redraw(branches)),
      inventory.onDidChange((changes) => this.#handleChanges(changes)),
      inventory.retryStatus.onDidChange(() => this.#updateMessage()),
      // The inventory reports no change if the key couldn't be read when the window opened.
      session.onDidChange(() => this.#updateMessage()),
      view.onDidExpandElement(({ element }) => this.#handleExpand(element)),
      view.onDidCollapseElement(({ element }) => this.#handleCollapse(element)),
      window.registerFileDecorationProvider(markDecorations),
    ])
      this.#disposables.add(each);
  }

  /** The ids of the expanded projects: those with a selected row first, then the most recently expanded. */
  get expandedProjects(): ReadonlySet<string> {
    const selected = this.view.selection.flatMap((node) =>
      'projectId' in node ? (node.projectId ?? []) : [],
    );
    const { ids } = this.#expanded;
    return new Set([...selected.filter((id) => ids.has(id)), ...[...ids].reverse()]);
  }

  async getChildren(node?: TreeNode): Promise<TreeNode[]> {
    if (node === undefined) {
      await this.#inventory.ensureProjects();
      return this.emptyRows.note(this.#nodes.setChildren(undefined, this.#roots()));
    }
    if (node.kind === 'project') {
      this.#expanded.add(node.projectId);
      // The names aren't awaited, so that the rows don't wait for them.
      void this.#inventory.branches.ensureLoaded(node.projectId);
      await this.#inventory.ensureComputes(node.projectId);
    }
    // Snapshots aren't awaited either: most branches have none.
    if (node.kind === 'branch') void this.#inventory.snapshots.ensureLoaded(node.projectId);
    const rows =
      node.kind === 'databases' || node.kind === 'database' || node.kind === 'table'
        ? await this.#databaseTreeRows.loadRows(nodeId(node), node)
        : childNodes(this.#inventory, node);
    return this.#nodes.setChildren(node, rows);
  }

  getTreeItem(node: TreeNode): TreeItem {
    if (node.kind === 'project')
      this.#drawn.set(node.projectId, projectFields(this.#inventory, node.projectId));
    const item = treeItem(this.#inventory, node, this.#factsOf(node));
    if (this.#expires(node)) this.#drawnTimes.set(node, item.description);
    const mark = showsMark(node) ? this.#deps.guards.cachedMark(node) : undefined;
    return mark === undefined ? item : markItem(item, node, mark);
  }

  async resolveTreeItem(item: TreeItem, node: TreeNode): Promise<TreeItem> {
    const compute = node.kind === 'compute' && this.#inventory.compute(node.projectId, node.computeId);
    const activity = compute ? await this.#deps.whyActiveSentences.forTooltip(compute) : undefined;
    const text = nodeTooltip(this.#inventory, node, { ...this.#factsOf(node), activity });
    return text === undefined ? item : Object.assign(item, { tooltip: text });
  }

  getParent(node: TreeNode): TreeNode | undefined {
    const parent = parentNode(node);
    return parent && this.#nodes.intern(parent);
  }

  /** Returns what dropping the nodes into an editor inserts: the hosts of computes. */
  dragText(nodes: readonly TreeNode[]): string | undefined {
    return hostsText(this.#inventory, nodes);
  }

  /** Selects a row; loads and expands its parents first. Does nothing if the resource was deleted. */
  async reveal(resource: ResourceRef): Promise<void> {
    const { projectId, branchId, computeId } = resource;
    const position = [...(this.#inventory.projects?.entries.keys() ?? [])].indexOf(projectId);
    if (position >= this.#shownRoots) this.#showRoots(Math.ceil((position + 1) / PAGE_SIZE) * PAGE_SIZE);
    if (branchId !== undefined || computeId !== undefined) {
      // If a parent is redrawn while it expands, for example when names or snapshots arrive, VS Code silently gives up.
      const names = this.#inventory.branches.ensureLoaded(projectId);
      const snapshots = names.then(() => this.#inventory.snapshots.ensureLoaded(projectId));
      await Promise.all([this.#inventory.loadComputes(projectId), snapshots]);
    }
    const node = findNode(this.#inventory, resource);
    if (node !== undefined) await this.view.reveal(this.#nodes.intern(node), { select: true, focus: true });
  }

  /**
   * Shows the view for a new account, with its first project expanded. The project isn't selected, because commands would then
   * use it without asking. No rows are drawn twice, because their buttons do nothing in between.
   */
  async revealFirst(): Promise<void> {
    const [projectId] = (await this.#inventory.ensureProjects())?.entries.keys() ?? [];
    if (projectId === undefined) return;
    this.#first = projectId;
    if (this.#drawn.has(projectId)) this.#changed.fire(undefined);
    const node = this.#nodes.intern({ kind: 'project', projectId });
    const failed = (error: unknown) => this.#deps.log.error('Showing the first project', error);
    await this.view.reveal(node, { select: false, focus: false }).then(undefined, failed);
  }

  showMore(): void {
    this.#showRoots(this.#shownRoots + PAGE_SIZE);
  }

  /** Loads the rows below a row again. */
  reload(parent: DatabaseParentNode): void {
    this.#databaseTreeRows.forget(nodeId(parent));
    this.#changed.fire([this.#nodes.intern(parent)]);
  }

  redraw(): void {
    this.#updateMessage();
    this.#changed.fire(undefined);
  }

  /** Redraws the branches whose remaining time has changed, or whose agent is known by now. */
  redrawTimes(): void {
    const nodes: TreeNode[] = [];
    for (const [node, drawn] of this.#drawnTimes) {
      if (this.#nodes.find(node) !== node || !this.#expires(node)) this.#drawnTimes.delete(node);
      else if (treeItem(this.#inventory, node, this.#factsOf(node)).description !== drawn) nodes.push(node);
    }
    this.#redraw(nodes);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #expires(node: TreeNode): node is BranchNode {
    if (node.kind !== 'branch') return false;
    return Boolean(this.#inventory.branches.get(node.projectId, node.branchId)?.expires_at);
  }

  #factsOf(node: TreeNode) {
    const projectId = node.kind === 'project' ? node.projectId : undefined;
    const isFirst = projectId !== undefined && projectId === this.#first;
    const isExpanded = projectId !== undefined && this.#expanded.wasExpanded(projectId);
    return { agent: this.#agentOf(node), isInUse: this.#inUse.has(node), isFirst, isExpanded };
  }

  /** Returns what is known of a branch that an agent has created. Such a branch always expires. */
  #agentOf(node: TreeNode): AgentBranch | undefined {
    const account = this.#deps.session.connection?.accountId;
    if (account === undefined || !this.#expires(node)) return undefined;
    return this.#deps.agentBranches.find({ account, projectId: node.projectId, branchId: node.branchId });
  }

  #roots(): readonly TreeNode[] {
    const nodes = roots(this.#inventory, this.#shownRoots);
    return this.#postgresProblem === undefined ? nodes : [{ kind: 'setUpPostgres' }, ...nodes];
  }

  /** Why computes can't start; undefined without projects, because VS Code then shows the welcome view instead. */
  get #postgresProblem(): string | undefined {
    const { session, localService } = this.#deps;
    const isLocal = session.connection?.account.local === true;
    return isLocal && this.#inventory.projects?.isEmpty === false ? localService.postgresProblem : undefined;
  }

  #showRoots(count: number): void {
    this.#shownRoots = count;
    this.#changed.fire(undefined);
  }

  #handleExpand(node: TreeNode): void {
    if (node.kind !== 'project' || !this.#expanded.add(node.projectId)) return;
    // VS Code shows the children that it knows, which were not refreshed while the project was collapsed.
    void this.#inventory.branches.refresh(node.projectId);
    void this.#inventory.refreshSnapshotsOf([node.projectId]);
    this.#logFailure(this.#inventory.refreshComputes(node.projectId));
  }

  #logFailure(refreshing: Promise<void>): void {
    refreshing.catch((error: unknown) => this.#deps.log.error('Refreshing computes', error));
  }

  #handleCollapse(node: TreeNode): void {
    if (node.kind === 'project') this.#expanded.delete(node.projectId);
  }

  #handleChanges(changes: readonly InventoryEvent[]): void {
    this.#updateMessage();
    if (changes.some(({ kind }) => kind === 'all')) {
      this.#nodes.clear();
      this.#databaseTreeRows.clear();
      this.#drawn.clear();
      this.#expanded.clear();
      this.#first = undefined;
      this.#shownRoots = PAGE_SIZE;
      return this.#changed.fire(undefined);
    }
    const nodes: TreeNode[] = [];
    for (const change of changes) {
      if (change.kind === 'all') continue;
      if (change.kind === 'key') this.#logFailure(this.#inventory.refreshAll(this.#expanded.ids));
      else if (change.kind === 'projects') {
        // Deleted projects are no longer refreshed.
        const projects = this.#inventory.projects?.entries;
        for (const id of this.#expanded.ids) if (projects?.has(id) !== true) this.#expanded.delete(id);
        const rootNodes = this.#roots();
        if (this.#nodes.childrenDiffer(undefined, rootNodes)) return this.#changed.fire(undefined);
        // Another page has arrived, so only the number of remaining projects has changed.
        nodes.push(...rootNodes.filter(({ kind }) => kind === 'more'));
      } else if (!this.#isUpToDate(change)) nodes.push(change);
    }
    this.#redraw(nodes);
  }

  /** Redraws the nodes that VS Code has. */
  #redraw(nodes: readonly TreeNode[]): void {
    const cached = nodes.flatMap((node) => this.#nodes.find(node) ?? []);
    if (cached.length > 0) this.#changed.fire(cached);
  }

  /** Whether a project needs no redraw. VS Code removes the children of a redrawn node for a moment, which closes an open menu. */
  #isUpToDate(change: InventoryEvent): boolean {
    if (change.kind !== 'project') return false;
    if (this.#drawn.get(change.projectId) !== projectFields(this.#inventory, change.projectId)) return false;
    const children = childNodes(this.#inventory, change);
    return !this.#nodes.childrenDiffer(change, children) && children[0]?.kind !== 'failure';
  }

  #updateMessage(): void {
    updateViewMessage(this.view, this.#deps, this.#expanded.ids, this.#postgresProblem);
  }
}
