/**
 * The calls that change computes. The reply is shown at once, and its operations are followed. If the reply is lost, the
 * list of computes shows whether the change was made, so that nothing is sent twice.
 */
import type { CallOptions, Client, ComputeOutcome } from '../../api/client.ts';
import { isOutcomeUnknown, isRefused } from '../../api/errors.ts';
import type { Compute } from '../../api/records/records.ts';
import type { ComputeChange, ComputeCreation } from '../../api/records/requests.ts';
import { onlyChanged } from './computeEdit.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { ComputeNode } from '../inventory/nodes.ts';
import type { OperationTracker } from './operationTracker.ts';
import type { ChangeVerb } from './pendingChange.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import type { Session } from '../account/session.ts';

/**
 * `compute`: undefined if the service returned none, or if its reply to an edit was lost.
 * `isPending`: the operation tracker will report the end. Otherwise the change is complete.
 */
export interface AcceptedChange {
  readonly compute: Compute | undefined;
  readonly isPending: boolean;
}

interface ChangeRequest {
  readonly verb: ChangeVerb;
  readonly projectId: string;
  readonly send: (client: Client, options: CallOptions) => Promise<ComputeOutcome>;
  /** Whether the list requested after a lost reply shows that the change was made. */
  readonly wasMade: (computes: ReadonlyMap<string, Compute>) => Compute | boolean;
}

/** For the number of connections, in milliseconds. */
const MAX_WAIT = 5000;

export class ComputeChanges {
  readonly #session: Session;
  readonly #inventory: Inventory;
  readonly #tracker: OperationTracker;

  constructor(session: Session, inventory: Inventory, tracker: OperationTracker) {
    this.#session = session;
    this.#inventory = inventory;
    this.#tracker = tracker;
  }

  /** @throws {ApiError} also for a second primary on a branch */
  async create(projectId: string, creation: ComputeCreation, options?: CallOptions): Promise<AcceptedChange> {
    // If the reply is lost, a compute that another window created earlier must not be taken for this one.
    await this.#inventory.refreshComputes(projectId);
    const before = new Set(this.#inventory.computesOf(projectId)?.computes.keys());
    const isAsWanted = (compute: Compute) =>
      compute.branch_id === creation.branch_id &&
      compute.type === creation.type &&
      (creation.name === undefined || creation.name === compute.name);
    const findNew = (computes: ReadonlyMap<string, Compute>) => {
      const added = [...computes.values()].filter((each) => !before.has(each.id) && isAsWanted(each));
      return (added.length === 1 && added[0]) || false;
    };
    return this.#make(
      {
        verb: 'create',
        projectId,
        send: (client, given) => client.createCompute(projectId, creation, given),
        wasMade: findNew,
      },
      options,
    );
  }

