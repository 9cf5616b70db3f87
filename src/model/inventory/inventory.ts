/**
 * The resources of the connected account: its projects, and the computes and branches of each project that was shown.
 * After a switch to another account it is empty; after a change of the key it keeps the loaded data.
 */
import { isRejected } from '../../api/errors.ts';
import type { Compute, Project } from '../../api/records/records.ts';
import type { Retry } from '../../api/transport/http.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import { limitConcurrency } from '../../base/limitConcurrency.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import type { Session } from '../account/session.ts';
import { BranchLists } from './branchLists.ts';
import { ComputeList, type ComputeListDiff } from './computeList.ts';
import type { ComputeNode } from './nodes.ts';
import { ProjectList, type ProjectListDiff } from './projectList.ts';
import { RetryStatus } from './retryStatus.ts';

/** The smallest part that changed. `all`: another account. `key`: another key of the same account, so refresh the lists. */
export type InventoryEvent =
  | { readonly kind: 'all' }
  | { readonly kind: 'key' }
  | { readonly kind: 'projects' }
  | { readonly kind: 'project'; readonly projectId: string }
  | { readonly kind: 'branch'; readonly projectId: string; readonly branchId: string }
  | ComputeNode;

/** The projects that the changes are in. */
export const projectsOf = (changes: readonly InventoryEvent[]): ReadonlySet<string> =>
  new Set(changes.flatMap((change) => ('projectId' in change ? change.projectId : [])));

/** The state of the view as a whole. */
export type InventoryState =
  | { readonly kind: 'signedOut' | 'loading' | 'empty' | 'ready' }
  | { readonly kind: 'failed'; readonly error: unknown };

const MAX_CONCURRENT_REQUESTS = 6;
/** A separate limit, so that computes never wait for branches. */
const MAX_CONCURRENT_BRANCH_REQUESTS = 2;

export class Inventory implements Disposable {
  readonly #session: Session;
  readonly #organizationId: () => string | undefined;
  readonly #changed = new Emitter<readonly InventoryEvent[]>();
  readonly #disposables = new DisposableStore();
  readonly #limit = limitConcurrency(MAX_CONCURRENT_REQUESTS);
  readonly #branchLimit = limitConcurrency(MAX_CONCURRENT_BRANCH_REQUESTS);
  #connection: AccountConnection | undefined;
  #projects: ProjectList | undefined;
  #computes = new Map<string, ComputeList>();

  readonly onDidChange = this.#changed.event;

