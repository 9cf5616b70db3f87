/**
 * The branches of each project that was shown. The specification doesn't promise them, so no method rejects, and if the
 * service doesn't offer them (to this key), a connection doesn't request them again.
 */
import { isNotOffered, isRejected } from '../../api/transport/errors.ts';
import type { Branch } from '../../api/records/records.ts';
import type { Session } from '../account/session.ts';
import type { ListDiff } from '../window/remoteList.ts';
import type { InventoryEvent } from './nodes.ts';
import { RecordList } from './recordList.ts';
import { usageStep } from './usage.ts';

/** The branches of one project by id. */
export class BranchList extends RecordList<Branch> {
  get branches(): ReadonlyMap<string, Branch> {
    return this.items;
  }

  get default(): Branch | undefined {
    return [...this.items.values()].find((branch) => branch.default === true);
  }

  findByName(name: string): Branch | undefined {
    return [...this.items.values()].find((branch) => branch.name === name);
  }

  /** Returns the branches that were created from this one. */
  childrenOf(id: string): readonly Branch[] {
    return [...this.items.values()].filter((branch) => branch.parent_id === id);
  }

  /** Returns the changed branches, and the project if branches were added or removed or their order may have changed. */
  protected override changesIn(
    projectId: string,
    { before }: ListDiff<string, Branch>,
  ): readonly InventoryEvent[] {
    const after = this.items;
    const changed = [...after.keys()].filter(
      (id) => visibleFields(before.get(id)) !== visibleFields(after.get(id)),
    );
    const isMoved = (id: string) =>
      before.get(id)?.default !== after.get(id)?.default || before.get(id)?.name !== after.get(id)?.name;
    const isStructural =
      [...before.keys()].some((id) => !after.has(id)) || changed.some((id) => !before.has(id) || isMoved(id));
    const branches = changed.map((branchId) => ({ kind: 'branch', projectId, branchId }) as const);
    return isStructural ? [{ kind: 'project', projectId }, ...branches] : branches;
  }
}

/** Returns the fields that the row and the tooltip show. */
const visibleFields = (branch: Branch | undefined): string | undefined =>
  branch &&
  JSON.stringify([
    branch.name,
    branch.parent_id,
    branch.current_state,
    branch.default === true,
    branch.protected === true,
    branch.expires_at,
    usageStep(branch),
  ]);

interface BranchListeners {
  readonly onChange: (changes: readonly InventoryEvent[]) => void;
  readonly onNotOffered: () => void;
  /** Refreshes the computes of the project. Never rejects. @returns whether that succeeded, so the key can read the project */
  readonly tryRefreshComputes: (projectId: string) => Promise<boolean>;
}

/** Loads and keeps the branches of projects. */
export class BranchLists {
  readonly #session: Session;
  readonly #listeners: BranchListeners;
  readonly #lists = new Map<string, BranchList>();
  #isOffered: boolean | undefined;

  constructor(session: Session, listeners: BranchListeners) {
    this.#session = session;
    this.#listeners = listeners;
  }

  /** Call this when the connection has changed. @param keepItems whether the account is the same */
  reset({ keepItems }: { readonly keepItems: boolean }): void {
    this.#isOffered = undefined;
    if (!keepItems) this.#lists.clear();
    for (const list of this.#lists.values()) list.reset({ keepItems: true });
  }

  /** False once the service has rejected the list of branches, at all or for this key. */
  get isOffered(): boolean {
    return this.#isOffered !== false;
  }

  /** Returns the branches of a project; undefined until they are loaded. */
  forProject(projectId: string): BranchList | undefined {
    const list = this.#lists.get(projectId);
    return list?.isLoaded === true ? list : undefined;
  }

  /** False if the branches of a project couldn't be loaded, although the service may have some. */
  isKnown(projectId: string): boolean {
    const list = this.#lists.get(projectId);
    return !this.isOffered || list?.isLoaded === true || isNotOffered(list?.failure);
  }

  get(projectId: string, branchId: string): Branch | undefined {
    return this.forProject(projectId)?.branches.get(branchId);
  }

  /** Returns why the last load or refresh of a project's branches failed, if it did and the service may have some. */
  failure(projectId: string): unknown {
    const failure = this.#lists.get(projectId)?.failure;
    return this.isOffered && !isNotOffered(failure) ? failure : undefined;
  }

  /** Loads the branches once, and not again after a failure. @returns undefined if they aren't loaded */
  async ensureLoaded(projectId: string): Promise<BranchList | undefined> {
    if (this.#canLoad) await this.#ensureList(projectId).ensureLoaded();
    return this.forProject(projectId);
  }

  async refresh(projectId: string): Promise<BranchList | undefined> {
    const refreshed = this.#canLoad ? this.#ensureList(projectId).refresh() : undefined;
    await refreshed?.catch(() => undefined);
    return this.forProject(projectId);
  }

  /** See the inventory. */
  markChanged(projectId: string): void {
    this.#lists.get(projectId)?.edit();
  }

  /** Stores a record from the reply to a change. */
  put(projectId: string, branch: Branch): void {
    this.forProject(projectId)?.put(branch);
  }

  forget(projectId: string): void {
    this.#lists.delete(projectId);
  }

  get #canLoad(): boolean {
    return this.isOffered && this.#session.connection !== undefined;
  }

  #ensureList(projectId: string): BranchList {
    const existing = this.#lists.get(projectId);
    if (existing !== undefined) return existing;
    const list: BranchList = new BranchList({
      projectId,
      fetch: (lastBody) => this.#fetch(projectId, lastBody),
      onChange: (changes) => {
        if (list === this.#lists.get(projectId)) this.#listeners.onChange(changes);
      },
    });
    this.#lists.set(projectId, list);
    return list;
  }

  async #fetch(projectId: string, lastBody: string | undefined) {
    const connection = this.#session.requireConnection();
    const isCurrent = () => connection === this.#session.connection;
    const client = await connection.client();
    try {
      const changed = await client.branches.listIfChanged(projectId, lastBody, { signal: connection.signal });
      if (isCurrent()) this.#isOffered = true;
      return changed;
    } catch (error) {
      if ((await this.#checkNotOffered(projectId, error)) && isCurrent() && this.#isOffered === undefined) {
        this.#isOffered = false;
        this.#listeners.onNotOffered();
      }
      throw error;
    }
  }

  /**
   * Finds out whether the error means that the service doesn't offer branches. A 403 or 404 may also mean that the project was deleted,
   * or that the key has no access to it.
   */
  async #checkNotOffered(projectId: string, error: unknown): Promise<boolean> {
    if (this.#isOffered !== undefined) return false;
    return (
      isRejected(error, 405) || (isNotOffered(error) && (await this.#listeners.tryRefreshComputes(projectId)))
    );
  }
}
