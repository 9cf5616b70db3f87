/**
 * The calls that change branches and projects. As for computes, the reply is shown at once, its operations are followed,
 * and if it is lost, the lists show whether the change was made.
 */
import type { BranchOutcome } from '../../api/branchCalls.ts';
import type { CallOptions, Client, ProjectOutcome } from '../../api/client.ts';
import { isPermanentRejection, isRefused } from '../../api/errors.ts';
import type { Branch, Compute, Project } from '../../api/records/records.ts';
import type { BranchChange, BranchCreation, ProjectCreation } from '../../api/records/requests.ts';
import { accountId } from '../account/accounts.ts';
import type { Session } from '../account/session.ts';
import type { BranchList } from '../inventory/branchList.ts';
import { nameOf } from '../inventory/branchStatus.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { BranchNode } from '../inventory/nodes.ts';
import { sendChange } from './computeChanges.ts';
import type { OperationTracker } from './operationTracker.ts';
import type { ChangeVerb } from './pendingChange.ts';
import type { UnprotectedBranch, UnprotectedBranches } from './unprotectedBranches.ts';

/** `isPending`: the operation tracker will report the end. Otherwise the change is complete. */
export interface AcceptedBranchChange {
  readonly branch: Branch | undefined;
  readonly computes: readonly Compute[];
  readonly isPending: boolean;
}

export interface AcceptedProject {
  readonly project: Project;
  readonly isPending: boolean;
}

interface ChangeRequest {
  readonly verb: ChangeVerb;
  readonly projectId: string;
  /** The branch as it was, for its name. */
  readonly before?: Branch | undefined;
  readonly send: (client: Client, options: CallOptions) => Promise<BranchOutcome>;
  /** Whether the list requested after a lost reply shows that the change was made, or the new branch. */
  readonly wasMade: (list: BranchList) => Branch | boolean;
}

/** A deletion failed, and so did protecting the branch again. Identified by its name: see `LocalServiceError`. */
export class ProtectionLostError extends Error {
  override readonly name = 'ProtectionLostError';

  /** @param cause why the deletion failed */
  constructor(cause: unknown) {
    super('The branch is no longer protected', { cause });
  }
}

type Place = Pick<BranchNode, 'projectId' | 'branchId'>;

export class BranchChanges {
  readonly #session: Session;
  readonly #inventory: Inventory;
  readonly #tracker: OperationTracker;
  readonly #unprotected: UnprotectedBranches;

  constructor(
    session: Session,
    inventory: Inventory,
    tracker: OperationTracker,
    unprotected: UnprotectedBranches,
  ) {
    this.#session = session;
    this.#inventory = inventory;
    this.#tracker = tracker;
    this.#unprotected = unprotected;
  }

  /** @throws {ApiError} also for a name that another branch has */
  create(projectId: string, creation: BranchCreation, options?: CallOptions): Promise<AcceptedBranchChange> {
    const before = new Set(this.#inventory.branches.of(projectId)?.branches.keys());
    const name = creation.branch?.name;
    return this.#make(
      {
        verb: 'create',
        projectId,
        send: ({ branches }, given) => branches.create(projectId, creation, given),
        // Names are unique within a project.
        wasMade: (list) =>
          [...list.branches.values()].find((one) => one.name === name && !before.has(one.id)) ?? false,
      },
      options,
    );
  }

