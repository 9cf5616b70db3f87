/** The calls that create, change and delete projects. */
import type { ProjectPatch, ProjectCreation } from '../../../api/records/requests.ts';
import { toTimestamp, type ServiceClock } from '../../core/clock.ts';
import type { BranchOwner, ComputeEngine } from '../../core/computeEngine.ts';
import { unprocessable } from '../../core/errors.ts';
import type { ProjectState, Store } from '../../state/store.ts';
import {
  isUnfinished,
  type BranchRecord,
  type ComputeRecord,
  type Leftover,
  type OperationRecord,
  type ProjectRecord,
} from '../../state/storedRecords.ts';
import { catalogRecords, type CatalogRecords } from '../catalog/catalogRecords.ts';
import { rejectReservedName } from '../catalog/branchCatalogs.ts';
import { locked } from '../computeRecord.ts';
import { requirePostgres, type Computes } from '../computes.ts';
import { generateId } from '../generateId.ts';
import type { Operations } from '../operations.ts';
import { operationTarget, startOf, type Branches } from './branches.ts';
import { newBranch } from './branchRecord.ts';
import { newProject } from './projectRecord.ts';

export interface ProjectsOptions {
  readonly store: Store;
  readonly engine: Promise<ComputeEngine>;
  readonly operations: Operations;
  readonly computes: Computes;
  readonly branches: Branches;
  readonly clock: ServiceClock;
  readonly onUnexpected: (what: string, error: unknown) => void;
}

export interface CreatedProject extends CatalogRecords {
  readonly project: ProjectRecord;
  readonly branch: BranchRecord;
  readonly endpoints: readonly ComputeRecord[];
  readonly operations: readonly OperationRecord[];
}

const DEFAULT_BRANCH = 'main';

export class Projects {
  readonly #options: ProjectsOptions;
  #isStopped = false;

  constructor(options: ProjectsOptions) {
    this.#options = options;
  }

  /** Creates a project with a default branch and its primary compute. */
  async create(creation: ProjectCreation): Promise<CreatedProject> {
    const { store, computes, branches, operations, clock } = this.#options;
    const owner = ownerOf(creation.branch ?? {});
    const engine = await this.#options.engine;
    requirePostgres(engine);
    const now = clock.now();
    const id = generateId('', (taken) => store.account.hasProject(taken));
    const project = newProject(id, creation, engine.pgVersion, now);
    const endpoint = { type: 'read_write', branch_id: '' } as const;
    computes.requireValid(project, endpoint);
    const name = creation.branch?.name ?? DEFAULT_BRANCH;
    const branch = newBranch({ id: branches.newId(), project_id: id, name, default: true }, now);
    const allocation = await computes.allocate();
    const compute = computes.prepare(project, { ...endpoint, branch_id: branch.id }, allocation);
    const step = { kind: 'createBranch', ...(owner === undefined ? {} : { owner }) } as const;
    const started = operations.begin(
      id,
      [{ step, target: operationTarget(branch) }, startOf(compute)],
      [
        { set: 'project', value: project },
        { set: 'branch', value: branch },
        { set: 'compute', value: compute },
      ],
    );
    // The password is created now, so the project must be on disk.
    await store.whenDurable();
    await computes.open(project, [compute]);
    const catalog = await engine.prepareBranch({ id: branch.id, owner });
    const endpoints = [compute.record];
    return { project, branch, endpoints, operations: started, ...catalogRecords(branch, catalog, [compute]) };
  }

  update({ record }: ProjectState, patch: ProjectPatch): void {
    const { store, computes, clock } = this.#options;
    const {
      name = record.name,
      default_endpoint_settings = record.default_endpoint_settings ?? {},
      history_retention_seconds = record.history_retention_seconds,
    } = patch;
    const project: ProjectRecord = {
      ...record,
      name,
      default_endpoint_settings,
      ...(history_retention_seconds === undefined ? {} : { history_retention_seconds }),
      updated_at: toTimestamp(clock.now()),
    };
    computes.requireValid(project, { type: 'read_write', branch_id: '' });
    store.commit({ set: 'project', value: project });
  }

  /** Removes the project at once. Its processes and data follow. */
  delete(project: ProjectState): void {
    const { record, branches, computes, operations } = project;
    for (const { id, protected: isProtected } of branches.values())
      if (isProtected) throw unprocessable(`Branch ${id} is protected. Remove the protection first.`);
    const busy = [...operations.values()].find(isUnfinished);
    if (busy !== undefined) throw locked(busy);
    const value = { projectId: record.id, branchIds: [...branches.keys()], computeIds: [...computes.keys()] };
    this.#options.store.commit({ set: 'leftover', value }, { removed: 'project', projectId: record.id });
    void this.#clean(value);
  }

  /** Continues what an earlier run of the service left. */
  resume(): void {
    for (const leftover of this.#options.store.account.leftovers.values()) void this.#clean(leftover);
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #clean({ projectId, branchIds, computeIds }: Leftover): Promise<void> {
    const { store, onUnexpected } = this.#options;
    try {
      await store.whenDurable();
      const engine = await this.#options.engine;
      for (const id of computeIds) {
        await engine.suspend(id);
        await engine.remove(id);
      }
      for (const id of branchIds) await engine.deleteBranch(id);
      if (!this.#isStopped) store.commit({ removed: 'leftover', projectId });
    } catch (error) {
      // The next start tries again.
      if (!this.#isStopped) onUnexpected(`deleting the data of project ${projectId}`, error);
    }
  }
}

/** Undefined for the default role and database. A database that is named without a role gets the owner `<name>_owner`. */
function ownerOf(branch: {
  role_name?: string | undefined;
  database_name?: string | undefined;
}): BranchOwner | undefined {
  const { role_name, database_name } = branch;
  if (role_name === undefined && database_name === undefined) return undefined;
  const database = database_name ?? 'app';
  const role = role_name ?? `${database}_owner`;
  rejectReservedName('role', role);
  rejectReservedName('database', database);
  return { role, database };
}
