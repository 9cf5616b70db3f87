/** The calls that change branches: check the rules, record the change, start the operations. */
import type { BranchPatch, BranchCreationBody, BranchRestoreBody } from '../../../api/records/requests.ts';
import { toTimestamp } from '../../core/clock.ts';
import { HttpError, unprocessable } from '../../core/errors.ts';
import type { ProjectState } from '../../state/store.ts';
import type {
  BranchRecord,
  ComputeRecord,
  Mutation,
  OperationRecord,
  StoredCompute,
} from '../../state/storedRecords.ts';
import type { BranchCatalogs } from '../catalog/branchCatalogs.ts';
import { catalogRecords } from '../catalog/catalogRecords.ts';
import { requirePostgres, requireValid, withState, type Allocation } from '../computeRecord.ts';
import { allocate, openAddresses, prepareCompute } from '../computes.ts';
import { generateId } from '../generateId.ts';
import { branchTarget, computeTarget, startTask, type Task } from '../operationRecord.ts';
import type { PlaneDependencies, Operations } from '../operations.ts';
import { removeBranch } from '../operationSteps.ts';
import { setCompute } from '../usage.ts';
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

interface BranchesDependencies extends PlaneDependencies {
  readonly operations: Operations;
  readonly catalogs: BranchCatalogs;
}

export interface BranchResult {
  readonly branch: BranchRecord;
  readonly operations: readonly OperationRecord[];
}

export interface CreatedBranch extends BranchResult {
  readonly endpoints: readonly ComputeRecord[];
}

type ComputeOfBranch = NonNullable<BranchCreationBody['endpoints']>[number];

export class Branches {
  readonly #deps: BranchesDependencies;

  constructor(deps: BranchesDependencies) {
    this.#deps = deps;
  }

  async create(project: ProjectState, body: BranchCreationBody): Promise<CreatedBranch> {
    const { store, catalogs, clock } = this.#deps;
    const { account } = store;
    const { endpoints: requested = [] } = body;
    const { parent_id: parentId = '' } = this.#buildBranch(project, body);
    const catalog = await catalogs.readWithPassword({ project, branchId: parentId });
    const engine = await this.#deps.engine;
    const ports = new Set<number>();
    const allocated: (readonly [ComputeOfBranch, Allocation])[] = [];
    for (const endpoint of requested) allocated.push([endpoint, await allocate(engine, account, ports)]);
    // Another call may have changed the project in the meantime.
    const branch = this.#buildBranch(project, body);
    const computes = allocated.map(([endpoint, allocation]) => {
      const creation = { ...endpoint, branch_id: branch.id };
      return prepareCompute(account, project.record, creation, allocation, clock.now());
    });
    const step = { kind: 'createBranch', parentId: branch.parent_id ?? '' } as const;
    const operations = this.#deps.operations.begin(
      project.record.id,
      [{ step, target: branchTarget(branch) }, ...computes.map(startTask)],
      [{ set: 'branch', value: branch }, ...computes.map((value): Mutation => ({ set: 'compute', value }))],
    );
    await openAddresses(engine, computes);
    const endpoints = computes.map(({ record }) => record);
    return { branch, endpoints, operations, ...catalogRecords(branch, catalog, computes) };
  }

  /** Checks the rules. Returns the new branch. */
  #buildBranch(project: ProjectState, body: BranchCreationBody): BranchRecord {
    const { branch: creation = {}, endpoints = [], annotation_value } = body;
    const now = this.#deps.clock.now();
    const parent = creation.parent_id ? findBranch(project, creation.parent_id) : defaultBranch(project);
    rejectHistoryPosition({ parent_lsn: creation.parent_lsn, parent_timestamp: creation.parent_timestamp });
    if ((creation.init_source ?? 'parent-data') !== 'parent-data')
      throw unprocessable('init_source: this service supports parent-data only.');
    for (const endpoint of endpoints) requireValid(project.record, endpoint, this.#deps.plan);
    if (endpoints.filter(({ type }) => type === 'read_write').length > 1)
      throw unprocessable('endpoints: a branch can have one read_write compute only.');
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
      ...(parent.logical_size === undefined ? {} : { logical_size: parent.logical_size }),
    };
    const expiring = withExpiry(branch, creation.expires_at ?? null, now);
    requireExpiryAllowed(project, expiring);
    return expiring;
  }

  newId(): string {
    return generateId('br-', (id) => this.#deps.store.account.projectOfBranch(id) !== undefined);
  }

  update(project: ProjectState, id: string, patch: BranchPatch): BranchResult {
    const { store, clock } = this.#deps;
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
    const { store, clock } = this.#deps;
    const branch = findFree(project, id);
    const updated_at = toTimestamp(clock.now());
    const value = { ...branch, default: true, updated_at };
    requireExpiryAllowed(project, value);
    const previous = [...project.branches.values()].filter((each) => each.default && each.id !== id);
    store.commit(
      ...previous.map((each): Mutation => ({
        set: 'branch',
        value: { ...each, default: false, updated_at },
      })),
      { set: 'branch', value },
    );
    return { branch: value, operations: [] };
  }

  /** Returns undefined if there is no such branch. */
  delete(project: ProjectState, id: string): BranchResult | undefined {
    if (!project.branches.has(id)) return undefined;
    const branch = findFree(project, id);
    requireDeletable(project, branch);
    const computes = computesOf(project, id);
    const { store, clock } = this.#deps;
    for (const compute of computes)
      store.commit(...setCompute(store.account, compute, compute.record, clock.now()));
    const removals = computes.map(({ record }): Task => ({
      step: { kind: 'remove', type: record.type },
      target: computeTarget(record),
    }));
    const operations = this.#deps.operations.begin(
      project.record.id,
      [...removals, { step: { kind: 'deleteBranch' }, target: branchTarget(branch) }],
      removeBranch(project, id),
    );
    return { branch, operations };
  }

  /** Replaces the data of a branch with that of another one. Its active computes are restarted. */
  async restore(project: ProjectState, id: string, request: BranchRestoreBody): Promise<BranchResult> {
    const { clock, operations } = this.#deps;
    requirePostgres(await this.#deps.engine);
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
      { step, target: branchTarget(branch) },
      ...pending.map(startTask),
    ];
    const changes: Mutation[] = [
      { set: 'branch', value },
      ...(preserved === undefined ? [] : [{ set: 'branch', value: preserved } as const]),
      ...pending.map((compute): Mutation => ({ set: 'compute', value: compute })),
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

  /** Deletes expired branches. One that can't be deleted yet is retried at the next check. */
  deleteExpired(): void {
    const { store, clock } = this.#deps;
    const branches = [...store.account.projects.values()].flatMap((project) => [
      ...project.branches.values(),
    ]);
    for (const { id, project_id, expires_at } of branches) {
      if (expires_at === undefined || Date.parse(expires_at) > clock.now()) continue;
      try {
        this.delete(store.account.project(project_id), id);
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
