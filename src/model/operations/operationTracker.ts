/**
 * Follows the operations of changes until they end, and reports how they ended. Each poll requests the computes of the
 * project, and the branches if one is changing. Once the compute or branch has settled, or takes long to, its operations are
 * requested too, if the service offers that. Pending changes survive a reload of the window. Without any, nothing is requested.
 */
import { faultOf, isRejected, retryAfterOf } from '../../api/errors.ts';
import { isOperationId } from '../../api/records/ids.ts';
import {
  hasFailed,
  isFinal,
  PENDING_ENTRY,
  parsePending,
  type EndReport,
  type ResourceRef,
  type Verb,
  type PendingChange,
} from './pendingChange.ts';
import type { Compute, Operation } from '../../api/records/records.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import { Poller } from '../../base/poller.ts';
import { isReady } from '../inventory/branchStatus.ts';
import { isSettled } from '../inventory/computeStatus.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { RequestBudget } from '../refresh/requestBudget.ts';
import type { Memory } from '../memory.ts';
import type { Session } from '../account/session.ts';

interface OperationTrackerDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly memory: Memory;
  readonly onError: (error: unknown) => void;
  /** Shared with all other background work of the window. */
  readonly budget: RequestBudget;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** Milliseconds until the tracker gives up on a change and shows a warning. */
export const GIVE_UP_AFTER = 15 * 60_000;

/** Milliseconds until the operations of an unsettled compute or branch are requested, in case they failed. */
const MAX_UNSETTLED_TIME = 15_000;

export class OperationTracker implements Disposable {
  readonly #deps: OperationTrackerDependencies;
  readonly #clock: Clock;
  readonly #budget: RequestBudget;
  readonly #changed = new Emitter<void>();
  readonly #ended = new Emitter<EndReport>();
  readonly #disposables = new DisposableStore();
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

  /** Projects with pending changes, which the tracker polls. */
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

  /** Follows the operations in the reply to a change. @returns false if all have ended */
  follow(verb: Verb, target: ResourceRef, operations: readonly Operation[]): boolean {
    const { connection } = this.#deps.session;
    const open = operations.filter((operation) => !isFinal(operation));
    const [first] = open;
    if (connection === undefined || first === undefined) return false;
    const change: PendingChange = {
      id: first.id,
      account: connection.accountId,
      verb,
      ...target,
      operations: open.map(({ id, action, status }) => ({ id, action, status, failures: 0 })),
      since: this.#clock.now(),
    };
    this.#replace([...this.#all.filter((other) => other.id !== change.id), change]);
    this.#poller?.runNow();
    return true;
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

  /** There is a poller only while a change is pending. */
  #updatePoller(): void {
    if (this.pending.length === 0) {
      this.#poller?.dispose();
      this.#poller = undefined;
      return;
    }
    const { onError, random = Math.random } = this.#deps;
    this.#poller ??= new Poller(
      {
        poll: () => this.#tick(),
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

  /** Polls a recent change more often, if the budget allows. */
  #interval(): number {
    const youngest = Math.max(...this.pending.map((change) => change.since));
    const age = this.#clock.now() - youngest;
    // Most changes of a service on this machine take less than a second.
    const shortest = this.#budget.isUnlimited ? 250 : 1000;
    const interval = age < 60_000 ? shortest : age < 5 * 60_000 ? 2000 : 5000;
    return Math.max(interval, this.#budget.waitFor(1));
  }

  async #tick(): Promise<void> {
    const { connection } = this.#deps.session;
    if (connection === undefined) return;
    const byProject = Map.groupBy(this.pending, (change) => change.projectId);
    const polls = [...byProject].map(([projectId, changes]) => this.#poll(connection, projectId, changes));
    for (const result of await Promise.allSettled(polls))
      if (result.status === 'rejected') throw result.reason;
  }

  async #poll(connection: AccountConnection, projectId: string, changes: readonly PendingChange[]) {
    const { inventory } = this.#deps;
    let isAnswered = true;
    try {
      const withBranches = changes.some(({ branchId }) => branchId !== undefined);
      this.#budget.spend(withBranches ? 2 : 1);
      await inventory.refreshComputesOf([projectId]);
      if (withBranches) await inventory.branches.refresh(projectId);
      for (const change of changes) await this.#advance(connection, change);
    } catch (error) {
      // The project was deleted.
      if (isRejected(error, 404)) return changes.forEach((change) => this.#end(change, 'lost'));
      isAnswered = isFromService(error);
      throw error;
    } finally {
      for (const change of changes)
        if (isAnswered && this.#clock.now() - change.since >= GIVE_UP_AFTER) this.#end(change, 'stuck');
    }
  }

  async #advance(connection: AccountConnection, change: PendingChange): Promise<void> {
    const settled = this.#isSettled(change);
    if (!settled && this.#clock.now() - change.since < MAX_UNSETTLED_TIME) return;
    const operations = [];
    const client = await connection.client();
    for (const operation of change.operations) {
      const isRequested = !isFinal(operation) && isOperationId(operation.id);
      const options = { signal: connection.signal };
      if (isRequested) this.#budget.spend(1);
      const answer = isRequested
        ? await client.findOperation(change.projectId, operation.id, options)
        : undefined;
      // If the service doesn't offer the call, or the id isn't valid, a settled compute means that the operation has finished.
      const status = answer?.status ?? (settled && !isFinal(operation) ? 'finished' : operation.status);
      const failures = answer?.failures_count ?? operation.failures;
      operations.push({ ...operation, status, failures, error: answer?.error ?? operation.error });
    }
    if (connection.isClosed || !this.#all.some((other) => other.id === change.id)) return;
    const updated: PendingChange = { ...change, operations };
    if (!operations.every(isFinal))
      return this.#replace(this.#all.map((other) => (other.id === change.id ? updated : other)));
    const failed = operations.find(hasFailed);
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
    return (branch === undefined || isReady(branch)) && (computes ?? []).every(isSettled);
  }

  #end(change: PendingChange, outcome: EndReport['outcome'], reason?: string): void {
    if (!this.#all.some((other) => other.id === change.id)) return;
    this.#replace(this.#all.filter((other) => other.id !== change.id));
    this.#ended.fire({ change, outcome, reason });
  }
}

/** Whether the service replied. If not (offline, or the machine slept), the change may have ended. */
function isFromService(error: unknown): boolean {
  const fault = faultOf(error);
  const isOther = fault?.kind === 'unexpectedReply' && fault.reason === 'html';
  return fault?.kind !== 'network' && fault?.kind !== 'timeout' && !isOther;
}
