/** The calls that change branches and projects: see `ChangeSender`. */
import type { ResetPassword } from '../../api/client.ts';
import { isNotOffered, isPermanentRejection, isRejected } from '../../api/transport/errors.ts';
import type { Branch, Project } from '../../api/records/records.ts';
import type {
  BranchPatch,
  BranchCreation,
  BranchRestoreBody,
  ProjectCreation,
} from '../../api/records/requests.ts';
import { NotOfferedError, ProtectionLostError } from '../window/changeErrors.ts';
import type { RecoveryRecords } from '../window/memory.ts';
import type { BranchIds, BranchRef } from '../account/refs.ts';
import type { Session } from '../account/session.ts';
import type { BranchList } from '../inventory/branchLists.ts';
import { nameUnlessId } from '../inventory/names.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { SendResult, SendOptions, ServiceChange, ChangeSender } from '../operations/changeSender.ts';
import { hasRequestedChange, wasReset } from './lostReply.ts';
import { hasLogicalReplication, projectEdit } from './projectEdit.ts';

interface BranchRequest extends Pick<ServiceChange, 'verb' | 'send' | 'feature' | 'targetStillExists'> {
  /** Whether the list, reloaded after a lost reply, shows the change. */
  readonly wasMade: (list: BranchList) => boolean;
}

/**
 * A branch whose protection was removed in order to delete it. A reload during the deletion must not leave it unprotected, so
 * a recovery record exists until it is deleted or protected again.
 */
export interface UnprotectedBranch extends BranchRef {
  /** Undefined if the branch has no name other than its id. */
  readonly name?: string | undefined;
}

const recordId = ({ account, projectId, branchId }: UnprotectedBranch): string =>
  JSON.stringify([account, projectId, branchId]);

/** Changes branches and projects for commands and agents. */
export class BranchActions {
  readonly #session: Session;
  readonly #inventory: Inventory;
  readonly #sender: ChangeSender;
  readonly #unprotected: RecoveryRecords<UnprotectedBranch>;
  /** The records of branches that this window is deleting. */
  readonly #deleting = new Set<string>();

  constructor(
    session: Session,
    inventory: Inventory,
    sender: ChangeSender,
    unprotected: RecoveryRecords<UnprotectedBranch>,
  ) {
    this.#session = session;
    this.#inventory = inventory;
    this.#sender = sender;
    this.#unprotected = unprotected;
  }

