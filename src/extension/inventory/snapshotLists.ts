/**
 * The snapshots of each project whose branches were shown. Not every service offers them, so only `refresh` rejects, and a connection
 * whose service has said so doesn't request them again.
 */
import type { Branch, Snapshot } from '../../api/records/records.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import type { BranchIds } from '../account/refs.ts';
import type { Session } from '../account/session.ts';
import { RemoteList, type FetchedList, type ListDiff } from '../window/remoteList.ts';
import type { BranchLists } from './branchLists.ts';
import type { InventoryEvent } from './nodes.ts';

type Branches = ReadonlyMap<string, Branch>;

interface SnapshotListOptions {
  readonly fetch: () => Promise<FetchedList<string, Snapshot>>;
  readonly onChange: (changed: readonly Snapshot[]) => void;
}

interface Grouped {
  readonly items: ReadonlyMap<string, Snapshot>;
  readonly branches: Branches;
  readonly byOwner: ReadonlyMap<string | undefined, readonly Snapshot[]>;
}

class SnapshotList extends RemoteList<string, Snapshot> {
  readonly #options: SnapshotListOptions;
  #grouped: Grouped | undefined;

  constructor(options: SnapshotListOptions) {
    super();
    this.#options = options;
  }

  /** Returns the snapshots of each branch, the newest first, by the id of the branch. */
  byOwner(branches: Branches): Grouped['byOwner'] {
    const { items } = this;
    // This is called for each row, so the result is cached. Each change replaces the items.
    if (this.#grouped?.items !== items || this.#grouped.branches !== branches) {
      const newestFirst = [...items.values()].toSorted((a, b) => snapshotTime(b) - snapshotTime(a));
      const byOwner = Map.groupBy(newestFirst, (snapshot) => owningBranchId(snapshot, branches));
      this.#grouped = { items, branches, byOwner };
    }
    return this.#grouped.byOwner;
  }

  protected override fetch(): Promise<FetchedList<string, Snapshot>> {
    return this.#options.fetch();
  }

  protected override notify({ before }: ListDiff<string, Snapshot>): void {
    const { items } = this;
    const isOther = (snapshot: Snapshot) => before.get(snapshot.id) !== items.get(snapshot.id);
    const changed = [...before.values(), ...items.values()].filter(isOther);
    if (changed.length > 0) this.#options.onChange(changed);
  }
}

interface SnapshotListeners {
  readonly onChange: (changes: readonly InventoryEvent[]) => void;
  /** Refreshes the computes of the project. Never rejects. @returns whether that succeeded, so the key can read the project */
  readonly tryRefreshComputes: (projectId: string) => Promise<boolean>;
}

/** Loads and keeps the snapshots of projects. */
export class SnapshotLists {
  readonly #session: Session;
  readonly #branches: BranchLists;
  readonly #listeners: SnapshotListeners;
  readonly #lists = new Map<string, SnapshotList>();
  #isOffered: boolean | undefined;

  constructor(session: Session, branches: BranchLists, listeners: SnapshotListeners) {
    this.#session = session;
    this.#branches = branches;
    this.#listeners = listeners;
  }

