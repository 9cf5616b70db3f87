/**
 * The one store of what the account holds: projects, and the computes of those projects somebody looked at. It
 * belongs to one connection at a time, and late answers of an old one have nowhere to go. With another account it begins
 * empty; with another key of the same account it goes on from what was known last.
 */
import { isRefused } from '../../api/errors.ts';
import type { Wait } from '../../api/transport/http.ts';
import type { Compute, Project } from '../../api/records/records.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import { limitTo } from '../../base/limit.ts';
import { ComputeList, type ComputeListChange } from './computeList.ts';
import type { Connection } from '../account/connection.ts';
import type { ComputeNode } from './nodes.ts';
import { ProjectList, type ProjectListChange } from './projectList.ts';
import type { Session } from '../account/session.ts';
import { RetryStatus } from './retryStatus.ts';

/**
 * The smallest part that changed. `all`: another account, nothing is as it was. `key`: another key of the same account,
 * what is known is to be asked for anew.
 */
export type InventoryChange =
  | { readonly kind: 'all' }
  | { readonly kind: 'key' }
  | { readonly kind: 'projects' }
  | { readonly kind: 'project'; readonly projectId: string }
  | { readonly kind: 'branch'; readonly projectId: string; readonly branchId: string }
  | ComputeNode;

/** Requests of one refresh under way at the same time. */
const REQUESTS_AT_ONCE = 6;

export class Inventory implements Disposable {
  readonly #session: Session;
  readonly #organizationId: () => string | undefined;
  readonly #changed = new Emitter<readonly InventoryChange[]>();
  readonly #held = new DisposableStore();
  readonly #inTurn = limitTo(REQUESTS_AT_ONCE);
  #connection: Connection | undefined;
  #projects: ProjectList | undefined;
  #computes = new Map<string, ComputeList>();
  /** Of these, projects that the list of projects had. */
  readonly #listed = new Set<string>();

  readonly onDidChange = this.#changed.event;

  /** Requests for what is on screen that are being tried again. */
  readonly retryStatus = new RetryStatus();

  constructor(session: Session, organizationId: () => string | undefined) {
    this.#session = session;
    this.#organizationId = organizationId;
    this.#held.add(this.#changed);
    this.#held.add(this.retryStatus);
    this.#held.add(session.onDidChange(() => this.#follow()));
  }

  /** Undefined when nobody is connected. */
  get projects(): ProjectList | undefined {
    return this.#projects;
  }

  project(id: string): Project | undefined {
    return this.#projects?.entries.get(id)?.record;
  }

  /** What is known of a project's computes, without asking. */
  computesOf(projectId: string): ComputeList | undefined {
    return this.#computes.get(projectId);
  }

  compute(projectId: string, computeId: string): Compute | undefined {
    return this.#computes.get(projectId)?.computes.get(computeId);
  }

