/** The account in memory: projects with their branches, snapshots, computes and operations, and the keys. */
import type {
  BranchRecord,
  DeletedProject,
  Mutation,
  PendingDeletion,
  ProjectRecord,
  SnapshotRecord,
  StoredCompute,
  StoredKey,
  StoredOperation,
} from './storedRecords.ts';

/** A project with all that belongs to it. */
export interface ProjectState {
  record: ProjectRecord;
  readonly branches: Map<string, BranchRecord>;
  readonly snapshots: Map<string, SnapshotRecord>;
  readonly computes: Map<string, StoredCompute>;
  /** The reply with the list of computes, until one of them changes. */
  listOfComputes?: Buffer | undefined;
  /** The operations, oldest first. */
  readonly operations: Map<string, StoredOperation>;
}

/** The account in memory. Only {@link Mutation}s change it. */
export class AccountState {
  readonly projects = new Map<string, ProjectState>();
  readonly keys = new Map<number, StoredKey>();
  /** Ids of revoked keys by hash; their values must never become valid again. */
  readonly revokedKeys = new Map<string, number>();
  /** The ports of all computes, also of those in deleted projects. */
  readonly ports = new Set<number>();
  /** What is left to delete of projects, by their ids. */
  readonly leftovers = new Map<string, PendingDeletion>();
  /** The deleted projects by id, in the order in which they were deleted. */
  readonly deleted = new Map<string, DeletedProject>();
  /** The project of a branch, snapshot or compute, by its id. */
  readonly #projectOf = new Map<string, ProjectState>();

  /** Returns an id that no key has had, not even a revoked one. */
  nextKeyId = (): number => Math.max(0, ...this.keys.keys(), ...this.revokedKeys.values()) + 1;

  /** Returns the project of a stored record. @throws {Error} if the project is missing */
  project(id: string): ProjectState {
    const project = this.projects.get(id);
    if (project === undefined) throw new Error(`A record refers to the unknown project ${id}`);
    return project;
  }

  compute(id: string): StoredCompute | undefined {
    return this.#projectOf.get(id)?.computes.get(id);
  }

  /** Whether a project has the id, also a deleted one whose data is not removed yet. */
  hasProject(id: string): boolean {
    return this.projects.has(id) || this.leftovers.has(id) || this.deleted.has(id);
  }

  /** Whether a branch, snapshot or compute has the id, also one of a deleted project. */
  isTaken(id: string): boolean {
    const deleted = [...this.deleted.values()];
    return (
      this.#projectOf.has(id) || deleted.some((each) => [...each.branchIds, ...each.computeIds].includes(id))
    );
  }

  /** Returns the project of a branch or snapshot. Their ids are unique in the account, because the engine stores data under them. */
  projectOfBranch(id: string): ProjectState | undefined {
    return this.#projectOf.get(id);
  }

  *computes(): Iterable<StoredCompute> {
    for (const project of this.projects.values()) yield* project.computes.values();
  }

  activeComputes(): readonly StoredCompute[] {
    return [...this.computes()].filter(({ record }) => record.current_state === 'active');
  }

  /** Returns the whole account as the mutations that produce it. */
  *snapshot(): Iterable<Mutation> {
    for (const project of this.projects.values()) yield* mutationsOf(project);
    for (const value of this.deleted.values()) yield { set: 'deleted', value };
    for (const value of this.leftovers.values()) yield { set: 'leftover', value };
    for (const [hash, id] of this.revokedKeys) yield { removed: 'key', id, hash };
    for (const value of this.keys.values()) yield { set: 'key', value };
  }