  /** @throws {ApiError} also for a name that another branch has */
  create(projectId: string, creation: BranchCreation, options: SendOptions): Promise<SendResult> {
    const before = new Set(this.#inventory.branches.forProject(projectId)?.branches.keys());
    // Names are unique within a project.
    const isNew = ({ id, name }: Branch) => name === creation.branch?.name && !before.has(id);
    return this.#sender.send(
      {
        verb: 'create',
        projectId,
        withBranches: true,
        send: ({ branches }, call) => branches.create(projectId, creation, call),
        find: () => {
          const branch = [...(this.#inventory.branches.forProject(projectId)?.branches.values() ?? [])].find(
            isNew,
          );
          const computes = this.#inventory.computesOf(projectId)?.branches();
          return branch && { branch, computes: computes?.get(branch.id) ?? [] };
        },
      },
      options,
    );
  }

  /** @param change only the attributes that change @throws {ApiError} */
  update(ids: BranchIds, change: BranchPatch, options: SendOptions): Promise<SendResult> {
    return this.#change(ids, options, {
      verb: 'edit',
      send: ({ branches }, call) => branches.update(ids.projectId, ids.branchId, change, call),
      wasMade: (list) => hasRequestedChange(list.branches.get(ids.branchId), change),
    });
  }

  /** @throws {ApiError} */
  setDefault(ids: BranchIds, options: SendOptions): Promise<SendResult> {
    return this.#change(ids, options, {
      verb: 'edit',
      send: ({ branches }, call) => branches.setDefault(ids.projectId, ids.branchId, call),
      wasMade: (list) => list.default?.id === ids.branchId,
    });
  }

  /** Replaces the data of the branch with the current data of another one. @throws {ApiError} */
  reset(ids: BranchIds, sourceId: string, options: SendOptions): Promise<SendResult> {
    const source = { source_branch_id: sourceId };
    const before = this.#inventory.branches.get(ids.projectId, ids.branchId);
    return this.#change(ids, options, {
      verb: 'reset',
      send: ({ branches }, call) => branches.restore(ids.projectId, ids.branchId, source, call),
      wasMade: (list) => wasReset(before, list.branches.get(ids.branchId)),
    });
  }

  /**
   * Replaces the data of the branch with that of another one, or with its own at a time. `preserve_under_name` becomes the name of
   * a new branch with the data that the branch had until then.
   * @throws {ApiError}
   * @throws {NotOfferedError}
   */
  restore(
    ids: BranchIds,
    source: BranchRestoreBody & { readonly preserve_under_name: string },
    options: SendOptions,
  ): Promise<SendResult> {
    const exists = (id: string) => this.#inventory.branches.get(ids.projectId, id) !== undefined;
    return this.#change(ids, options, {
      verb: 'undo',
      feature: 'restoring',
      targetStillExists: () => exists(ids.branchId) && exists(source.source_branch_id),
      send: ({ branches }, call) => branches.restore(ids.projectId, ids.branchId, source, call),
      wasMade: (list) => list.findByName(source.preserve_under_name) !== undefined,
    });
  }

  /** @throws {ApiError} @throws {NotOfferedError} */
  async resetPassword(
    { projectId, branchId }: BranchIds,
    role: string,
    options: SendOptions,
  ): Promise<ResetPassword> {
    try {
      return await this.#sender.call(
        (client, call) => client.resetPassword(projectId, branchId, role, call),
        options,
      );
    } catch (error) {
      throw isNotOffered(error) ? new NotOfferedError('passwords') : error;
    }
  }

  /**
   * Deletes the branch and its data for good.
   * @param unprotect whether to remove the protection if the service rejects the deletion because of it. The user has seen
   * the protection and agreed. If the deletion fails, the branch is protected again.
   * @throws {ApiError}
   * @throws {ProtectionLostError} if the branch still exists, without its protection
   */
  async delete(
    ids: BranchIds,
    { unprotect }: { readonly unprotect: boolean },
    options: SendOptions,
  ): Promise<SendResult> {
    const { connection } = this.#session;
    try {
      return await this.#delete(ids, options);
    } catch (error) {
      const isProtected = unprotect && isPermanentRejection(error) && (await this.#isProtected(ids));
      if (!isProtected || connection === undefined) throw error;
    }
    const name = nameUnlessId(this.#inventory.branches.get(ids.projectId, ids.branchId));
    const { projectId, branchId } = ids;
    const branch = { account: connection.accountId, projectId, branchId, name };
    await this.#unprotected.set(recordId(branch), branch);
    this.#deleting.add(recordId(branch));
    try {
      await this.update(branch, { protected: false }, options);
      const deleted = await this.#delete(branch, options);
      this.#unprotected.delete(recordId(branch));
      return deleted;
    } catch (error) {
      // The request ignores `options`, because the user may have canceled the deletion.
      await this.protectAgain(branch).catch(() => {
        throw new ProtectionLostError(error);
      });
      throw error;
    } finally {
      this.#deleting.delete(recordId(branch));
    }
  }

  #delete(ids: BranchIds, options: SendOptions): Promise<SendResult> {
    return this.#change(ids, options, {
      verb: 'delete',
      send: ({ branches }, call) => branches.delete(ids.projectId, ids.branchId, call),
      wasMade: (list) => !list.branches.has(ids.branchId),
    });
  }

  async #isProtected({ projectId, branchId }: BranchIds): Promise<boolean> {
    const list = await this.#inventory.branches.refresh(projectId);
    return list?.failure === undefined && list?.branches.get(branchId)?.protected === true;
  }

  /** Call this after a deletion that failed or was interrupted by a reload. @returns false if the branch is gone @throws {Error} */
  async protectAgain(branch: UnprotectedBranch): Promise<boolean> {
    const { connection } = this.#session;
    if (connection?.accountId !== branch.account) throw new Error('Another account');
    const exists = await this.update(branch, { protected: true }, { initialConnection: connection }).then(
      () => true,
      async (error: unknown) => {
        if (!isRejected(error, 404) && !(await this.#isProtected(branch))) throw error;
        return !isRejected(error, 404);
      },
    );
    this.#unprotected.delete(recordId(branch));
    return exists;
  }

  /** Returns the branches of the account that an earlier window left unprotected. */
  leftUnprotected(account: string): readonly UnprotectedBranch[] {
    const isAbandoned = (branch: UnprotectedBranch) =>
      branch.account === account && !this.#deleting.has(recordId(branch));
    return this.#unprotected.all().filter(isAbandoned);
  }

  /** @throws {ApiError} @throws {NotOfferedError} */
  async createProject(creation: ProjectCreation, options: SendOptions): Promise<SendResult> {
    // If the reply is lost, an older project with this name must not be taken for the new one.
    await this.#inventory.refreshProjects();
    const before = new Set(this.#inventory.projects?.entries.keys());
    const isNew = ({ id, name }: Project) => !before.has(id) && name === creation.name;
    return await this.#sender.send(
      {
        verb: 'create',
        feature: 'projects',
        send: (client, call) => client.createProject(creation, call),
        find: () => {
          const entries = [...(this.#inventory.projects?.entries.values() ?? [])];
          const [project, ...others] = entries.flatMap(({ record }) => record ?? []).filter(isNew);
          return project && others.length === 0 ? { project } : undefined;
        },
      },
      options,
    );
  }

  /** @throws {ApiError} @throws {NotOfferedError} */
  renameProject(id: string, name: string, options: SendOptions): Promise<SendResult> {
    const isRenamed = (project: Project) => project.name === name;
    return this.#sender.send(projectEdit(this.#inventory, id, { name }, isRenamed), options);
  }

  /** @throws {ApiError} @throws {NotOfferedError} */
  turnOnReplication(id: string, options: SendOptions): Promise<SendResult> {
    const change = { settings: { enable_logical_replication: true } };
    return this.#sender.send(projectEdit(this.#inventory, id, change, hasLogicalReplication), options);
  }

  /** @throws {ApiError} @throws {NotOfferedError} */
  recoverProject(id: string, options: SendOptions): Promise<SendResult> {
    return this.#sender.send(
      {
        verb: 'create',
        feature: 'projects',
        send: (client, call) => client.recoverProject(id, call),
        find: () => (this.#inventory.project(id) === undefined ? undefined : {}),
      },
      options,
    );
  }

  /** Deletes a project with its data, which some services keep for a while. @throws {ApiError} @throws {NotOfferedError} */
  deleteProject(id: string, options: SendOptions): Promise<SendResult> {
    return this.#sender.send(
      {
        verb: 'delete',
        feature: 'projects',
        targetStillExists: () => this.#inventory.projects?.entries.has(id) === true,
        send: async (client, call) => {
          await client.deleteProject(id, call);
          return { operations: [] };
        },
        find: () => (this.#inventory.projects?.entries.has(id) === false ? {} : undefined),
      },
      options,
    );
  }

  #change(
    { projectId, branchId }: BranchIds,
    options: SendOptions,
    { wasMade, ...request }: BranchRequest,
  ): Promise<SendResult> {
    const find = () => {
      const list = this.#inventory.branches.forProject(projectId);
      return list !== undefined && wasMade(list) ? { branch: list.branches.get(branchId) } : undefined;
    };
    return this.#sender.send({ ...request, projectId, withBranches: true, find }, options);
  }
}
