/** The calls that change branches: check the rules, record the change, start the operations. */
import type { BranchPatch, BranchCreationBody, BranchRestoreBody } from '../../../api/records/requests.ts';
import { toTimestamp, type ServiceClock } from '../../core/clock.ts';
import type { ComputeEngine } from '../../core/computeEngine.ts';
import { HttpError, unprocessable } from '../../core/errors.ts';
import type { ProjectState, Store } from '../../state/store.ts';
import type {
  BranchRecord,
  Change,
  ComputeRecord,
  OperationRecord,
  StoredCompute,
} from '../../state/storedRecords.ts';
import { withState } from '../computeRecord.ts';
import type { BranchCatalogs } from '../catalog/branchCatalogs.ts';
import { requirePostgres, type Computes, type Allocation } from '../computes.ts';
import { generateId } from '../generateId.ts';
import { catalogRecords } from '../catalog/catalogRecords.ts';
import { computeTarget, type OperationTarget, type Task } from '../operationRecord.ts';
import type { Operations } from '../operations.ts';
import { changeRecord } from '../usage.ts';
import {
  computesOf,
  defaultBranch,
  findBranch,
  newBranch,
  requireExpiryAllowed,
  requireDeletable,
  requireFree,
  requireMayHaveChildren,
  rejectHistoryPosition,
  requireNewName,
  requireReady,
  withExpiry,
} from './branchRecord.ts';
import { removeBranch } from './branchSteps.ts';

export interface BranchesOptions {
  readonly store: Store;
  readonly engine: Promise<ComputeEngine>;
  readonly operations: Operations;
  readonly computes: Computes;
  readonly catalogs: BranchCatalogs;
  readonly clock: ServiceClock;
}

/** What each of these calls returns. */
export interface BranchResult {
  readonly branch: BranchRecord;
  readonly operations: readonly OperationRecord[];
}

export interface CreatedBranch extends BranchResult {
  readonly endpoints: readonly ComputeRecord[];
}

type ComputeOfBranch = NonNullable<BranchCreationBody['endpoints']>[number];

export class Branches {
  readonly #options: BranchesOptions;

  constructor(options: BranchesOptions) {
    this.#options = options;
  }