  /** @param change only the attributes that change @throws {ApiError} */
  update(place: Place, change: BranchChange, options?: CallOptions): Promise<AcceptedBranchChange> {
    const isAsWanted = (branch: Branch | undefined) =>
      branch !== undefined &&
      Object.entries(change).every(([field, value]) => (Reflect.get(branch, field) ?? null) === value);
    return this.#change('edit', place, options, {
      send: ({ branches }, given) => branches.update(place.projectId, place.branchId, change, given),
      wasMade: (list) => isAsWanted(list.branches.get(place.branchId)),
    });
  }

  /** @throws {ApiError} */
  setDefault(place: Place, options?: CallOptions): Promise<AcceptedBranchChange> {
    return this.#change('edit', place, options, {
      send: ({ branches }, given) => branches.setDefault(place.projectId, place.branchId, given),
      wasMade: (list) => list.default?.id === place.branchId,
    });
  }

  /** Replaces the data of the branch with the current data of another one. @throws {ApiError} */
  reset(place: Place, sourceId: string, options?: CallOptions): Promise<AcceptedBranchChange> {
    const source = { source_branch_id: sourceId };
    return this.#change('reset', place, options, {
      send: ({ branches }, given) => branches.restore(place.projectId, place.branchId, source, given),
      wasMade: (list) => list.branches.get(place.branchId)?.current_state === 'resetting',
    });
  }

  /**
   * Permanent.
   * @param unprotect whether to remove the protection if the service refuses the deletion for it, because the user saw it
   * and agreed. If the branch is still there afterwards, it is protected again.
   * @throws {ApiError}
   * @throws {ProtectionLostError} if the branch is still there without its protection
   */
  async delete(
    place: Place,
    { unprotect }: { readonly unprotect: boolean },
    options?: CallOptions,
  ): Promise<AcceptedBranchChange> {
    const { connection } = this.#session;
    try {
      return await this.#delete(place, options);
    } catch (error) {
      const isProtected = unprotect && isPermanentRejection(error) && (await this.#isProtected(place));
      if (!isProtected || connection === undefined) throw error;
    }
    const name = nameOf(this.#inventory.branches.get(place.projectId, place.branchId));
    const { projectId, branchId } = place;
    const branch = { account: accountId(connection.account), projectId, branchId, name };
    return await this.#deleteProtected(branch, options);
  }

  #delete(place: Place, options?: CallOptions): Promise<AcceptedBranchChange> {
    return this.#change('delete', place, options, {
      send: ({ branches }, given) => branches.delete(place.projectId, place.branchId, given),
      wasMade: (list) => !list.branches.has(place.branchId),
    });
  }

  async #isProtected({ projectId, branchId }: Place): Promise<boolean> {
    const list = await this.#inventory.branches.refresh(projectId);
    return list?.failure === undefined && list?.branches.get(branchId)?.protected === true;
  }

  async #deleteProtected(branch: UnprotectedBranch, options?: CallOptions): Promise<AcceptedBranchChange> {
    this.#unprotected.add(branch);
    try {
      await this.update(branch, { protected: false }, options);
      const deleted = await this.#delete(branch, options);
      this.#unprotected.remove(branch);
      return deleted;
    } catch (error) {
      // Without the options: the user may have canceled.
      await this.protectAgain(branch).catch(() => {
        throw new ProtectionLostError(error);
      });
      throw error;
    }
  }

  /** After a deletion that failed, or that a reload interrupted. @returns false if the branch is gone @throws {Error} */
  async protectAgain(branch: UnprotectedBranch): Promise<boolean> {
    const { connection } = this.#session;
    if (connection === undefined || accountId(connection.account) !== branch.account)
      throw new Error('Another account');
    const isThere = await this.update(branch, { protected: true }).then(
      () => true,
      async (error: unknown) => {
        if (!isRefused(error, 404) && !(await this.#isProtected(branch))) throw error;
        return !isRefused(error, 404);
      },
    );
    this.#unprotected.remove(branch);
    return isThere;
  }

  /** @throws {ApiError} */
  async createProject(creation: ProjectCreation, options?: CallOptions): Promise<AcceptedProject> {
    let before = new Set<string>();
    const isNew = ({ id, name }: Project) => !before.has(id) && name === creation.name;
    return sendChange<ProjectOutcome, AcceptedProject>(
      this.#session,
      {
        send: async (client, given) => {
          // If the reply is lost, an older project with this name must not be taken for the new one.
          await this.#refreshProjects();
          before = new Set(this.#inventory.projects?.entries.keys());
          return await client.createProject(creation, given);
        },
        accept: async ({ project, operations }, isCurrent) => {
          const target = { projectId: project.id, name: project.name };
          const isPending = isCurrent && this.#tracker.follow('create', target, operations);
          await this.#refreshProjects();
          return { project, isPending };
        },
        refresh: () => this.#refreshProjects(),
        find: () => {
          const [project, ...others] = this.#projects().filter(isNew);
          return project && others.length === 0 ? { project, isPending: false } : undefined;
        },
      },
      options,
    );
  }

  /** Permanent: deletes its branches and their data. @throws {ApiError} */
  async deleteProject(projectId: string, options?: CallOptions): Promise<void> {
    const isGone = () => {
      const { projects } = this.#inventory;
      return projects?.failure === undefined && projects?.entries.has(projectId) === false;
    };
    await sendChange<void, true>(
      this.#session,
      {
        send: (client, given) => client.deleteProject(projectId, given),
        accept: async () => {
          await this.#refreshProjects();
          return true;
        },
        refresh: () => this.#refreshProjects(),
        find: () => isGone() || undefined,
      },
      options,
    );
  }

  #projects(): readonly Project[] {
    const entries = [...(this.#inventory.projects?.entries.values() ?? [])];
    return entries.flatMap(({ record }) => record ?? []);
  }

  #change(
    verb: ChangeVerb,
    { projectId, branchId }: Place,
    options: CallOptions | undefined,
    call: Pick<ChangeRequest, 'send' | 'wasMade'>,
  ): Promise<AcceptedBranchChange> {
    const before = this.#inventory.branches.get(projectId, branchId);
    return this.#make({ ...call, verb, projectId, before }, options);
  }

  #make(call: ChangeRequest, options?: CallOptions): Promise<AcceptedBranchChange> {
    return sendChange<BranchOutcome, AcceptedBranchChange>(
      this.#session,
      {
        send: call.send,
        accept: (outcome, isCurrent) => this.#accept(call, outcome, isCurrent),
        refresh: () => this.#refresh(call.projectId),
        find: () => {
          const list = this.#inventory.branches.of(call.projectId);
          const made = list !== undefined && list.failure === undefined && call.wasMade(list);
          if (made === false) return undefined;
          const branch = made === true ? undefined : made;
          const computes = this.#inventory.computesOf(call.projectId)?.branches();
          return { branch, computes: computes?.get(branch?.id ?? '') ?? [], isPending: false };
        },
      },
      options,
    );
  }

  async #accept(
    { verb, projectId, before }: ChangeRequest,
    { branch, computes, operations }: BranchOutcome,
    isCurrent: boolean,
  ): Promise<AcceptedBranchChange> {
    if (!isCurrent) return { branch, computes, isPending: false };
    if (branch !== undefined && verb !== 'delete') this.#inventory.branches.put(projectId, branch);
    for (const compute of computes) this.#inventory.put(compute);
    const target = branch && { projectId, branchId: branch.id, name: nameOf(branch) ?? nameOf(before) };
    const isPending = target !== undefined && this.#tracker.follow(verb, target, operations);
    // Its computes and other branches may have changed as well.
    await this.#refresh(projectId);
    return { branch, computes, isPending };
  }

  /** The lists keep a failure; the change itself was accepted or has an error. */
  async #refresh(projectId: string): Promise<void> {
    const computes = this.#inventory.refreshComputes(projectId).catch(() => undefined);
    await Promise.all([computes, this.#inventory.branches.refresh(projectId)]);
  }

  async #refreshProjects(): Promise<void> {
    await this.#inventory.refreshProjects().catch(() => undefined);
  }
}