  /** @param change only the attributes that change @throws {ApiError} */
  update(node: ComputeNode, change: ComputeChange, options?: CallOptions): Promise<AcceptedChange> {
    const isAsWanted = (compute: Compute | undefined) =>
      compute !== undefined && onlyChanged(compute, change) === undefined;
    return this.#make(
      {
        verb: 'edit',
        projectId: node.projectId,
        send: (client, given) => client.updateCompute(node.projectId, node.computeId, change, given),
        wasMade: (computes) => isAsWanted(computes.get(node.computeId)),
      },
      options,
    );
  }

  /** @throws {ApiError} */
  restart(node: ComputeNode, options?: CallOptions): Promise<AcceptedChange> {
    return this.#make(
      {
        verb: 'restart',
        projectId: node.projectId,
        send: (client, given) => client.restartCompute(node.projectId, node.computeId, given),
        wasMade: (computes) => (computes.get(node.computeId)?.pending_state ?? '') !== '',
      },
      options,
    );
  }

  /** @returns undefined if the service doesn't offer the call, or not for this key @throws {ApiError} */
  start(node: ComputeNode, options?: CallOptions): Promise<AcceptedChange | undefined> {
    return this.#ifOffered(
      node,
      {
        verb: 'start',
        projectId: node.projectId,
        send: (client, given) => client.startCompute(node.projectId, node.computeId, given),
        wasMade: (computes) => isHeadingFor(computes.get(node.computeId), 'active'),
      },
      options,
    );
  }

  /** As `start`. Drops the connections. */
  suspend(node: ComputeNode, options?: CallOptions): Promise<AcceptedChange | undefined> {
    return this.#ifOffered(
      node,
      {
        verb: 'suspend',
        projectId: node.projectId,
        send: (client, given) => client.suspendCompute(node.projectId, node.computeId, given),
        wasMade: (computes) => isHeadingFor(computes.get(node.computeId), 'idle'),
      },
      options,
    );
  }

  /** The open client connections of a compute; undefined if the service doesn't say, or not soon enough for a question. */
  async openConnections({
    projectId,
    computeId,
  }: Pick<ComputeNode, 'projectId' | 'computeId'>): Promise<number | undefined> {
    const { connection } = this.#session;
    if (connection === undefined) return undefined;
    const options = untilClosed(connection, { signal: AbortSignal.timeout(MAX_WAIT) });
    try {
      const client = await connection.client();
      return (await client.findCompute(projectId, computeId, options))?.connections ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** @throws {ApiError} */
  delete(node: ComputeNode, options?: CallOptions): Promise<AcceptedChange> {
    return this.#make(
      {
        verb: 'delete',
        projectId: node.projectId,
        send: (client, given) => client.deleteCompute(node.projectId, node.computeId, given),
        wasMade: (computes) => !computes.has(node.computeId),
      },
      options,
    );
  }

  async #ifOffered(
    { projectId, computeId }: ComputeNode,
    call: ChangeRequest,
    options?: CallOptions,
  ): Promise<AcceptedChange | undefined> {
    try {
      return await this.#make(call, options);
    } catch (error) {
      if (isRefused(error, 405)) return undefined;
      if (!isRefused(error, 403, 404)) throw error;
      // The same status as for a compute that was deleted, or that the key can't read.
      await this.#refreshQuietly(projectId);
      const list = this.#inventory.computesOf(projectId);
      if (list?.failure !== undefined || list?.computes.has(computeId) !== true) throw error;
      return undefined;
    }
  }

  #make(call: ChangeRequest, options?: CallOptions): Promise<AcceptedChange> {
    return sendChange(
      this.#session,
      {
        send: call.send,
        accept: (outcome, isCurrent) => this.#accept(call, outcome, isCurrent),
        refresh: () => this.#refreshQuietly(call.projectId),
        find: () => this.#find(call),
      },
      options,
    );
  }

  async #accept(call: ChangeRequest, outcome: ComputeOutcome, isCurrent: boolean): Promise<AcceptedChange> {
    const { compute, operations } = outcome;
    if (!isCurrent) return { compute, isPending: false };
    if (compute !== undefined && call.verb !== 'delete') this.#inventory.put(compute);
    const target = compute && { projectId: compute.project_id, computeId: compute.id, name: compute.name };
    const isPending = target !== undefined && this.#tracker.follow(call.verb, target, operations);
    if (!isPending) await this.#refreshQuietly(call.projectId);
    return { compute, isPending };
  }

  #find(call: ChangeRequest): AcceptedChange | undefined {
    const list = this.#inventory.computesOf(call.projectId);
    const made = list?.failure === undefined && list !== undefined && call.wasMade(list.computes);
    return made === false ? undefined : { compute: made === true ? undefined : made, isPending: false };
  }

  /** The list keeps a failure; the change itself was accepted or has an error. */
  async #refreshQuietly(projectId: string): Promise<void> {
    await this.#inventory.refreshComputes(projectId).catch(() => undefined);
  }
}

/** How to send a change, and how to find out later whether it was made. */
export interface SentChange<Outcome, Accepted> {
  readonly send: (client: Client, options: CallOptions) => Promise<Outcome>;
  /** @param isCurrent false if the window has another account by now */
  readonly accept: (outcome: Outcome, isCurrent: boolean) => Promise<Accepted>;
  /** Loads the lists again. Never rejects. */
  readonly refresh: () => Promise<void>;
  /** The change, if the refreshed lists show that it was made. */
  readonly find: () => Accepted | undefined;
}

/** Sends a change once. If the reply is lost, the lists show whether it was made. @throws {ApiError} */
export async function sendChange<Outcome, Accepted>(
  session: Session,
  { send, accept, refresh, find }: SentChange<Outcome, Accepted>,
  options: CallOptions = {},
): Promise<Accepted> {
  const { connection } = session;
  if (connection === undefined) throw new Error('Not connected');
  const given = untilClosed(connection, options);
  try {
    const outcome = await send(await connection.client(), given);
    return await accept(outcome, connection === session.connection);
  } catch (error) {
    // The list is out of date: another client has made a change.
    if (isRefused(error, 404, 409, 422)) void refresh();
    if (!isOutcomeUnknown(error) || connection !== session.connection) throw error;
    await refresh();
    const found = find();
    if (found === undefined) throw error;
    return found;
  }
}

/** Also ends the call when the connection is closed. */
function untilClosed(connection: AccountConnection, options: CallOptions): CallOptions {
  const signals = [connection.signal, options.signal].filter((signal) => signal !== undefined);
  return { ...options, signal: AbortSignal.any(signals) };
}

function isHeadingFor(compute: Compute | undefined, state: 'active' | 'idle'): boolean {
  if (compute === undefined) return false;
  return (compute.pending_state || compute.current_state) === state;
}