  /** Call this when the connection has changed. @param keepItems whether the account is the same */
  reset({ keepItems }: { readonly keepItems: boolean }): void {
    this.#isOffered = undefined;
    if (!keepItems) this.#lists.clear();
    for (const list of this.#lists.values()) list.reset({ keepItems: true });
  }

  /** False once the service has rejected the list of snapshots, at all or for this key. */
  get isOffered(): boolean {
    return this.#isOffered !== false;
  }

  get(projectId: string, snapshotId: string): Snapshot | undefined {
    return this.#lists.get(projectId)?.items.get(snapshotId);
  }

  /** Returns the loaded snapshots of a branch, the newest first. */
  ofBranch({ projectId, branchId }: BranchIds): readonly Snapshot[] {
    const branches = this.#branches.forProject(projectId)?.branches;
    if (branches === undefined) return [];
    return this.#lists.get(projectId)?.byOwner(branches).get(branchId) ?? [];
  }

  wasRequested(projectId: string): boolean {
    return this.isOffered && this.#lists.has(projectId);
  }

  /** Loads the snapshots once, and not again after a failure. Only a service that lists branches may have snapshots. */
  async ensureLoaded(projectId: string): Promise<void> {
    if (this.isOffered && this.#branches.forProject(projectId) !== undefined)
      await this.#ensureList(projectId).ensureLoaded();
  }

  /** Returns all snapshots of the project, or none if the service doesn't offer them. @throws {ApiError} */
  async refresh(projectId: string): Promise<readonly Snapshot[]> {
    if (!this.isOffered) return [];
    const list = this.#ensureList(projectId);
    await list.refresh();
    return [...list.items.values()];
  }

  /** Call this after a change. Requests the snapshots again if they were requested before. */
  async refreshChanged(projectId: string): Promise<void> {
    const list = this.wasRequested(projectId) ? this.#lists.get(projectId) : undefined;
    // A reply to an earlier request may be older than the change.
    list?.edit();
    await list?.refresh().catch(() => undefined);
  }

  forget(projectId: string): void {
    this.#lists.delete(projectId);
  }

  #ensureList(projectId: string): SnapshotList {
    const existing = this.#lists.get(projectId);
    if (existing !== undefined) return existing;
    const list: SnapshotList = new SnapshotList({
      fetch: () => this.#fetch(projectId),
      onChange: (changed) => {
        if (list === this.#lists.get(projectId)) this.#report(projectId, changed);
      },
    });
    this.#lists.set(projectId, list);
    return list;
  }

  #report(projectId: string, changed: readonly Snapshot[]): void {
    const branches = this.#branches.forProject(projectId)?.branches ?? new Map();
    const owners = new Set(changed.flatMap((snapshot) => owningBranchId(snapshot, branches) ?? []));
    this.#listeners.onChange([...owners].map((branchId) => ({ kind: 'branch', projectId, branchId })));
  }

  async #fetch(projectId: string): Promise<FetchedList<string, Snapshot>> {
    const connection = this.#session.requireConnection();
    const client = await connection.client();
    const list = await client.snapshots.list(projectId, { signal: connection.signal });
    await this.#noteWhetherOffered(projectId, connection, list !== undefined);
    const { items, unreadable } = list ?? { items: [], unreadable: [] };
    return { items: new Map(items.map((item) => [item.id, item])), unreadable };
  }

  /** Notes whether the service offers snapshots. A rejection may also mean that the project was deleted, or that the key has no access to it. */
  async #noteWhetherOffered(
    projectId: string,
    connection: AccountConnection,
    isOffered: boolean,
  ): Promise<void> {
    if (this.#isOffered === true || (!isOffered && !(await this.#listeners.tryRefreshComputes(projectId))))
      return;
    if (connection !== this.#session.connection) return;
    this.#isOffered = isOffered;
    // Menus depend on what is offered. No row has changed.
    if (!isOffered) this.#listeners.onChange([]);
  }
}

/** Returns the time whose data a snapshot has, in milliseconds since 1970; 0 if it isn't known. */
export const snapshotTime = ({ timestamp, created_at }: Snapshot): number =>
  Date.parse(timestamp ?? created_at ?? '') || 0;

/**
 * Returns the listed branch that a snapshot belongs to: the one that it was made of, or the one that has replaced it since. A
 * branch that goes back to a snapshot gets another id, and keeps the snapshots that were made of it before.
 */
export function owningBranchId(
  { source_branch_id: source }: Snapshot,
  branches: Branches,
): string | undefined {
  let id = source ?? undefined;
  let next = id;
  while (next !== undefined) {
    id = next;
    next = succeedingBranchId(next, branches);
  }
  return id !== undefined && branches.has(id) ? id : undefined;
}

/**
 * Finds the branch that has replaced another one. Only branches that were created later count, so that the search ends. Some
 * services note the id of the new branch in the replaced one.
 */
function succeedingBranchId(id: string, branches: Branches): string | undefined {
  const replaced = branches.get(id);
  const isSuccessor = (branch: Branch) =>
    branch.restore_status === 'finalized' &&
    creationTime(branch) > creationTime(replaced) &&
    (branch.restored_as === id || branch.id === replaced?.restored_as);
  return [...branches.values()].find(isSuccessor)?.id;
}

const creationTime = (branch: Branch | undefined): number => Date.parse(branch?.created_at ?? '') || 0;