  /** Every compute known so far. */
  *allComputes(): Generator<Compute, void> {
    for (const list of this.#computes.values()) yield* list.computes.values();
  }

  /** Loads a project's computes if they are not known yet. @throws {ApiError} */
  async loadComputes(projectId: string): Promise<ComputeList | undefined> {
    const list = this.#listFor(projectId);
    await list?.load();
    return list;
  }

  /** For those who only look: asks if nobody ever did. Never rejects; a failure stays in the list, which tells it. */
  async ensureComputes(projectId: string): Promise<ComputeList | undefined> {
    const list = this.#listFor(projectId);
    if (list?.isLoaded === false && list.failure === undefined) await list.load().catch(() => undefined);
    return list;
  }

  /** As `ensureComputes`, for the first page of projects. */
  async ensureProjects(): Promise<ProjectList | undefined> {
    const list = this.#projects;
    if (list?.isLoaded === false && list.failure === undefined) await list.firstPage().catch(() => undefined);
    return list;
  }

  /** @throws {ApiError} */
  async refreshComputes(projectId: string): Promise<void> {
    await this.#listFor(projectId)?.refresh();
  }

  /** Asks for these projects' computes, a few at a time; what fails stays as it was. @throws the first failure */
  async refreshComputesOf(projectIds: Iterable<string>): Promise<void> {
    await this.#ofEach(projectIds, (id) => this.refreshComputes(id));
  }

  /** Loads what of these is not known yet, a few at a time. @throws the first failure */
  async loadComputesOf(projectIds: Iterable<string>): Promise<void> {
    await this.#ofEach(projectIds, (id) => this.loadComputes(id));
  }

  /** Takes over a record that a call of our own answered with. */
  put(compute: Compute): void {
    this.#computes.get(compute.project_id)?.put(compute);
  }

  /** Asks anew for the projects and for the computes of `shown`; other computes are loaded again when wanted. @throws {ApiError} */
  async refreshAll(shown: Iterable<string>): Promise<void> {
    const wanted = new Set(shown);
    const forgotten = [...this.#computes.keys()].filter((id) => !wanted.has(id));
    for (const id of forgotten) this.#computes.delete(id);
    this.#changed.fire(forgotten.map((projectId) => ({ kind: 'project', projectId })));
    const connection = this.#connection;
    if (connection !== undefined && this.#session.current.kind === 'failed')
      this.#session.loading(connection);
    await Promise.all([this.refreshProjects(), this.refreshComputesOf(wanted)]);
  }

  /** Asks for all pages again; the session follows how it went. @throws {ApiError} */
  async refreshProjects(): Promise<void> {
    const [connection, projects] = [this.#connection, this.#projects];
    if (connection === undefined || projects === undefined) return;
    await projects.refresh();
    this.#session.loaded(connection, countOf(projects));
  }

  dispose(): void {
    this.#held.dispose();
  }

  async #ofEach(projectIds: Iterable<string>, task: (id: string) => Promise<unknown>): Promise<void> {
    const asked = [...projectIds].map((id) => this.#inTurn(() => task(id)));
    const results = await Promise.allSettled(asked);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  #follow(): void {
    const { connection } = this.#session;
    if (connection === this.#connection) return;
    const last = { connection: this.#connection, projects: this.#projects, computes: this.#computes };
    this.#connection = connection;
    this.#computes = new Map();
    this.#listed.clear();
    this.#projects = connection && this.#projectListOf(connection);
    const isSameAccount = connection?.isSameAccount(last.connection) === true;
    if (!isSameAccount || last.projects?.isLoaded !== true) return this.#changed.fire([{ kind: 'all' }]);
    this.#projects?.restoreFrom(last.projects);
    for (const [projectId, list] of last.computes) this.#listFor(projectId)?.restoreFrom(list);
    this.#changed.fire([{ kind: 'key' }]);
  }

  #projectListOf(connection: Connection): ProjectList {
    const { retryStatus: waits } = this;
    const organizationId = this.#organizationId;
    async function* pages() {
      const client = await connection.client();
      let tell: ((wait: Wait) => void) | undefined;
      const onWait = (wait: Wait) => tell?.(wait);
      const { signal } = connection;
      const each = client.projectPages(organizationId(), { signal, onWait });
      for (;;) {
        const page = await waits.during((told) => {
          tell = told;
          return each.next();
        });
        if (page.done === true) return;
        yield page.value;
      }
    }
    const list: ProjectList = new ProjectList(pages, (change) => {
      if (list === this.#projects) this.#projectsChanged(connection, list, change);
    });
    return list;
  }

  #projectsChanged(connection: Connection, list: ProjectList, change: ProjectListChange): void {
    if (list.failure === undefined) this.#session.loaded(connection, countOf(list));
    else if (countOf(list) === 0 || isRefused(list.failure, 401))
      this.#session.failed(connection, list.failure);
    const gone = change.isStructural ? this.#forgetGone(list) : [];
    const projects = [...change.ids, ...gone].map((projectId) => ({ kind: 'project', projectId }) as const);
    this.#changed.fire(change.isStructural ? [{ kind: 'projects' }, ...projects] : projects);
  }

  /** What was known of projects that are listed no longer. @returns their ids */
  #forgetGone(list: ProjectList): string[] {
    if (!list.isLoaded || list.failure !== undefined) return [];
    const isUnreadable = (id: string) => list.unreadable.some((record) => record.id === id);
    const gone: string[] = [];
    for (const id of this.#computes.keys()) {
      if (list.entries.has(id)) this.#listed.add(id);
      // One that was never listed is known from elsewhere, such as a link.
      else if (!isUnreadable(id) && this.#listed.delete(id)) gone.push(id);
    }
    for (const id of gone) this.#computes.delete(id);
    return gone;
  }

  #listFor(projectId: string): ComputeList | undefined {
    const known = this.#computes.get(projectId);
    const connection = this.#connection;
    if (known !== undefined || connection === undefined) return known;
    const fetch = async (lastBody: string | undefined) => {
      const client = await connection.client();
      return await this.retryStatus.during((onWait) =>
        client.listComputesIfChanged(projectId, lastBody, { signal: connection.signal, onWait }),
      );
    };
    const list: ComputeList = new ComputeList(fetch, (change) => {
      if (list === this.#computes.get(projectId)) this.#computesChanged(connection, projectId, list, change);
    });
    this.#computes.set(projectId, list);
    if (this.#projects?.entries.has(projectId) === true) this.#listed.add(projectId);
    return list;
  }

  #computesChanged(
    connection: Connection,
    projectId: string,
    list: ComputeList,
    change: ComputeListChange,
  ): void {
    if (isRefused(list.failure, 401)) this.#session.failed(connection, list.failure);
    const changes: InventoryChange[] = change.isStructural ? [{ kind: 'project', projectId }] : [];
    for (const branchId of change.branches) changes.push({ kind: 'branch', projectId, branchId });
    for (const computeId of change.computes) {
      const branchId = list.computes.get(computeId)?.branch_id ?? '';
      changes.push({ kind: 'compute', projectId, branchId, computeId });
    }
    this.#changed.fire(changes);
  }
}

const countOf = (list: ProjectList): number => list.entries.size + list.unreadable.length;
