/**
 * The resources of the connected account: its projects, and the computes and branches of each project that was shown. After a
 * switch to another account, the inventory is empty. After a change of the key, it keeps the loaded data.
 */
import type { Client, ProjectPage } from '../../api/client.ts';
import { isRejected } from '../../api/transport/errors.ts';
import type { Compute, Project } from '../../api/records/records.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import { limitConcurrency } from '../../base/limitConcurrency.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import type { Session } from '../account/session.ts';
import { BranchLists } from './branchLists.ts';
import { ComputeList } from './computeList.ts';
import type { InventoryEvent } from './nodes.ts';
import { ProjectList } from './projectList.ts';
import { SnapshotLists } from './snapshotLists.ts';
import { RetryStatus, type OnRetry } from './retryStatus.ts';

/** The state of the view as a whole. */
export type InventoryState =
  | { readonly kind: 'signedOut' | 'loading' | 'empty' | 'ready' }
  | { readonly kind: 'failed'; readonly error: unknown };

interface RequestOptions {
  readonly signal: AbortSignal;
  readonly onRetry: OnRetry;
}

const MAX_CONCURRENT_REQUESTS = 6;
/** This limit is separate, so that computes never wait for branches. */
const MAX_CONCURRENT_BRANCH_REQUESTS = 2;

/** Loads and keeps the resources of the connected account. */
export class Inventory implements Disposable {
  readonly #session: Session;
  readonly #organizationId: () => string | undefined;
  readonly #changed = new Emitter<readonly InventoryEvent[]>();
  readonly #disposables = new DisposableStore();
  readonly #limit = limitConcurrency(MAX_CONCURRENT_REQUESTS);
  readonly #branchLimit = limitConcurrency(MAX_CONCURRENT_BRANCH_REQUESTS);
  #connection: AccountConnection | undefined;
  #projects: ProjectList | undefined;
  readonly #computes = new Map<string, ComputeList>();

  readonly onDidChange = this.#changed.event;

  /** The names and marks of branches, if the service offers them. */
  readonly branches: BranchLists;

  /** The snapshots of branches, if the service offers them. */
  readonly snapshots: SnapshotLists;

  readonly retryStatus = new RetryStatus();

