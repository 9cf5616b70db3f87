/**
 * Follows what changes of computes set going until it has ended, and says how. It asks for one list of computes per
 * project and tick, however many operations there are; a compute that has settled is confirmed with the operation
 * itself, where the service offers that. What is pending survives a reload of the window. Nothing pending, no request.
 */
import { faultOf, isRefused, retryAfterOf } from '../../api/errors.ts';
import { isOperationId } from '../../api/records/ids.ts';
import { hasFailed, isFinal } from '../../api/records/operationStatus.ts';
import type { Compute, Operation } from '../../api/records/records.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import { Poller } from '../../base/poller.ts';
import { accountId } from '../account/accounts.ts';
import { isSettled } from '../inventory/computeStatus.ts';
import type { Connection } from '../account/connection.ts';
import type { Inventory } from '../inventory/inventory.ts';
import {
  PENDING_ENTRY,
  parsePending,
  type ChangeEnd,
  type ChangeVerb,
  type PendingChange,
} from './pendingChange.ts';
import type { Memory } from '../memory.ts';
import type { Session } from '../account/session.ts';

export interface OperationTrackerOptions {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly memory: Memory;
  readonly onError: (error: unknown) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** How long a change may take before it is given up with a warning. Milliseconds. */
export const GIVE_UP_AFTER = 15 * MINUTE;

/** A compute that does not settle: its operations are asked after at this age, and as often again. */
const ASK_UNSETTLED_AFTER = 15 * SECOND;

export class OperationTracker implements Disposable {
  readonly #options: OperationTrackerOptions;
  readonly #clock: Clock;
  readonly #changed = new Emitter<void>();
  readonly #ended = new Emitter<ChangeEnd>();
  readonly #held = new DisposableStore();
  /** When to ask next after the operations of a change, and how often that was done. */
  readonly #asked = new Map<string, { readonly next: number; readonly times: number }>();
  #all: readonly PendingChange[];
  #poller: Poller | undefined;

  readonly onDidChange = this.#changed.event;
  readonly onDidEnd = this.#ended.event;

  constructor(options: OperationTrackerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const now = this.#clock.now();
    // The machine's clock may have been set back since they were kept.
    this.#all = parsePending(options.memory.get(PENDING_ENTRY)).map((change) =>
      change.since > now ? { ...change, since: now } : change,
    );
    this.#held.add(this.#changed);
    this.#held.add(this.#ended);
    this.#held.add(options.session.onDidChange(() => this.#connectionChanged()));
  }

  /** What is under way in the account connected to. */
  get pending(): readonly PendingChange[] {
    const { connection } = this.#options.session;
    if (connection === undefined) return [];
    const account = accountId(connection.account);
    return this.#all.filter((change) => change.account === account);
  }

  /** Projects asked after because of what is pending in them. */
  get projects(): ReadonlySet<string> {
    return new Set(this.pending.map((change) => change.projectId));
  }

  /** Follows the operations a call answered with. Returns false when there is nothing to wait for. */
  follow(
    verb: ChangeVerb,
    compute: Pick<Compute, 'id' | 'project_id' | 'name'>,
    operations: readonly Operation[],
  ): boolean {
    const { connection } = this.#options.session;
    const open = operations.filter((operation) => !isFinal(operation));
    const [first] = open;
    if (connection === undefined || first === undefined) return false;
    const change: PendingChange = {
      id: first.id,
      account: accountId(connection.account),
      verb,
      projectId: compute.project_id,
      computeId: compute.id,
      ...(compute.name ? { name: compute.name } : {}),
      operations: open.map(({ id, action, status }) => ({ id, action, status, failures: 0 })),
      since: this.#clock.now(),
    };
    this.#replace([...this.#all.filter((other) => other.id !== change.id), change]);
    this.#poller?.now();
    return true;
  }

  dispose(): void {
    this.#poller?.dispose();
    this.#held.dispose();
  }

