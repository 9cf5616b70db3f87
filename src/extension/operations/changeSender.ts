/**
 * Sends every change of computes, branches and projects, once, to the account in which the user began. Shows the reply at
 * once and follows its operations. If the reply is lost, reloads the lists, which show whether the change was made.
 */
import type { CallOptions, Client } from '../../api/client.ts';
import { isCancelled, isNotOffered, isOutcomeUnknown, isRejected } from '../../api/transport/errors.ts';
import type { Branch, Compute, Operation, Project } from '../../api/records/records.ts';
import { Emitter } from '../../base/event.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import { ConnectionClosedError, NotOfferedError, type OptionalFeature } from '../window/changeErrors.ts';
import type { Session } from '../account/session.ts';
import { nameUnlessId, type ResourceNames } from '../inventory/names.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { OperationTracker } from './operationTracker.ts';
import type { ChangeVerb } from './pendingChange.ts';
import type { ResourceRef } from '../account/refs.ts';

/** How a change is sent. */
export interface SendOptions extends CallOptions {
  /** The connection when the user began. */
  readonly initialConnection: AccountConnection | undefined;
  /** Whether the success isn't announced, see `PendingChange`. */
  readonly isQuiet?: boolean;
  /** Whether a notification shows the progress, see `PendingChange`. */
  readonly hasNotification?: boolean;
  /** What an edit changes, see `PendingChange`. */
  readonly edited?: string | undefined;
}

/** The changed records: those in the reply, or after a lost reply those in the reloaded lists. */
interface UpdatedRecords {
  readonly project?: Project | undefined;
  readonly branch?: Branch | undefined;
  readonly compute?: Compute | undefined;
  /** The computes of a new branch. */
  readonly computes?: readonly Compute[];
}

/** What a change has led to. */
export interface SendResult extends UpdatedRecords {
  /** The id of the pending change whose end the operation tracker reports. Undefined if the change is complete. */
  readonly pendingId: string | undefined;
}

/** A change, and how to find out whether it was made if its reply is lost. */
export interface ServiceChange {
  readonly verb: ChangeVerb;
  /** Undefined for changes of the list of projects. */
  readonly projectId?: string;
  /** What the target is called, if its record has another name until the change has ended. */
  readonly names?: ResourceNames | undefined;
  /** Whether other branches may change as well. */
  readonly withBranches?: boolean;
  readonly send: (
    client: Client,
    options: CallOptions,
  ) => Promise<UpdatedRecords & { readonly operations: readonly Operation[] }>;
  /** Called after a lost reply, when the lists are reloaded. Returns undefined if they don't show the change. */
  readonly find: () => UpdatedRecords | undefined | Promise<UpdatedRecords | undefined>;
  /** The feature of a call that not every service offers. */
  readonly feature?: OptionalFeature;
  /** Whether the reloaded list still contains the target. If so, a 403 or 404 means that the service doesn't offer the call. */
  readonly targetStillExists?: () => boolean;
}

/** The most operations that are read to find those of a change. */
const NEWEST = 50;

/** Returns the newest operations of a project; undefined if the service doesn't list them or they can't be read. Never rejects. */
export const tryListOperations = async (
  connection: AccountConnection,
  projectId: string,
): Promise<readonly Operation[] | undefined> => {
  try {
    const client = await connection.client();
    const found = await client.listOperations(projectId, NEWEST, { signal: connection.signal });
    return found?.operations;
  } catch {
    // The change is judged by the lists, if the operations can't be read.
    return undefined;
  }
};

/** Sends the changes of commands and of agents' tools. */
export class ChangeSender {
  readonly #session: Session;
  readonly #inventory: Inventory;
  readonly #tracker: OperationTracker;
  readonly #notOffered = new Emitter<OptionalFeature>();

  readonly onNotOffered = this.#notOffered.event;

  constructor(session: Session, inventory: Inventory, tracker: OperationTracker) {
    this.#session = session;
    this.#inventory = inventory;
    this.#tracker = tracker;
  }

  /**
   * Makes a call to the account in which the user began, which ends with the connection.
   * @throws {ApiError}
   * @throws {AccountSwitchedError}
   * @throws {ConnectionClosedError}
   */
  async call<T>(
    send: (client: Client, options: CallOptions) => Promise<T>,
    { initialConnection, signal, onRetry }: SendOptions,
  ): Promise<T> {
    const connection = this.#requireConnection(initialConnection);
    const signals = [connection.signal, signal].filter((each) => each !== undefined);
    const client = await connection.client();
    try {
      return await send(client, { onRetry, signal: AbortSignal.any(signals) });
    } catch (error) {
      const isCancelledByUser = signal?.aborted === true;
      if (!isCancelled(error) || isCancelledByUser) throw error;
      throw new ConnectionClosedError(isOutcomeUnknown(error));
    }
  }

