/**
 * Follows the operations of changes until they end, and reports how they ended. Each poll requests the computes of the
 * project, and the branches if one is changing. Once the compute or branch has settled, its operations are requested too, if
 * the service offers that. Pending changes survive a reload of the window. Without any, nothing is requested.
 */
import { faultOf, isRejected, retryAfterOf } from '../../api/transport/errors.ts';
import { isOperationId } from '../../api/records/ids.ts';
import {
  isFailedOperation,
  isEndedOperation,
  PENDING_ENTRY,
  parsePending,
  type ChangeEnd,
  type ChangeVerb,
  type PendingChange,
} from './pendingChange.ts';
import type { Compute, Operation } from '../../api/records/records.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import { Poller } from '../../base/poller.ts';
import { isBranchReady } from '../inventory/branchStatus.ts';
import { isSettled } from '../inventory/computeStatus.ts';
import { namesOf } from '../inventory/names.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { RequestBudget } from '../inventory/refresh/requestBudget.ts';
import type { Memory } from '../window/memory.ts';
import type { Session } from '../account/session.ts';
import type { ResourceRef } from '../account/refs.ts';

interface OperationTrackerDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly memory: Memory;
  readonly onError: (error: unknown) => void;
  /** The requests that all background work of the window may send. */
  readonly budget: RequestBudget;
  readonly clock?: Clock;
  readonly random?: () => number;
}

type FollowOptions = Pick<PendingChange, 'names' | 'isQuiet' | 'hasNotification' | 'edited'>;

/** Milliseconds until the tracker gives up on a change and shows a warning. */
const GIVE_UP_AFTER = 15 * 60_000;

/** Milliseconds between requests for the operations of an unsettled compute. */
const UNSETTLED_INTERVAL = 15_000;

interface RequestPlan {
  readonly settled: boolean;
  readonly next: number;
  /** How often the operations were requested since `settled` last changed. */
  readonly times: number;
}

/** Polls the operations of changes until they have ended. */
export class OperationTracker implements Disposable {
  readonly #deps: OperationTrackerDependencies;
  readonly #clock: Clock;
  readonly #budget: RequestBudget;
  readonly #changed = new Emitter<void>();
  readonly #ended = new Emitter<ChangeEnd>();
  readonly #disposables = new DisposableStore();
  /** When the operations of a change are requested next, by change. */
  readonly #requests = new Map<string, RequestPlan>();
  #all: readonly PendingChange[];
  #poller: Poller | undefined;

  readonly onDidChange = this.#changed.event;
  readonly onDidEnd = this.#ended.event;

