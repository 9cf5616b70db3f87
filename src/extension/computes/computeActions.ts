/** The calls that change computes: see `ChangeSender`. */
import { isDeepStrictEqual } from 'node:util';
import type { CallOptions, Client } from '../../api/client.ts';
import { AUTOSUSPEND_DEFAULT } from '../../api/rules/autosuspendDelay.ts';
import type { OpenConnections } from '../../api/records/effects.ts';
import type { Compute, Operation } from '../../api/records/records.ts';
import type { ComputePatch, ComputeCreation } from '../../api/records/requests.ts';
import type { ComputeIds } from '../account/refs.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { ComputeNode } from '../inventory/nodes.ts';
import type { Session } from '../account/session.ts';
import { computeStatus, postgresSettings } from '../inventory/computeStatus.ts';
import {
  tryListOperations,
  type ChangeSender,
  type ServiceChange,
  type SendOptions,
  type SendResult,
} from '../operations/changeSender.ts';

interface ComputeRequest extends Pick<ServiceChange, 'verb' | 'send'> {
  /** Whether the list, reloaded after a lost reply, shows the change. */
  readonly wasMade: (compute: Compute | undefined) => boolean | Promise<boolean>;
}

/** Milliseconds to wait for the number of connections. */
const CONNECTION_COUNT_WAIT = 5000;

/** Changes computes for commands and agents. */
export class ComputeActions {
  readonly #session: Session;
  readonly #inventory: Inventory;
  readonly #sender: ChangeSender;

  constructor(session: Session, inventory: Inventory, sender: ChangeSender) {
    this.#session = session;
    this.#inventory = inventory;
    this.#sender = sender;
  }

  /** @throws {ApiError} also for a second primary on a branch */
  async create(projectId: string, creation: ComputeCreation, options: SendOptions): Promise<SendResult> {
    // After a lost reply, a compute that another window created before must not be mistaken for this one.
    this.#inventory.markChanged(projectId);
    await this.#inventory.refreshComputes(projectId);
    const before = new Set(this.#inventory.computesOf(projectId)?.computes.keys());
    const isNew = (compute: Compute) =>
      !before.has(compute.id) &&
      compute.branch_id === creation.branch_id &&
      compute.type === creation.type &&
      (creation.name === undefined || creation.name === compute.name);
    const find = () => {
      const [compute, ...others] = [
        ...(this.#inventory.computesOf(projectId)?.computes.values() ?? []),
      ].filter(isNew);
      return compute && others.length === 0 ? { compute } : undefined;
    };
    return await this.#sender.send(
      {
        verb: 'create',
        projectId,
        send: (client, call) => client.createCompute(projectId, creation, call),
        find,
      },
      options,
    );
  }

  /** @param change only the attributes that change @throws {ApiError} */
  update(node: ComputeNode, change: ComputePatch, options: SendOptions): Promise<SendResult> {
    return this.#change(node, options, {
      verb: 'edit',
      send: (client, call) => client.updateCompute(node.projectId, node.computeId, change, call),
      wasMade: (compute) => compute !== undefined && omitUnchanged(compute, change) === undefined,
    });
  }

  /** @throws {ApiError} */
  restart(node: ComputeNode, options: SendOptions): Promise<SendResult> {
    const before = this.#inventory.compute(node.projectId, node.computeId);
    return this.#change(node, options, {
      verb: 'restart',
      send: (client, call) => client.restartCompute(node.projectId, node.computeId, call),
      wasMade: async (after) => after !== undefined && this.#wasRestarted(node, before, after),
    });
  }

  /**
   * Whether a restart was made whose reply was lost. A restarted compute looks as before, so its operations since its last known
   * change decide, by the service's own clock. A restart by another window since the last refresh is taken for this one, because
   * no further request is sent before a restart.
   */
  async #wasRestarted(
    { projectId, computeId }: ComputeNode,
    before: Compute | undefined,
    after: Compute,
  ): Promise<boolean> {
    const { connection } = this.#session;
    const operations = connection && (await tryListOperations(connection, projectId));
    const known = Date.parse(String(before?.updated_at));
    if (operations === undefined || Number.isNaN(known)) return isRestarting(before, after);
    return operations.some(
      (each) =>
        each.endpoint_id === computeId &&
        isRequestedStart(each) &&
        Date.parse(String(each.created_at)) > known,
    );
  }

  /** @throws {ApiError} @throws {NotOfferedError} */
  start(node: ComputeNode, options: SendOptions): Promise<SendResult> {
    return this.#change(node, options, {
      verb: 'start',
      send: (client, call) => client.startCompute(node.projectId, node.computeId, call),
      wasMade: (compute) => isHeadingFor(compute, 'active'),
    });
  }

  /** Drops the connections. @throws {ApiError} @throws {NotOfferedError} */
  suspend(node: ComputeNode, options: SendOptions): Promise<SendResult> {
    return this.#change(node, options, {
      verb: 'suspend',
      send: (client, call) => client.suspendCompute(node.projectId, node.computeId, call),
      wasMade: (compute) => isHeadingFor(compute, 'idle'),
    });
  }

  /** @throws {ApiError} */
  delete(node: ComputeNode, options: SendOptions): Promise<SendResult> {
    return this.#change(node, options, {
      verb: 'delete',
      send: (client, call) => client.deleteCompute(node.projectId, node.computeId, call),
      wasMade: (compute) => compute === undefined,
    });
  }

  /**
   * Counts the open connections of a compute: see `OpenConnections`.
   * @returns undefined also if the service doesn't say it soon enough for a question
   */
  async countOpenConnections({ projectId, computeId }: ComputeIds): Promise<OpenConnections> {
    const { connection: initialConnection } = this.#session;
    const options = { initialConnection, signal: AbortSignal.timeout(CONNECTION_COUNT_WAIT) };
    const find = (client: Client, call: CallOptions) => client.findCompute(projectId, computeId, call);
    const compute = await this.#sender.call(find, options).catch(() => undefined);
    if (compute !== undefined && computeStatus(compute) === 'idle') return 'idle';
    return compute?.connections ?? undefined;
  }

  #change(
    { projectId, computeId }: ComputeNode,
    options: SendOptions,
    { verb, send, wasMade }: ComputeRequest,
  ): Promise<SendResult> {
    const compute = () => this.#inventory.compute(projectId, computeId);
    const find = async () => ((await wasMade(compute())) ? { compute: compute() } : undefined);
    const targetStillExists = () => compute() !== undefined;
    const mayNotBeOffered = verb === 'start' || verb === 'suspend';
    const optional = mayNotBeOffered ? ({ feature: 'startAndSuspend', targetStillExists } as const) : {};
    return this.#sender.send({ verb, projectId, send, find, ...optional }, options);
  }
}