  /**
   * Sends a change, shows the records of the reply and follows its operations. If the reply is lost, it reloads the lists to find out
   * whether the change was made.
   * @throws {ApiError}
   * @throws {NotOfferedError} and what `call` throws
   */
  async send(request: ServiceChange, options: SendOptions): Promise<SendResult> {
    const connection = this.#requireConnection(options.initialConnection);
    const isCurrent = () => connection === this.#session.connection;
    try {
      const { operations, ...records } = await this.call(request.send, options);
      const pendingId = isCurrent() ? await this.#accept(request, records, operations, options) : undefined;
      return { ...records, pendingId };
    } catch (error) {
      if (!isCurrent()) throw error;
      await this.#requireOffered(request, error);
      // The list is out of date, because another client has made a change.
      if (isRejected(error, 404, 409, 422)) void this.#refresh(request);
      if (!isOutcomeUnknown(error)) throw error;
      const records = (await this.#refresh(request)) ? await request.find() : undefined;
      if (records === undefined) throw error;
      return {
        ...records,
        pendingId: isCurrent() ? await this.#followFound(request, records, connection, options) : undefined,
      };
    }
  }

  #requireConnection(initialConnection: AccountConnection | undefined): AccountConnection {
    this.#session.requireSameAccount(initialConnection);
    return this.#session.requireConnection();
  }

  /** Returns the id of the pending change; undefined if there are no operations to follow. */
  async #accept(
    request: ServiceChange,
    { project, branch, compute, computes = [] }: UpdatedRecords,
    operations: readonly Operation[],
    options: SendOptions,
  ): Promise<string | undefined> {
    const { verb } = request;
    if (verb !== 'delete') {
      if (branch !== undefined && request.projectId !== undefined)
        this.#inventory.branches.put(request.projectId, branch);
      for (const changed of compute === undefined ? computes : [compute]) this.#inventory.put(changed);
    }
    const target = targetResource(request, { project, branch, compute });
    const { names } = request;
    const pendingId = target && this.#tracker.follow(verb, target, operations, { ...options, names });
    // The tracker refreshes the computes, but not other branches and projects.
    if (pendingId === undefined || compute === undefined) await this.#refresh(request);
    return pendingId;
  }

  /**
   * Follows a change that was made although the reply was lost.
   * @returns the id of the pending change; undefined if the service lists no operations of it
   */
  async #followFound(
    request: ServiceChange,
    records: UpdatedRecords,
    connection: AccountConnection,
    options: SendOptions,
  ): Promise<string | undefined> {
    const target = targetResource(request, records);
    if (target === undefined) return undefined;
    const operations = await tryListOperations(connection, target.projectId);
    const own = operations?.filter((each) => concerns(each, target)) ?? [unreadOperation(target)];
    return this.#tracker.follow(request.verb, target, own, { ...options, names: request.names });
  }

  /** @throws {NotOfferedError} */
  async #requireOffered(request: ServiceChange, error: unknown): Promise<void> {
    if (request.feature === undefined || !isNotOffered(error)) return;
    const mayBeMissing = !isRejected(error, 405) && request.targetStillExists !== undefined;
    if (mayBeMissing && !((await this.#refresh(request)) && request.targetStillExists())) return;
    this.#notOffered.fire(request.feature);
    throw new NotOfferedError(request.feature);
  }

  /** Loads the lists that the change affects. Returns false if a list couldn't be loaded, which then has a failure. */
  async #refresh({ projectId, withBranches = false }: ServiceChange): Promise<boolean> {
    this.#inventory.markChanged(projectId);
    if (projectId === undefined) return await resolvesWithoutError(this.#inventory.refreshProjects());
    const [isUpToDate, branches] = await Promise.all([
      resolvesWithoutError(this.#inventory.refreshComputes(projectId)),
      withBranches ? this.#inventory.branches.refresh(projectId) : undefined,
    ]);
    return isUpToDate && branches?.failure === undefined;
  }
}

function targetResource(
  { projectId }: ServiceChange,
  { project, branch, compute }: UpdatedRecords,
): ResourceRef | undefined {
  if (compute !== undefined)
    return { projectId: compute.project_id, computeId: compute.id, name: compute.name };
  if (branch !== undefined && projectId !== undefined)
    return { projectId, branchId: branch.id, name: nameUnlessId(branch) };
  return project && { projectId: project.id, name: project.name };
}

/**
 * Stands for the operations of a change that couldn't be read. It has no id of the service, so the tracker judges it by the lists, which
 * show when the target has settled.
 */
const unreadOperation = ({ computeId, branchId, projectId }: ResourceRef): Operation => ({
  id: `unread-${computeId ?? branchId ?? projectId}`,
  project_id: projectId,
  action: 'apply_config',
  status: 'running',
});

const concerns = ({ endpoint_id, branch_id }: Operation, { computeId, branchId }: ResourceRef): boolean =>
  computeId === undefined ? branch_id === branchId : endpoint_id === computeId;

const resolvesWithoutError = (promise: Promise<void>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  );