  /** The names and marks of branches, if the service offers them. */
  readonly branches = new BranchLists({
    onChange: (projectId, { changed, isStructural }) => {
      const project: InventoryEvent[] = isStructural ? [{ kind: 'project', projectId }] : [];
      const branches = changed.map((branchId) => ({ kind: 'branch', projectId, branchId }) as const);
      this.#changed.fire([...project, ...branches]);
    },
    onNotOffered: () => {
      const ids = [...(this.#projects?.entries.keys() ?? [])];
      this.#changed.fire(ids.map((projectId) => ({ kind: 'project', projectId })));
    },
    isReadable: (projectId) =>
      this.refreshComputes(projectId).then(
        () => true,
        () => false,
      ),
  });

  readonly retryStatus = new RetryStatus();

  constructor(session: Session, organizationId: () => string | undefined) {
    this.#session = session;
    this.#organizationId = organizationId;
    this.#disposables.add(this.#changed);
    this.#disposables.add(this.retryStatus);
    this.#disposables.add(session.onDidChange(() => this.#changeConnection()));
  }

  /** Changes with the session and with `onDidChange`. */
  get state(): InventoryState {
    const projects = this.#projects;
    const { current } = this.#session;
    if (current.kind !== 'connected') return current;
    if (projects === undefined) return { kind: 'loading' };
    const lists = [projects, ...this.#computes.values()];
    const error =
      lists.find(({ failure }) => isRejected(failure, 401))?.failure ??
      (projects.isEmpty ? projects.failure : undefined);
    if (error !== undefined) return { kind: 'failed', error };
    if (!projects.isEmpty) return { kind: 'ready' };
    return { kind: projects.isLoaded ? 'empty' : 'loading' };
  }

  /** Undefined without a connection. */
  get projects(): ProjectList | undefined {
    return this.#projects;
  }

  project(id: string): Project | undefined {
    return this.#projects?.entries.get(id)?.record;
  }

  /** The computes of a project, if they were requested. */
  computesOf(projectId: string): ComputeList | undefined {
    return this.#computes.get(projectId);
  }

  compute(projectId: string, computeId: string): Compute | undefined {
    return this.#computes.get(projectId)?.computes.get(computeId);
  }

  /** Every loaded compute. */
  *allComputes(): Generator<Compute, void> {
    for (const list of this.#computes.values()) yield* list.computes.values();
  }

  /** Loads a project's computes once. @throws {ApiError} */
  async loadComputes(projectId: string): Promise<ComputeList | undefined> {
    const list = this.#listFor(projectId);
    await list?.load();
    return list;
  }

  /** Loads a list for callers that only show it: once, and not again after a failure. Never rejects. */
  async ensureComputes(projectId: string): Promise<ComputeList | undefined> {
    const list = this.#listFor(projectId);
    await list?.ensureLoaded();
    return list;
  }

  /** Like `ensureComputes`, for the first page of projects. */
  async ensureProjects(): Promise<ProjectList | undefined> {
    const list = this.#projects;
    if (list?.failure === undefined) await list?.firstPage().catch(() => undefined);
    return list;
  }

  /** @throws {ApiError} */
  async refreshComputes(projectId: string): Promise<void> {
    await this.#listFor(projectId)?.refresh();
  }

  /** Refreshes the computes of several projects. @throws the first failure */
  async refreshComputesOf(projectIds: Iterable<string>): Promise<void> {
    await this.#forEach(projectIds, (id) => this.refreshComputes(id));
  }

  /** Loads the computes of several projects once. @throws the first failure */
  async loadComputesOf(projectIds: Iterable<string>): Promise<void> {
    await this.#forEach(projectIds, (id) => this.loadComputes(id));
  }

  /** Never rejects. */
  async refreshBranchesOf(projectIds: Iterable<string>): Promise<void> {
    await this.#forEach(projectIds, (id) => this.branches.refresh(id), this.#branchLimit);
  }

  /** Stores a record from the reply to a change. */
  put(compute: Compute): void {
    this.#computes.get(compute.project_id)?.put(compute);
  }

  /** Refreshes the projects and the computes of `shown`; other computes are loaded again when shown. @throws {ApiError} */
  async refreshAll(shown: Iterable<string>): Promise<void> {
    const shownIds = new Set(shown);
    const forgotten = [...this.#computes.keys()].filter((id) => !shownIds.has(id));
    for (const id of forgotten) this.#forget(id);
    this.#changed.fire(forgotten.map((projectId) => ({ kind: 'project', projectId })));
    // The view then shows that the list is loading.
    if (this.#projects?.isEmpty === true) this.#projects.clearFailure();
    const computes = this.refreshComputesOf(shownIds);
    await Promise.all([this.refreshProjects(), computes, this.refreshBranchesOf(shownIds)]);
  }

  /** @throws {ApiError} */
  async refreshProjects(): Promise<void> {
    await this.#projects?.refresh();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #forEach(
    projectIds: Iterable<string>,
    task: (id: string) => Promise<unknown>,
    limit = this.#limit,
  ): Promise<void> {
    const results = await Promise.allSettled([...projectIds].map((id) => limit(() => task(id))));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  #changeConnection(): void {
    const { connection } = this.#session;
    if (connection === this.#connection) return;
    const previous = { connection: this.#connection, projects: this.#projects, computes: this.#computes };
    this.#connection = connection;
    this.#computes = new Map();
    this.#projects = connection && this.#projectListOf(connection);
    const isSameAccount = connection?.isSameAccount(previous.connection) === true;
    const isKept = isSameAccount && previous.projects?.isLoaded === true;
    this.branches.setConnection(connection, isKept);
    if (!isKept) return this.#changed.fire([{ kind: 'all' }]);
    if (previous.projects !== undefined) this.#projects?.restoreFrom(previous.projects);
    for (const [projectId, list] of previous.computes) this.#listFor(projectId)?.restoreFrom(list);
    this.#changed.fire([{ kind: 'key' }]);
  }

  #projectListOf(connection: AccountConnection): ProjectList {
    const organizationId = this.#organizationId;
    const { retryStatus } = this;
    async function* pages() {
      const client = await connection.client();
      let onRetry = (_retry: Retry): void => undefined;
      const options = { signal: connection.signal, onRetry: (retry: Retry) => onRetry(retry) };
      const requested = client.projectPages(organizationId(), options);
      for (;;) {
        const page = await retryStatus.track((report) => {
          onRetry = report;
          return requested.next();
        });
        if (page.done === true) return;
        yield page.value;
      }
    }
    const list: ProjectList = new ProjectList(pages, (change) => {
      if (list === this.#projects) this.#projectsChanged(change);
    });
    return list;
  }

  #projectsChanged({ ids, removed, isStructural }: ProjectListDiff): void {
    const forgotten = removed.filter((id) => this.#forget(id));
    const projects = [...ids, ...forgotten].map((projectId) => ({ kind: 'project', projectId }) as const);
    this.#changed.fire(isStructural ? [{ kind: 'projects' }, ...projects] : projects);
  }

  /** @returns whether its computes were requested before */
  #forget(projectId: string): boolean {
    this.branches.forget(projectId);
    return this.#computes.delete(projectId);
  }

  #listFor(projectId: string): ComputeList | undefined {
    const existing = this.#computes.get(projectId);
    const connection = this.#connection;
    if (existing !== undefined || connection === undefined) return existing;
    const fetchComputes = async (lastBody: string | undefined) => {
      const client = await connection.client();
      return await this.retryStatus.track((onRetry) =>
        client.listComputesIfChanged(projectId, lastBody, { signal: connection.signal, onRetry }),
      );
    };
    const list: ComputeList = new ComputeList(fetchComputes, (change) => {
      if (list === this.#computes.get(projectId)) this.#computesChanged(projectId, list, change);
    });
    this.#computes.set(projectId, list);
    return list;
  }

  #computesChanged(projectId: string, list: ComputeList, change: ComputeListDiff): void {
    const changes: InventoryEvent[] = change.isStructural ? [{ kind: 'project', projectId }] : [];
    for (const branchId of change.branches) changes.push({ kind: 'branch', projectId, branchId });
    for (const computeId of change.computes) {
      const branchId = list.computes.get(computeId)?.branch_id;
      if (branchId !== undefined) changes.push({ kind: 'compute', projectId, branchId, computeId });
    }
    this.#changed.fire(changes);
  }
}