const isRequestedStart = ({ action, triggered_by }: Operation): boolean =>
  action === 'start_compute' && !triggered_by;

/**
 * Whether a compute has begun to restart. This is for services that list no operations, or don't say when a compute has changed.
 */
const isRestarting = (before: Compute | undefined, after: Compute): boolean =>
  (Boolean(after.pending_state) && !before?.pending_state) ||
  (after.started_at ?? null) !== (before?.started_at ?? null);

function isHeadingFor(compute: Compute | undefined, state: 'active' | 'idle'): boolean {
  if (compute === undefined) return false;
  return (compute.pending_state || compute.current_state) === state;
}

/** Returns the value of each attribute; its default if the record doesn't have it. */
function computeAttributes(compute: Compute): Readonly<Record<string, unknown>> {
  return {
    branch_id: compute.branch_id,
    suspend_timeout_seconds: compute.suspend_timeout_seconds ?? AUTOSUSPEND_DEFAULT,
    pooler_enabled: compute.pooler_enabled ?? false,
    disabled: compute.disabled ?? false,
    name: compute.name ?? '',
    settings: { pg_settings: postgresSettings(compute) },
    autoscaling_limit_min_cu: compute.autoscaling_limit_min_cu,
    autoscaling_limit_max_cu: compute.autoscaling_limit_max_cu,
  };
}

/** Returns the attributes of `patch` that differ from the compute's; undefined if all are equal. */
export function omitUnchanged(compute: Compute, patch: ComputePatch): ComputePatch | undefined {
  const current = computeAttributes(compute);
  const different = Object.entries(patch).filter(
    ([field, value]) => !isDeepStrictEqual(value, current[field]),
  );
  return different.length === 0 ? undefined : (Object.fromEntries(different) as ComputePatch);
}