  async create(project: ProjectState, body: BranchCreationBody): Promise<CreatedBranch> {
    const { catalogs, computes } = this.#options;
    const { parent_id: parentId = '' } = this.#buildBranch(project, body);
    const catalog = await catalogs.readWithPassword({ project, branchId: parentId });
    const allocated: { readonly endpoint: ComputeOfBranch; readonly allocation: Allocation }[] = [];
    for (const endpoint of body.endpoints ?? [])
      allocated.push({
        endpoint,
        allocation: await computes.allocate(allocated.map((each) => each.allocation)),
      });
    // Another call may have changed the project in the meantime.
    const branch = this.#buildBranch(project, body);
    const created = allocated.map(({ endpoint, allocation }) =>
      computes.prepare(project.record, { ...endpoint, branch_id: branch.id }, allocation),
    );
    const step = { kind: 'createBranch', parentId: branch.parent_id ?? '' } as const;
    const operations = this.#options.operations.begin(
      project.record.id,
      [{ step, target: operationTarget(branch) }, ...created.map(startOf)],
      [{ set: 'branch', value: branch }, ...created.map((value): Change => ({ set: 'compute', value }))],
    );
    await computes.open(project.record, created);
    const endpoints = created.map(({ record }) => record);
    return { branch, endpoints, operations, ...catalogRecords(branch, catalog, created) };
  }

  /** Checks the rules. Returns the new branch. */
  #buildBranch(project: ProjectState, body: BranchCreationBody): BranchRecord {
    const { branch: creation = {}, endpoints = [], annotation_value } = body;
    const now = this.#options.clock.now();
    const parent = creation.parent_id ? findBranch(project, creation.parent_id) : defaultBranch(project);
    rejectHistoryPosition({ parent_lsn: creation.parent_lsn, parent_timestamp: creation.parent_timestamp });
    if ((creation.init_source ?? 'parent-data') !== 'parent-data')
      throw unprocessable('init_source: this service supports parent-data only.');
    this.#requireValid(project, endpoints);
    requireReady(project, parent);
    requireMayHaveChildren(parent);
    const id = this.newId();
    const { name = id } = creation;
    requireNewName(project, name);
    const basics = { id, project_id: project.record.id, parent_id: parent.id, name, default: false };
    const branch = {
      ...newBranch(basics, now),
      protected: creation.protected ?? false,
      ...(annotation_value === undefined ? {} : { annotation_value }),
    };
    const expiring = withExpiry(branch, creation.expires_at ?? null, now);
    requireExpiryAllowed(project, expiring);
    return expiring;
  }

  #requireValid(project: ProjectState, endpoints: readonly ComputeOfBranch[]): void {
    for (const endpoint of endpoints)
      this.#options.computes.requireValid(project.record, { ...endpoint, branch_id: '' });
    if (endpoints.filter(({ type }) => type === 'read_write').length > 1)
      throw unprocessable('endpoints: a branch can have one read_write compute only.');
  }

  newId(): string {
    return generateId('br-', (id) => this.#options.store.account.projectOfBranch(id) !== undefined);
  }

  update(project: ProjectState, id: string, patch: BranchPatch): BranchResult {
    const { store, clock } = this.#options;
    const branch = findBranch(project, id);
    if (patch.name !== undefined) requireNewName(project, patch.name, id);
    const now = clock.now();
    const changed = {
      ...branch,
      name: patch.name ?? branch.name,
      protected: patch.protected ?? branch.protected,
      updated_at: toTimestamp(now),
    };
    const value = patch.expires_at === undefined ? changed : withExpiry(changed, patch.expires_at, now);
    requireExpiryAllowed(project, value);
    store.commit({ set: 'branch', value });
    return { branch: value, operations: [] };
  }

  setDefault(project: ProjectState, id: string): BranchResult {
    const { store, clock } = this.#options;
    const branch = findFree(project, id);
    const updated_at = toTimestamp(clock.now());
    const value = { ...branch, default: true, updated_at };
    requireExpiryAllowed(project, value);
    const previous = [...project.branches.values()].filter((each) => each.default && each.id !== id);
    store.commit(
      ...previous.map((each): Change => ({ set: 'branch', value: { ...each, default: false, updated_at } })),
      { set: 'branch', value },
    );
    return { branch: value, operations: [] };
  }

  /** Returns undefined if there is no such branch (any more). */
  delete(project: ProjectState, id: string): BranchResult | undefined {
    if (!project.branches.has(id)) return undefined;
    const branch = findFree(project, id);
    requireDeletable(project, branch);
    const computes = computesOf(project, id);
    const { store, clock } = this.#options;
    for (const compute of computes)
      store.commit(...changeRecord(compute, project, compute.record, clock.now()));
    const removals = computes.map(({ record }): Task => ({
      step: { kind: 'remove', type: record.type },
      target: computeTarget(record),
    }));
    const operations = this.#options.operations.begin(
      project.record.id,
      [...removals, { step: { kind: 'deleteBranch' }, target: operationTarget(branch) }],
      removeBranch(project, id),
    );
    return { branch, operations };
  }

  /** Replaces the data of a branch with that of another one. Its active computes are restarted. */
  async restore(project: ProjectState, id: string, request: BranchRestoreBody): Promise<BranchResult> {
    const { clock, operations } = this.#options;
    requirePostgres(await this.#options.engine);
    const now = clock.now();
    this.#requireRestorable(project, id, request);
    const branch = findFree(project, id);
    requireReady(project, findBranch(project, request.source_branch_id));
    const preserved = this.#buildPreservedBranch(project, branch, request.preserve_under_name, now);
    const active = computesOf(project, id).filter(({ record }) => record.current_state === 'active');
    const pending = active.map((compute): StoredCompute => {
      return { ...compute, record: withState(compute.record, { pending: 'active' }, now) };
    });
    const at = toTimestamp(now);
    const value: BranchRecord = {
      ...branch,
      current_state: 'resetting',
      pending_state: 'ready',
      state_changed_at: at,
      updated_at: at,
    };
    const step = {
      kind: 'restoreBranch',
      sourceId: request.source_branch_id,
      ...(preserved === undefined ? {} : { preservedId: preserved.id }),
    } as const;
    const tasks: Task[] = [
      ...active.map(({ record }): Task => ({ step: { kind: 'suspend' }, target: computeTarget(record) })),
      { step, target: operationTarget(branch) },
      ...pending.map(startOf),
    ];
    const changes: Change[] = [
      { set: 'branch', value },
      ...(preserved === undefined ? [] : [{ set: 'branch', value: preserved } as const]),
      ...pending.map((compute): Change => ({ set: 'compute', value: compute })),
    ];
    return { branch: value, operations: operations.begin(project.record.id, tasks, changes) };
  }

  #requireRestorable(project: ProjectState, id: string, request: BranchRestoreBody): void {
    const branch = findBranch(project, id);
    requireMayHaveChildren(findBranch(project, request.source_branch_id));
    rejectHistoryPosition({ source_lsn: request.source_lsn, source_timestamp: request.source_timestamp });
    if (request.source_branch_id === id)
      throw unprocessable(
        'source_branch_id: this service keeps no history, so the source must be another branch.',
      );
    if (branch.protected) throw unprocessable(`Branch ${id} is protected. Remove the protection first.`);
    const hasChildren = [...project.branches.values()].some((each) => each.parent_id === id);
    if (hasChildren && !request.preserve_under_name)
      throw unprocessable(`Branch ${id} has child branches, so preserve_under_name is required.`);
  }

  #buildPreservedBranch(
    project: ProjectState,
    branch: BranchRecord,
    name: string | undefined,
    now: number,
  ): BranchRecord | undefined {
    if (!name) return undefined;
    requireNewName(project, name);
    const { project_id, parent_id } = branch;
    const parent = parent_id === undefined ? {} : { parent_id };
    return newBranch({ id: this.newId(), project_id, ...parent, name, default: false }, now);
  }

  /** Deletes the branches whose time has come. One that can't be deleted yet is tried again. */
  deleteExpired(): void {
    const { store, clock } = this.#options;
    for (const { id, expires_at = '' } of store.account.expiring.values()) {
      const project = store.account.projectOfBranch(id);
      if (project === undefined || Date.parse(expires_at) > clock.now()) continue;
      try {
        this.delete(project, id);
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
      }
    }
  }
}

function findFree(project: ProjectState, id: string): BranchRecord {
  const branch = findBranch(project, id);
  requireFree(project, branch);
  return branch;
}

export const operationTarget = ({ project_id, id }: BranchRecord): OperationTarget => ({
  project_id,
  branch_id: id,
});

export const startOf = ({ record }: StoredCompute): Task => ({
  step: { kind: record.disabled ? 'attach' : 'start' },
  target: computeTarget(record),
});