  apply(mutation: Mutation): void {
    if ('removed' in mutation) return this.#remove(mutation);
    const { set, value } = mutation;
    switch (set) {
      case 'project':
        return this.#setProject(value);
      case 'branch':
        this.#projectOf.set(value.id, this.project(value.project_id));
        this.project(value.project_id).branches.set(value.id, value);
        return;
      case 'snapshot':
        this.#projectOf.set(value.id, this.project(value.project_id));
        this.project(value.project_id).snapshots.set(value.id, value);
        return;
      case 'compute':
        return this.#setCompute(value);
      case 'operation':
        this.project(value.record.project_id).operations.set(value.record.id, value);
        return;
      case 'key':
        this.keys.set(value.id, value);
        return;
      case 'leftover':
        this.leftovers.set(value.projectId, value);
        return;
      case 'deleted':
        this.#removeProject(value.projectId);
        this.deleted.set(value.projectId, value);
        for (const port of usedPorts(value)) this.ports.add(port);
    }
  }

  #setProject(record: ProjectRecord): void {
    const known = this.projects.get(record.id);
    if (known === undefined)
      this.projects.set(record.id, {
        record,
        branches: new Map(),
        snapshots: new Map(),
        computes: new Map(),
        operations: new Map(),
      });
    else known.record = record;
  }

  #setCompute(value: StoredCompute): void {
    const { id, project_id } = value.record;
    const project = this.project(project_id);
    project.computes.set(id, value);
    project.listOfComputes = undefined;
    this.ports.add(value.address.port).add(value.address.poolerPort);
    this.#projectOf.set(id, project);
  }

  #remove(mutation: Extract<Mutation, { removed: unknown }>): void {
    switch (mutation.removed) {
      case 'key': {
        const hash = mutation.hash ?? this.keys.get(mutation.id)?.hash;
        if (hash !== undefined) this.revokedKeys.set(hash, mutation.id);
        this.keys.delete(mutation.id);
        return;
      }
      case 'operation':
        this.project(mutation.projectId).operations.delete(mutation.id);
        return;
      case 'compute':
        return this.#removeCompute(this.project(mutation.projectId), mutation.id);
      case 'branch':
        this.project(mutation.projectId).branches.delete(mutation.id);
        this.#projectOf.delete(mutation.id);
        return;
      case 'snapshot':
        this.project(mutation.projectId).snapshots.delete(mutation.id);
        this.#projectOf.delete(mutation.id);
        return;
      case 'project':
        return this.#removeProject(mutation.projectId);
      case 'leftover':
        this.leftovers.delete(mutation.projectId);
        return;
      case 'deleted': {
        const deleted = this.deleted.get(mutation.projectId);
        for (const port of deleted === undefined ? [] : usedPorts(deleted)) this.ports.delete(port);
        this.deleted.delete(mutation.projectId);
      }
    }
  }

  #removeProject(id: string): void {
    const project = this.projects.get(id);
    if (project === undefined) return;
    for (const computeId of project.computes.keys()) this.#removeCompute(project, computeId);
    for (const each of [...project.branches.keys(), ...project.snapshots.keys()])
      this.#projectOf.delete(each);
    // A call that has found the project before finds nothing in it.
    project.branches.clear();
    project.snapshots.clear();
    this.projects.delete(id);
  }

  #removeCompute(project: ProjectState, id: string): void {
    const address = project.computes.get(id)?.address;
    if (address !== undefined) for (const port of [address.port, address.poolerPort]) this.ports.delete(port);
    project.computes.delete(id);
    project.listOfComputes = undefined;
    this.#projectOf.delete(id);
  }
}

/** Returns a project as the mutations that produce it. */
export function* mutationsOf(project: ProjectState): Iterable<Mutation> {
  yield { set: 'project', value: project.record };
  for (const value of project.branches.values()) yield { set: 'branch', value };
  for (const value of project.snapshots.values()) yield { set: 'snapshot', value };
  for (const value of project.computes.values()) yield { set: 'compute', value };
  for (const value of project.operations.values()) yield { set: 'operation', value };
}

/** Returns the ports of a deleted project's computes, which its connection strings contain. */
const usedPorts = ({ mutations }: DeletedProject): number[] =>
  mutations.flatMap((each) =>
    'set' in each && each.set === 'compute' ? [each.value.address.port, each.value.address.poolerPort] : [],
  );