  constructor(deps: OperationTrackerDependencies) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#budget = deps.budget;
    this.#all = parsePending(deps.memory.get(PENDING_ENTRY), this.#clock.now());
    this.#disposables.add(this.#changed);
    this.#disposables.add(this.#ended);
    const connectionChanged = () => {
      this.#requests.clear();
      // The poller may be pausing after failures of the previous account or key.
      this.#poller?.dispose();
      this.#poller = undefined;
      this.#updatePoller();
      this.#changed.fire();
    };
    this.#disposables.add(deps.session.onDidChange(connectionChanged));
  }

  /** The pending changes of the current account. */
  get pending(): readonly PendingChange[] {
    const { connection } = this.#deps.session;
    return this.#all.filter((change) => change.account === connection?.accountId);
  }

  /** The projects with pending changes, which the tracker polls. */
  get projects(): ReadonlySet<string> {
    return new Set(this.pending.map((change) => change.projectId));
  }

  /** Whether a change of the compute, its branch or its project is pending. */
  isFollowing({ id, project_id, branch_id }: Compute): boolean {
    return this.pending.some(
      ({ projectId, branchId = branch_id, computeId = id }) =>
        projectId === project_id && branchId === branch_id && computeId === id,
    );
  }

  /** Follows the operations in the reply to a change. @returns the id of the pending change; undefined if all have ended */
  follow(
    verb: ChangeVerb,
    target: ResourceRef,
    operations: readonly Operation[],
    { names, isQuiet, hasNotification, edited }: FollowOptions = {},
  ): string | undefined {
    const { connection } = this.#deps.session;
    const open = operations.filter((operation) => !isEndedOperation(operation));
    const [first] = open;
    if (connection === undefined || first === undefined) return undefined;
    const change: PendingChange = {
      id: first.id,
      account: connection.accountId,
      verb,
      ...target,
      names: names ?? namesOf(this.#deps.inventory, target),
      operations: open.map(({ id, action, status }) => ({ id, action, status, failures: 0 })),
      ...(isQuiet === true && { isQuiet }),
      ...(hasNotification === true && { hasNotification }),
      ...(edited !== undefined && { edited }),
      since: this.#clock.now(),
    };
    this.#replace([...this.#all.filter((other) => other.id !== change.id), change]);
    this.#poller?.runNow();
    return change.id;
  }

  dispose(): void {
    this.#poller?.dispose();
    this.#disposables.dispose();
  }

  #replace(all: readonly PendingChange[]): void {
    this.#all = all;
    this.#deps.memory.update(PENDING_ENTRY, all).then(undefined, this.#deps.onError);
    this.#updatePoller();
    this.#changed.fire();
  }

  /** Starts or ends the poller, which runs only while a change is pending. */
  #updatePoller(): void {
    if (this.pending.length === 0) {
      this.#poller?.dispose();
      this.#poller = undefined;
      return;
    }
    const { onError, random = Math.random } = this.#deps;
    this.#poller ??= new Poller(
      {
        poll: () => this.#poll(),
        interval: () => this.#interval(),
        maxDelay: 60_000,
        retryAfter: retryAfterOf,
        onError,
        clock: this.#clock,
        random,
      },
      0,
    );
  }

  /** Returns the milliseconds until the next poll: fewer for a recent change, if the budget allows. */
  #interval(): number {
    const youngest = Math.max(...this.pending.map((change) => change.since));
    const age = this.#clock.now() - youngest;
    const interval = age < 60_000 ? this.#shortestInterval : age < 5 * 60_000 ? 2000 : 5000;
    return Math.max(interval, this.#budget.waitFor(1));
  }

  /** The shortest time between two requests. Most changes of a service on this machine take less than a second. */
  get #shortestInterval(): number {
    return this.#budget.isUnlimited ? 250 : 1000;
  }

  async #poll(): Promise<void> {
    const { session, inventory } = this.#deps;
    const { connection } = session;
    if (connection === undefined) return;
    const byProject = Map.groupBy(this.pending, (change) => change.projectId);
    const polls = [...byProject].map(async ([projectId, changes]) => {
      try {
        const withBranches = changes.some(({ branchId }) => branchId !== undefined);
        this.#budget.spend(withBranches ? 2 : 1);
        await inventory.refreshComputesOf([projectId]);
        if (withBranches) await inventory.branches.refresh(projectId);
      } catch (error) {
        if (!isRejected(error, 404)) throw error;
        for (const change of changes) this.#end(change, 'lost');
        return; // The project was deleted.
      }
      for (const change of changes) await this.#advance(connection, change);
    });
    const results = await Promise.allSettled(polls);
    const answered = [...byProject.values()].filter((_, index) => hasReplied(results[index]));
    for (const change of answered.flat())
      if (this.#clock.now() - change.since >= GIVE_UP_AFTER) this.#end(change, 'stuck');
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  async #advance(connection: AccountConnection, change: PendingChange): Promise<void> {
    const settled = this.#isSettled(change);
    if (!this.#takeDueRequest(change, settled)) return;
    const operations = [];
    const client = await connection.client();
    for (const operation of change.operations) {
      const isRequested = !isEndedOperation(operation) && isOperationId(operation.id);
      const options = { signal: connection.signal };
      if (isRequested) this.#budget.spend(1);
      const answer = isRequested
        ? await client.findOperation(change.projectId, operation.id, options)
        : undefined;
      // If the service doesn't offer the call, or the id isn't valid, a settled compute means that the operation has finished.
      const status =
        answer?.status ?? (settled && !isEndedOperation(operation) ? 'finished' : operation.status);
      const failures = answer?.failures_count ?? operation.failures;
      operations.push({ ...operation, status, failures, error: answer?.error ?? operation.error });
    }
    if (connection.isClosed || !this.#all.some((other) => other.id === change.id)) return;
    const updated: PendingChange = { ...change, operations };
    if (!operations.every(isEndedOperation))
      return this.#replace(this.#all.map((other) => (other.id === change.id ? updated : other)));
    const failed = operations.find(isFailedOperation);
    this.#end(updated, failed === undefined ? 'finished' : 'failed', failed?.error);
  }

  #isSettled({ projectId, branchId, computeId }: PendingChange): boolean {
    const { inventory } = this.#deps;
    const compute = computeId === undefined ? undefined : inventory.compute(projectId, computeId);
    if (branchId === undefined) return compute === undefined || isSettled(compute);
    const branch = inventory.branches.get(projectId, branchId);
    // A new or reset branch is ready before its computes have started.
    const computes =
      compute === undefined ? inventory.computesOf(projectId)?.branches().get(branchId) : [compute];
    return (branch === undefined || isBranchReady(branch)) && (computes ?? []).every(isSettled);
  }

  /**
   * Plans the requests for the operations of a change: at once and then with backoff if its computes and branches are settled, or
   * else every 15 s, in case the operation failed.
   * @returns whether its operations are requested now. If so, the next request is planned
   */
  #takeDueRequest(change: PendingChange, settled: boolean): boolean {
    const now = this.#clock.now();
    const first = { settled, next: settled ? now : change.since + UNSETTLED_INTERVAL, times: 0 };
    const last = this.#requests.get(change.id);
    const { next, times } = last?.settled === settled ? last : first;
    if (now < next) return false;
    const wait = settled
      ? Math.min(this.#shortestInterval * 2 ** times, UNSETTLED_INTERVAL)
      : UNSETTLED_INTERVAL;
    this.#requests.set(change.id, { settled, next: now + wait, times: times + 1 });
    return true;
  }

  #end(change: PendingChange, outcome: ChangeEnd['outcome'], reason?: string): void {
    if (!this.#all.some((other) => other.id === change.id)) return;
    this.#requests.delete(change.id);
    this.#replace(this.#all.filter((other) => other.id !== change.id));
    this.#ended.fire({ change, outcome, reason });
  }
}

/** Whether the service replied. If not (offline, or the machine slept), the change may have ended. */
function hasReplied(result: PromiseSettledResult<void> | undefined): boolean {
  if (result?.status !== 'rejected') return true;
  const fault = faultOf(result.reason);
  return fault?.kind === 'rejected' || (fault?.kind === 'unexpectedReply' && fault.reason !== 'html');
}