  constructor(session: Session, organizationId: () => string | undefined) {
    this.#session = session;
    this.#organizationId = organizationId;
    const onChange = (changes: readonly InventoryEvent[]) => this.#changed.fire(changes);
    const tryRefreshComputes = (projectId: string) =>
      this.refreshComputes(projectId).then(
        () => true,
        () => false,
      );
    this.branches = new BranchLists(session, {
      onChange,
      onNotOffered: () => {
        const ids = [...(this.#projects?.entries.keys() ?? [])];
        this.#changed.fire(ids.map((projectId) => ({ kind: 'project', projectId })));
      },
      tryRefreshComputes,
    });
    this.snapshots = new SnapshotLists(session, this.branches, { onChange, tryRefreshComputes });
    this.#disposables.add(this.#changed);
    this.#disposables.add(this.retryStatus);
    this.#disposables.add(session.onDidChange(() => this.#changeConnection()));
  }

  /** The state of the view, which changes with the session and with `onDidChange`. */
  get state(): InventoryState {
    const projects = this.#projects;
    const { current } = this.#session;
    if (current.kind !== 'connected') return current;
    if (projects === undefined) return { kind: 'loading' };
    const error =
      this.#lists.find(({ failure }) => isRejected(failure, 401))?.failure ??
      (projects.isEmpty ? projects.failure : undefined);
    if (error !== undefined) return { kind: 'failed', error };
    if (!projects.isEmpty) return { kind: 'ready' };
    return { kind: projects.isLoaded ? 'empty' : 'loading' };
  }

  /** The list of projects; undefined without a connection. */
  get projects(): ProjectList | undefined {
    return this.#projects;
  }

  project(id: string): Project | undefined {
    return this.#projects?.entries.get(id)?.record;
  }

  /** Returns the computes of a project, if they were requested. */
  computesOf(projectId: string): ComputeList | undefined {
    return this.#computes.get(projectId);
  }

  compute(projectId: string, computeId: string): Compute | undefined {
    return this.#computes.get(projectId)?.computes.get(computeId);
  }

  /** Yields every loaded compute. */
  *allComputes(): Generator<Compute, void> {
    for (const list of this.#computes.values()) yield* list.computes.values();
  }

  /** Loads a project's computes once. @throws {ApiError} */
  async loadComputes(projectId: string): Promise<ComputeList | undefined> {
    const list = this.#ensureList(projectId);
    await list?.load();
    return list;
  }

  /** Loads a list for callers that only show it: once, and not again after a failure. Never rejects. */
  async ensureComputes(projectId: string): Promise<ComputeList | undefined> {
    const list = this.#ensureList(projectId);
    await list?.ensureLoaded();
    return list;
  }

  /** Loads the first page of projects as `ensureComputes` loads computes: not again after a failure. Never rejects. */
  async ensureProjects(): Promise<ProjectList | undefined> {
    const list = this.#projects;
    if (list?.failure === undefined) await list?.loadFirstPage().catch(() => undefined);
    return list;
  }

  /** @throws {ApiError} */
  async refreshComputes(projectId: string): Promise<void> {
    await this.#ensureList(projectId)?.refresh();
  }

  /** Refreshes the computes of several projects. @throws the first failure */
  async refreshComputesOf(projectIds: Iterable<string>): Promise<void> {
    await this.#forEach(projectIds, (id) => this.refreshComputes(id));
  }

  /** Loads the computes of several projects once. @throws the first failure */
  async loadComputesOf(projectIds: Iterable<string>): Promise<void> {
    await this.#forEach(projectIds, (id) => this.loadComputes(id));
  }

  /** Loads the branches of several projects once. Never rejects. */
  async loadBranchesOf(projectIds: Iterable<string>): Promise<void> {
    await this.#forEach(projectIds, (id) => this.branches.ensureLoaded(id), this.#branchLimit);
  }

  /** Refreshes the branches of several projects. Never rejects. */
  async refreshBranchesOf(projectIds: Iterable<string>): Promise<void> {
    await this.#forEach(projectIds, (id) => this.branches.refresh(id), this.#branchLimit);
  }

  /** Refreshes the snapshots of the projects whose snapshots were requested before. Never rejects. */
  async refreshSnapshotsOf(projectIds: Iterable<string>): Promise<void> {
    const ids = [...projectIds].filter((id) => this.snapshots.wasRequested(id));
    const refresh = (id: string) => this.snapshots.refresh(id).catch(() => undefined);
    await this.#forEach(ids, refresh, this.#branchLimit);
  }

  /** Call this after a change, and before a refresh that must see all changes up to now. Requests in progress are repeated. */
  markChanged(projectId: string | undefined): void {
    if (projectId === undefined) return this.#projects?.edit();
    this.#computes.get(projectId)?.edit();
    this.branches.markChanged(projectId);
  }

  /** Stores a record from the reply to a change. */
  put(compute: Compute): void {
    this.#computes.get(compute.project_id)?.put(compute);
  }

  /**
   * Refreshes the projects and the computes of `shown`; other computes are loaded again when shown. If the projects can't be
   * loaded, all stay as they are.
   * @throws {ApiError}
   */
  async refreshAll(shown: Iterable<string>): Promise<void> {
    const shownIds = new Set(shown);
    const others = [...this.#computes.keys()].filter((id) => !shownIds.has(id));
    // The view then shows that the list is loading.
    if (this.#projects?.isEmpty === true) this.#projects.clearFailure();
    for (const id of [undefined, ...shownIds]) this.markChanged(id);
    const projects = this.refreshProjects().then(() => {
      for (const id of others) this.#forget(id);
      this.#changed.fire(others.map((projectId) => ({ kind: 'project', projectId })));
    });
    await Promise.all([
      projects,
      this.refreshComputesOf(shownIds),
      this.refreshBranchesOf(shownIds),
      this.refreshSnapshotsOf(shownIds),
    ]);
  }

  /** @throws {ApiError} */
  async refreshProjects(): Promise<void> {
    await this.#projects?.refresh();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  get #lists(): readonly (ProjectList | ComputeList)[] {
    return [...(this.#projects === undefined ? [] : [this.#projects]), ...this.#computes.values()];
  }

  /** Runs the task for each project, unless the account changes in the meantime. @throws the first failure, when all have ended */
  async #forEach(
    projectIds: Iterable<string>,
    task: (id: string) => Promise<unknown>,
    limit = this.#limit,
  ): Promise<void> {
    const account = this.#connection?.accountId;
    // A task that waited must not ask another account for this one's project.
    const run = async (id: string) => (this.#connection?.accountId === account ? task(id) : undefined);
    const results = await Promise.allSettled([...projectIds].map((id) => limit(() => run(id))));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  #changeConnection(): void {
    const { connection } = this.#session;
    const previous = this.#connection;
    if (connection === previous) return;
    const isKept = connection?.isSameAccount(previous) === true && this.#projects?.isLoaded === true;
    this.#connection = connection;
    this.branches.reset({ keepItems: isKept });
    this.snapshots.reset({ keepItems: isKept });
    if (isKept) {
      this.#projects?.reset({ keepItems: true });
      for (const list of this.#computes.values()) list.reset({ keepItems: true });
    } else {
      this.#projects = connection && this.#newProjectList();
      this.#computes.clear();
    }
    this.#changed.fire([{ kind: isKept ? 'key' : 'all' }]);
  }

  #newProjectList(): ProjectList {
    const fetchPages = (onPage: (page: ProjectPage) => void) =>
      this.#request(async (client, options) => {
        for await (const page of client.projectPages(this.#organizationId(), options)) {
          options.onRetry(undefined);
          onPage(page);
        }
      });
    const list: ProjectList = new ProjectList({
      fetchPages,
      forget: (removed) => removed.filter((id) => list === this.#projects && this.#forget(id)),
      onChange: (changes) => {
        if (list === this.#projects) this.#changed.fire(changes);
      },
    });
    return list;
  }

  /** Sends the request of a list, and tracks its retries. */
  async #request<T>(send: (client: Client, options: RequestOptions) => Promise<T>): Promise<T> {
    const connection = this.#session.requireConnection();
    const { signal } = connection;
    const client = await connection.client();
    const reply = await this.retryStatus.track((onRetry) => send(client, { signal, onRetry }));
    // The key is accepted again. Lists that aren't refreshed in the background would keep a rejection.
    for (const list of this.#lists) if (isRejected(list.failure, 401)) list.clearFailure();
    return reply;
  }

  /** Forgets all lists of a project. @returns whether its computes were requested before */
  #forget(projectId: string): boolean {
    this.branches.forget(projectId);
    this.snapshots.forget(projectId);
    return this.#computes.delete(projectId);
  }

  #ensureList(projectId: string): ComputeList | undefined {
    const existing = this.#computes.get(projectId);
    if (existing !== undefined || this.#connection === undefined) return existing;
    const list: ComputeList = new ComputeList({
      projectId,
      fetch: (lastBody) =>
        this.#request((client, options) => client.listComputesIfChanged(projectId, lastBody, options)),
      onChange: (changes) => {
        if (list === this.#computes.get(projectId)) this.#changed.fire(changes);
      },
    });
    this.#computes.set(projectId, list);
    return list;
  }
}
