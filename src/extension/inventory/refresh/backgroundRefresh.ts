/**
 * Refreshes what is on screen while the view is visible. At each interval, it requests the computes and then the branches of
 * the expanded projects; the list of projects, and shown snapshots, less often. If the budget doesn't allow all requests at
 * once, they are sent in slices. A project with a pending change, by any client, is refreshed every two seconds until it has settled, for at most
 * two minutes. So is every expanded project of a local service, without a time limit.
 */
import { isPermanentRejection, isRejected, retryAfterOf } from '../../../api/transport/errors.ts';
import { PROJECTS_PER_PAGE } from '../../../api/paths.ts';
import { systemClock, type Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { Poller } from '../../../base/poller.ts';
import { isSettled } from '../computeStatus.ts';
import type { Inventory } from '../inventory.ts';
import { changedProjects, type InventoryEvent } from '../nodes.ts';
import type { RequestBudget } from './requestBudget.ts';

interface BackgroundRefreshDependencies {
  readonly inventory: Inventory;
  /** Returns the ids of the expanded projects, the most important first. VS Code doesn't report which rows are on screen. */
  readonly expanded: () => Iterable<string>;
  /** Returns the ids of the projects that the operation tracker polls. */
  readonly polledElsewhere: () => ReadonlySet<string>;
  /** Returns the milliseconds between two refreshes; 0 means never. */
  readonly interval: () => number;
  readonly onError: (error: unknown) => void;
  /** Called after each refresh, also if nothing has changed. */
  readonly onRefreshed?: () => void;
  /** The requests that all background work of the window may send. There is no limit for a service on this machine. */
  readonly budget: RequestBudget;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** The list of projects, and those of snapshots, are part of every fifth refresh. */
const REFRESHES_PER_PROJECT_LIST = 5;
/** The longest pause after failures, in milliseconds. */
const MAX_REFRESH_DELAY = 10 * 60_000;
/** The most requests of a slice. */
const SLICE = 20;
/** Milliseconds between two refreshes of a project with a pending change. */
const QUICK_INTERVAL = 2000;
/** Milliseconds until an unsettled project is refreshed at the ordinary interval again. */
const MAX_QUICK_TIME = 2 * 60_000;

interface RefreshRequest {
  readonly kind: 'computes' | 'branches' | 'snapshots';
  readonly projectId: string;
}

/** Refreshes what is on screen, as often as the settings say. */
export class BackgroundRefresh implements Disposable {
  readonly #deps: BackgroundRefreshDependencies;
  readonly #clock: Clock;
  readonly #subscription: Disposable;
  /** The projects with a pending change, and the time when it was first seen. */
  readonly #unsettled = new Map<string, number>();
  readonly #budget: RequestBudget;
  /** The remaining requests of the current refresh. */
  #queue: RefreshRequest[] = [];
  #poller: Poller | undefined;
  #lastRefresh: number;
  #refreshCount = 0;

  constructor(deps: BackgroundRefreshDependencies) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#budget = deps.budget;
    this.#lastRefresh = this.#clock.now();
    this.#subscription = deps.inventory.onDidChange((changes) => this.#handleChanges(changes));
  }

  /** Begins or ends refreshing. An overdue refresh runs at once. @param isVisible whether the view is visible and the window focused */
  setVisible(isVisible: boolean): void {
    if (isVisible && this.#deps.interval() > 0) {
      this.#poller ??= this.#start();
      return;
    }
    this.#poller?.dispose();
    this.#poller = undefined;
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#poller?.dispose();
  }

  #start(): Poller {
    const { random = Math.random } = this.#deps;
    const onError = (error: unknown) => {
      // The requests may have taken longer than the interval, and the pause counts from their end.
      this.#lastRefresh = this.#clock.now();
      this.#queue = [];
      this.#deps.onError(error);
    };
    const options = {
      poll: () => this.#refreshSlice(),
      interval: () => this.#delay(),
      maxDelay: MAX_REFRESH_DELAY,
      retryAfter: retryAfterOf,
      onError,
      clock: this.#clock,
      random,
    };
    return new Poller(options, this.#delay());
  }

  #restart(): void {
    const isVisible = this.#poller !== undefined;
    this.setVisible(false);
    this.setVisible(isVisible);
  }

  /** Returns the milliseconds until the next slice is refreshed. */
  #delay(): number {
    const slice = Math.min(this.#queue.length, SLICE);
    const ordinary = slice > 0 ? this.#budget.waitFor(slice) : this.#untilRegularRefresh();
    // A project of a local service is quick even while nothing is expanded, so that it is refreshed soon after it is expanded.
    const isQuick = this.#budget.isUnlimited || this.#quickProjects().length > 0;
    return isQuick ? Math.min(QUICK_INTERVAL, ordinary) : ordinary;
  }

  /** Returns the milliseconds until the regular refresh is due. */
  #untilRegularRefresh(): number {
    return Math.max(0, this.#lastRefresh + this.#deps.interval() - this.#clock.now());
  }

  /** Returns the expanded projects that are refreshed every two seconds. */
  #quickProjects(): string[] {
    const now = this.#clock.now();
    const polledElsewhere = this.#deps.polledElsewhere();
    const isQuick = (id: string) =>
      !polledElsewhere.has(id) &&
      (this.#budget.isUnlimited || now < (this.#unsettled.get(id) ?? -Infinity) + MAX_QUICK_TIME);
    return [...this.#deps.expanded()].filter(isQuick);
  }

  #handleChanges(changes: readonly InventoryEvent[]): void {
    const isOtherAccount = changes.some(({ kind }) => kind === 'all');
    if (isOtherAccount) {
      this.#queue = [];
      this.#unsettled.clear();
    }
    const before = this.#unsettled.size;
    for (const id of changedProjects(changes)) {
      const computes = this.#deps.inventory.computesOf(id)?.computes.values() ?? [];
      if ([...computes].every(isSettled)) this.#unsettled.delete(id);
      else if (!this.#unsettled.has(id)) this.#unsettled.set(id, this.#clock.now());
    }
    // A pause after failures doesn't concern another account or key.
    if (isOtherAccount || changes.some(({ kind }) => kind === 'key')) this.#restart();
    else if (this.#unsettled.size > before) this.#poller?.reschedule();
  }

  /** Sends as many requests as the budget allows, and begins the regular refresh if it is due. */
  async #refreshSlice(): Promise<void> {
    // Rows may have been collapsed or deleted since the refresh began.
    const expanded = new Set(this.#deps.expanded());
    this.#queue = this.#queue.filter(({ projectId }) => expanded.has(projectId));
    const projectList =
      this.#queue.length === 0 && this.#untilRegularRefresh() === 0 ? this.#beginRefresh() : undefined;
    const quick = this.#requests(this.#quickProjects(), { withBranches: this.#budget.isUnlimited });
    // While quick projects wait, the regular refresh uses at most half of the budget.
    const share = quick.length > 0 ? 0.5 : 1;
    const batch = this.#queue.splice(0, Math.ceil(this.#budget.available * share));
    const isNew = ({ kind, projectId }: RefreshRequest) =>
      !batch.some((other) => other.kind === kind && other.projectId === projectId);
    batch.push(...quick.filter(isNew).slice(0, this.#budget.available - batch.length));
    this.#budget.spend(batch.length);
    const { inventory } = this.#deps;
    const ids = (kind: RefreshRequest['kind']) =>
      batch.flatMap((request) => (request.kind === kind ? request.projectId : []));
    await Promise.all([
      projectList,
      this.#refreshComputesOf(ids('computes')),
      inventory.refreshBranchesOf(ids('branches')),
      inventory.refreshSnapshotsOf(ids('snapshots')),
    ]);
    this.#deps.onRefreshed?.();
  }

  /** Refreshes computes. A project that the service rejects, because it was deleted for example, must not delay the refresh of the others. */
  async #refreshComputesOf(projectIds: readonly string[]): Promise<void> {
    const { inventory, onError } = this.#deps;
    try {
      await inventory.refreshComputesOf(projectIds);
    } catch (error) {
      if (!isPermanentRejection(error)) throw error;
      onError(error);
      if (isRejected(error, 404)) await this.#refreshProjects();
    }
  }

  /** Begins the regular refresh. @returns the refresh of the list of projects, if that is due */
  #beginRefresh(): Promise<void> | undefined {
    const { inventory, expanded } = this.#deps;
    this.#lastRefresh = this.#clock.now();
    this.#refreshCount += 1;
    this.#queue = this.#requests([...expanded()], { withBranches: true });
    const { projects, snapshots } = inventory;
    const hasLists = this.#refreshCount % REFRESHES_PER_PROJECT_LIST === 0;
    if (hasLists)
      for (const projectId of expanded())
        if (snapshots.wasRequested(projectId)) this.#queue.push({ kind: 'snapshots', projectId });
    return hasLists || projects?.failure !== undefined ? this.#refreshProjects() : undefined;
  }

  #refreshProjects(): Promise<void> {
    const { inventory } = this.#deps;
    this.#budget.spend(Math.ceil(((inventory.projects?.entries.size ?? 0) + 1) / PROJECTS_PER_PAGE));
    return inventory.refreshProjects();
  }

  /** Returns the requests that refresh projects. Computes come first, because their states change more often than the names of branches. */
  #requests(
    projectIds: readonly string[],
    { withBranches }: { readonly withBranches: boolean },
  ): RefreshRequest[] {
    const { isOffered } = this.#deps.inventory.branches;
    const kinds = withBranches && isOffered ? (['computes', 'branches'] as const) : (['computes'] as const);
    return kinds.flatMap((kind) => projectIds.map((projectId) => ({ kind, projectId })));
  }
}
