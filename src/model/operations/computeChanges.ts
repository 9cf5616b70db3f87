/**
 * The calls that change computes. The reply is shown at once, and its operations are followed. If the reply is lost, the
 * list of computes shows whether the change was made, so that nothing is sent twice.
 */
import type { CallOptions, Client, ComputeOutcome } from '../../api/client.ts';
import { isOutcomeUnknown, isRefused } from '../../api/errors.ts';
import type { Compute } from '../../api/records/records.ts';
import type { ComputeChange, ComputeCreation } from '../../api/records/requests.ts';
import { onlyChanged } from './computeEdit.ts';
import type { Connection } from '../account/connection.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { ComputeNode } from '../inventory/nodes.ts';
import type { OperationTracker } from './operationTracker.ts';
import type { ChangeVerb } from './pendingChange.ts';
import type { Session } from '../account/session.ts';

/** `isPending`: the operation tracker will report the end. Otherwise the change is complete. */
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

  /** @returns undefined if the service doesn't offer the call @throws {ApiError} */
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

  /**
   * The open client connections of a compute, as far as the service says.
   * @returns undefined if that isn't known
   */
  async openConnections({ projectId, computeId }: ComputeNode): Promise<number | undefined> {
    const { connection } = this.#session;
    const client = await connection?.client();
    const compute = await client?.findCompute(projectId, computeId, { signal: connection?.signal });
    return compute?.connections ?? undefined;
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
      if (!isRefused(error, 404)) throw error;
      // The same status as for a compute that was deleted.
      await this.#refreshQuietly(projectId);
      if (this.#inventory.compute(projectId, computeId) === undefined) throw error;
      return undefined;
    }
  }

  async #make(call: ChangeRequest, options: CallOptions = {}): Promise<AcceptedChange> {
    const { connection } = this.#session;
    if (connection === undefined) throw new Error('Not connected');
    const signals = [connection.signal, options.signal].filter((signal) => signal !== undefined);
    const given = { ...options, signal: AbortSignal.any(signals) };
    try {
      const outcome = await call.send(await connection.client(), given);
      return await this.#accept(connection, call, outcome);
    } catch (error) {
      // The list is out of date: another client has made a change.
      if (isRefused(error, 404, 409, 422)) void this.#refreshQuietly(call.projectId);
      const made = await this.#findOut(connection, call, error);
      if (made === false) throw error;
      return { compute: made === true ? undefined : made, isPending: false };
    }
  }

  async #accept(
    connection: Connection,
    call: ChangeRequest,
    outcome: ComputeOutcome,
  ): Promise<AcceptedChange> {
    const { compute, operations } = outcome;
    if (connection !== this.#session.connection) return { compute, isPending: false };
    if (compute !== undefined && call.verb !== 'delete') this.#inventory.put(compute);
    const isPending = compute !== undefined && this.#tracker.follow(call.verb, compute, operations);
    if (!isPending) await this.#refreshQuietly(call.projectId);
    return { compute, isPending };
  }

  async #findOut(connection: Connection, call: ChangeRequest, error: unknown): Promise<Compute | boolean> {
    if (!isOutcomeUnknown(error) || connection !== this.#session.connection) return false;
    await this.#refreshQuietly(call.projectId);
    const list = this.#inventory.computesOf(call.projectId);
    return list?.failure === undefined && list !== undefined && call.wasMade(list.computes);
  }

  /** The list keeps a failure; the change itself was accepted or has an error. */
  async #refreshQuietly(projectId: string): Promise<void> {
    await this.#inventory.refreshComputes(projectId).catch(() => undefined);
  }
}

function isHeadingFor(compute: Compute | undefined, state: 'active' | 'idle'): boolean {
  if (compute === undefined) return false;
  return (compute.pending_state || compute.current_state) === state;
}