  #connectionChanged(): void {
    this.#asked.clear();
    this.#poll();
    this.#changed.fire();
  }

  #replace(all: readonly PendingChange[]): void {
    this.#all = all;
    this.#options.memory.update(PENDING_ENTRY, all).catch(this.#options.onError);
    this.#poll();
    this.#changed.fire();
  }

  /** One poller while something is pending, none otherwise. */
  #poll(): void {
    if (this.pending.length === 0) {
      this.#poller?.dispose();
      this.#poller = undefined;
      return;
    }
    const { onError, random = Math.random } = this.#options;
    this.#poller ??= new Poller(
      {
        poll: () => this.#tick(),
        interval: () => this.#interval(),
        longestWait: MINUTE,
        retryAfter: retryAfterOf,
        onError,
        clock: this.#clock,
        random,
      },
      0,
    );
  }

  /** Quick while a change is young, then calmer. */
  #interval(): number {
    const youngest = Math.max(...this.pending.map((change) => change.since));
    const age = this.#clock.now() - youngest;
    if (age < MINUTE) return SECOND;
    return age < 5 * MINUTE ? 2 * SECOND : 5 * SECOND;
  }

  async #tick(): Promise<void> {
    const { session, inventory } = this.#options;
    const { connection } = session;
    if (connection === undefined) return;
    const byProject = Map.groupBy(this.pending, (change) => change.projectId);
    const ticks = [...byProject].map(async ([projectId, changes]) => {
      try {
        await inventory.refreshComputesOf([projectId]);
      } catch (error) {
        if (!isRefused(error, 404)) throw error;
        for (const change of changes) this.#end(change, { change, outcome: 'lost', reason: undefined });
      }
      for (const change of changes) await this.#advance(connection, change);
    });
    const results = await Promise.allSettled(ticks);
    const answered = [...byProject.values()].filter((_, index) => isAnswer(results[index]));
    this.#giveUpStuck(answered.flat());
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  async #advance(connection: Connection, change: PendingChange): Promise<void> {
    const compute = this.#options.inventory.compute(change.projectId, change.computeId);
    const settled = compute === undefined || isSettled(compute);
    if (!this.#isTimeToAsk(change, settled)) return;
    const operations = [];
    const client = await connection.client();
    for (const operation of change.operations) {
      // What is no id cannot be asked after: as where the call is not offered, the list tells.
      const isAsked = !isFinal(operation) && isOperationId(operation.id);
      const options = { signal: connection.signal };
      const answer = isAsked
        ? await client.findOperation(change.projectId, operation.id, options)
        : undefined;
      // Not offered: what the list of computes shows is all there is to know.
      const status = answer?.status ?? (settled && !isFinal(operation) ? 'finished' : operation.status);
      const failures = answer?.failures_count ?? operation.failures;
      operations.push({ ...operation, status, failures, error: answer?.error ?? operation.error });
    }
    if (connection.isClosed || !this.#all.some((other) => other.id === change.id)) return;
    const now: PendingChange = { ...change, operations };
    if (!operations.every(isFinal))
      return this.#replace(this.#all.map((c) => (c.id === change.id ? now : c)));
    const failed = operations.find(hasFailed);
    const outcome = failed === undefined ? 'finished' : 'failed';
    this.#end(now, { change: now, outcome, reason: failed?.error });
  }

  /** A settled compute at once and then ever more seldom; one that does not settle now and then, lest it failed. */
  #isTimeToAsk(change: PendingChange, settled: boolean): boolean {
    const now = this.#clock.now();
    const { next, times } = this.#asked.get(change.id) ?? { next: change.since, times: 0 };
    const due = settled ? next : Math.max(next, change.since + ASK_UNSETTLED_AFTER);
    if (now < due) return false;
    const wait = settled ? Math.min(SECOND * 2 ** times, ASK_UNSETTLED_AFTER) : ASK_UNSETTLED_AFTER;
    this.#asked.set(change.id, { next: now + wait, times: times + 1 });
    return true;
  }

  #giveUpStuck(changes: readonly PendingChange[]): void {
    for (const change of changes) {
      if (this.#clock.now() - change.since < GIVE_UP_AFTER) continue;
      this.#end(change, { change, outcome: 'stuck', reason: undefined });
    }
  }

  #end(change: PendingChange, end: ChangeEnd): void {
    if (!this.#all.some((other) => other.id === change.id)) return;
    this.#asked.delete(change.id);
    this.#replace(this.#all.filter((other) => other.id !== change.id));
    this.#ended.fire(end);
  }
}

/** Whether the service was heard. After a sleep of the machine, or offline, nobody knows whether a change has ended. */
function isAnswer(result: PromiseSettledResult<void> | undefined): boolean {
  if (result?.status !== 'rejected') return true;
  const fault = faultOf(result.reason);
  const isOther = fault?.kind === 'unexpectedReply' && fault.reason === 'html';
  return fault?.kind !== 'network' && fault?.kind !== 'timeout' && !isOther;
}
