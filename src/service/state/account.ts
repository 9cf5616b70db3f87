/** The account in memory: projects with their branches, computes and operations, and the keys. It changes by {@link Change} only. */
import { ComputeMap } from './computeMap.ts';
import type {
  BranchRecord,
  Change,
  ProjectRecord,
  StoredCompute,
  StoredKey,
  StoredOperation,
} from './storedRecords.ts';

/** Deleted computes a project remembers, to tell "already deleted" (204) from "never was" (404). */
const REMEMBERED_DELETIONS = 1000;

export interface ProjectState {
  record: ProjectRecord;
  readonly branches: Map<string, BranchRecord>;
  readonly computes: ComputeMap;
  /** Oldest first. */
  readonly operations: Map<string, StoredOperation>;
  readonly deletedComputes: Set<string>;
}

export class Account {
  readonly projects = new Map<string, ProjectState>();
  readonly keys = new Map<number, StoredKey>();
  /** Ids of revoked keys by hash: their values must never become valid again. */
  readonly revokedKeys = new Map<string, number>();
  /** Computes that run now, by id. */
  readonly active = new Map<string, StoredCompute>();
  /** Ports that belong to a compute. */
  readonly ports = new Set<number>();
  readonly #projectOfCompute = new Map<string, ProjectState>();
  #lastKeyId = 0;
  #lastSequence = 0;

  /** Never one that was used before, not even by a revoked key. */
  nextKeyId = (): number => this.#lastKeyId + 1;
  nextSequence = (): number => this.#lastSequence + 1;

  compute(id: string): StoredCompute | undefined {
    return this.#projectOfCompute.get(id)?.computes.get(id);
  }

  *computes(): Iterable<StoredCompute> {
    for (const project of this.projects.values()) yield* project.computes.values();
  }

  apply(change: Change): void {
    if ('removed' in change) return this.#remove(change);
    switch (change.set) {
      case 'project':
        return this.#setProject(change.value);
      case 'branch':
        this.#project(change.value.project_id).branches.set(change.value.id, change.value);
        return;
      case 'compute':
        return this.#setCompute(change.value);
      case 'operation':
        this.#lastSequence = Math.max(this.#lastSequence, change.value.sequence);
        this.#project(change.value.record.project_id).operations.set(change.value.record.id, change.value);
        return;
      case 'key':
        this.#lastKeyId = Math.max(this.#lastKeyId, change.value.id);
        this.keys.set(change.value.id, change.value);
    }
  }

  /** Everything there is, as the changes that make it. */
  *snapshot(): Iterable<Change> {
    for (const project of this.projects.values()) {
      const projectId = project.record.id;
      yield { set: 'project', value: project.record };
      for (const value of project.branches.values()) yield { set: 'branch', value };
      for (const value of project.computes.values()) yield { set: 'compute', value };
      for (const value of project.operations.values()) yield { set: 'operation', value };
      for (const id of project.deletedComputes) yield { removed: 'compute', projectId, id };
    }
    for (const [hash, id] of this.revokedKeys) yield { removed: 'key', id, hash };
    for (const value of this.keys.values()) yield { set: 'key', value };
    if (!this.keys.has(this.#lastKeyId)) yield { removed: 'key', id: this.#lastKeyId };
  }

  #project(id: string): ProjectState {
    const project = this.projects.get(id);
    if (project === undefined) throw new Error(`A record of the unknown project ${id}`);
    return project;
  }

  #setProject(record: ProjectRecord): void {
    const known = this.projects.get(record.id);
    if (known !== undefined) {
      known.record = record;
      return;
    }
    this.projects.set(record.id, {
      record,
      branches: new Map(),
      computes: new ComputeMap(),
      operations: new Map(),
      deletedComputes: new Set(),
    });
  }

  #setCompute(value: StoredCompute): void {
    const { id, project_id, current_state } = value.record;
    const project = this.#project(project_id);
    project.computes.set(id, value);
    this.ports.add(value.address.port).add(value.address.poolerPort);
    this.#projectOfCompute.set(id, project);
    if (current_state === 'active') this.active.set(id, value);
    else this.active.delete(id);
  }

  #remove(change: Extract<Change, { removed: unknown }>): void {
    if (change.removed === 'key') {
      this.#lastKeyId = Math.max(this.#lastKeyId, change.id);
      const hash = change.hash ?? this.keys.get(change.id)?.hash;
      if (hash !== undefined) this.revokedKeys.set(hash, change.id);
      this.keys.delete(change.id);
      return;
    }
    const project = this.#project(change.projectId);
    if (change.removed === 'operation') {
      project.operations.delete(change.id);
      return;
    }
    const address = project.computes.get(change.id)?.address;
    if (address !== undefined) for (const port of [address.port, address.poolerPort]) this.ports.delete(port);
    project.computes.delete(change.id);
    this.active.delete(change.id);
    this.#projectOfCompute.delete(change.id);
    project.deletedComputes.add(change.id);
    for (const oldest of project.deletedComputes) {
      if (project.deletedComputes.size <= REMEMBERED_DELETIONS) break;
      project.deletedComputes.delete(oldest);
    }
  }
}
