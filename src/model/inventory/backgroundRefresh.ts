/**
 * Keeps what is on screen fresh, only while somebody looks. Every so often it asks for the computes of the shown
 * projects, and every few times for the projects themselves, which change seldom. A project in which something is
 * under way, whoever set it going, is asked after quickly until it has settled; on a service of this machine, always.
 */
import { retryAfterOf } from '../../api/errors.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { Poller } from '../../base/poller.ts';
import { isSettled } from './computeStatus.ts';
import type { Inventory, InventoryChange } from './inventory.ts';

export interface BackgroundRefreshOptions {
  readonly inventory: Inventory;
  /** Projects whose computes are on screen. */
  readonly shown: () => Iterable<string>;
  /** Projects somebody else asks after already. */
  readonly followed: () => ReadonlySet<string>;
  /** Milliseconds; 0 is never. */
  readonly interval: () => number;
  /** Whether the service is on this machine, where asking quickly costs next to nothing. */
  readonly isLocal?: () => boolean;
  readonly onError: (error: unknown) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** The list of projects is asked for at every fifth refresh. */
const PROJECTS_EVERY = 5;
const LONGEST_WAIT = 10 * 60_000;
const QUICK_INTERVAL = 2000;
/** What has not settled by then is left to the ordinary refresh. Milliseconds. */
const QUICK_FOR = 2 * 60_000;

export class BackgroundRefresh implements Disposable {
  readonly #options: BackgroundRefreshOptions;
  readonly #clock: Clock;
  readonly #listening: Disposable;
  /** Projects in which something is under way, and since when that is known. */
  readonly #unsettled = new Map<string, number>();
  /** Projects to be watched, and until when. */
  readonly #watched = new Map<string, number>();
  #poller: Poller | undefined;
  #last: number;
  #times = 0;

  constructor(options: BackgroundRefreshOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#last = this.#clock.now();
    this.#listening = options.inventory.onDidChange((changes) => this.#notice(changes));
  }

  /** Begins or ends: `wanted` while the view is visible and the window focused. What was missed is made up for at once. */
  setWanted(wanted: boolean): void {
    const isWanted = wanted && this.#options.interval() > 0;
    if (!isWanted) this.#poller?.dispose();
    if (!isWanted) this.#poller = undefined;
    else this.#poller ??= this.#start();
  }

  /** Something is about to happen in a project (a client connects, say): asks after it quickly for a while. */
  watch(projectId: string): void {
    this.#watched.set(projectId, this.#clock.now() + QUICK_FOR);
    this.#poller?.reschedule();
  }

  dispose(): void {
    this.#listening.dispose();
    this.#poller?.dispose();
  }

  #start(): Poller {
    const { onError, random = Math.random } = this.#options;
    const options = {
      poll: () => this.#refresh(),
      interval: () => this.#wait(),
      longestWait: LONGEST_WAIT,
      retryAfter: retryAfterOf,
      onError,
      clock: this.#clock,
      random,
    };
    return new Poller(options, this.#wait());
  }

  #wait(): number {
    const ordinary = Math.max(0, this.#last + this.#options.interval() - this.#clock.now());
    // Near, a look at nothing is free, and what is unfolded next is on time.
    const isQuick = this.#options.isLocal?.() === true || this.#quickProjects().length > 0;
    return isQuick ? Math.min(QUICK_INTERVAL, ordinary) : ordinary;
  }

  #quickProjects(): string[] {
    const now = this.#clock.now();
    const { isLocal: isNear = () => false, followed } = this.#options;
    const [all, others] = [isNear(), followed()];
    const isQuick = (id: string) =>
      !others.has(id) &&
      (all ||
        now < (this.#unsettled.get(id) ?? -Infinity) + QUICK_FOR ||
        now < (this.#watched.get(id) ?? -Infinity));
    return [...this.#options.shown()].filter(isQuick);
  }

  #notice(changes: readonly InventoryChange[]): void {
    const projects = new Set<string>();
    for (const change of changes) {
      if (change.kind === 'all') [this.#unsettled, this.#watched].forEach((map) => map.clear());
      else if ('projectId' in change) projects.add(change.projectId);
    }
    const known = this.#unsettled.size;
    for (const id of projects) {
      const computes = this.#options.inventory.computesOf(id)?.computes.values() ?? [];
      if ([...computes].every(isSettled)) this.#unsettled.delete(id);
      else if (!this.#unsettled.has(id)) this.#unsettled.set(id, this.#clock.now());
    }
    const isOther = changes.some(({ kind }) => kind === 'all' || kind === 'key');
    if (isOther || this.#unsettled.size > known) this.#poller?.reschedule();
  }

  async #refresh(): Promise<void> {
    const { inventory, shown, interval } = this.#options;
    if (this.#clock.now() < this.#last + interval())
      return await inventory.refreshComputesOf(this.#quickProjects());
    this.#last = this.#clock.now();
    this.#times += 1;
    const isProjectsTurn = this.#times % PROJECTS_EVERY === 0 || inventory.projects?.failure !== undefined;
    await Promise.all([
      inventory.refreshComputesOf(shown()),
      isProjectsTurn ? inventory.refreshProjects() : undefined,
    ]);
  }
}
