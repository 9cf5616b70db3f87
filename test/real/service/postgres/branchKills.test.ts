/**
 * Kills the service, every second time with its postmasters, at random moments while projects and branches are created, restored,
 * restored to earlier times and deleted, deleted projects are recovered, and snapshots are created, restored in place and deleted. After each restart, every call has either happened as a whole or not at all, and nothing is left behind.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  branchCalls,
  emptyAccount,
  storageOf,
  type Api,
  type Created,
} from '../../../helpers/branchCalls.ts';
import { roundsOf } from '../../../helpers/fullRun.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { answers, query } from './clients.ts';
import { killPostmasters, leftBehind } from './leftBehind.ts';
import { settled } from './settled.ts';

const KILLS = roundsOf(3);
/** Milliseconds. */
const LONGEST_LIFE = 1_000;
const MAX_BRANCHES = 4;
const PRIMARY = { type: 'read_write' };

interface Moment {
  readonly at: string;
  readonly rows: readonly number[];
}

/** What the client knows: confirmed and deleted ids. A call without a reply may have happened or not. */
class Client {
  readonly project: string;
  /** The address of the main branch, also when a snapshot has replaced it. All branches have its password. */
  readonly uri: string;
  readonly confirmed = new Set<string>();
  readonly deleted = new Set<string>();
  readonly projects = new Set<string>();
  readonly deletedProjects = new Set<string>();
  /** The branch that each project was created with. */
  readonly #branchOf = new Map<string, string>();
  /** Confirmed changes. */
  changes = 0;
  undos = 0;
  replacements = 0;
  /** When a snapshot has replaced the main branch, its new history begins later than these short lives end. */
  usesSnapshots = false;
  /** The rows of the main branch in each confirmed snapshot. */
  readonly snapshots = new Map<string, readonly number[]>();
  readonly deletedSnapshots = new Set<string>();
  #rows = 0;
  /** The rows that the main branch may have. Without a reply, it may be taken back or not. */
  #possible: readonly (readonly number[])[] = [[]];
  /** Before the last row. */
  #moment: Moment | undefined;

  constructor(created: Created, uri: string) {
    this.project = created.project.id;
    this.uri = uri;
  }

  /** @param first the turn that it begins with, so that each kind of change is the first one of some lives */
  async run(api: Api, first: number): Promise<void> {
    for (let turn = first; ; turn += 1) {
      try {
        await this.#act(api, turn);
      } catch (error) {
        if (isLocked(error)) continue;
        assert(!(error instanceof assert.AssertionError), error instanceof Error ? error.message : '');
        return; // The service is gone.
      }
    }
  }

  async #act(api: Api, turn: number): Promise<void> {
    const address = `/${this.project}/branches`;
    const branches = (await api.branches(this.project)).filter((branch) => !branch.default);
    // Neither deleted nor restored: a branch that was preserved gets the children.
    const parents = new Set(branches.map(({ parent_id }) => parent_id));
    const leaves = branches.filter(({ id }) => !parents.has(id));
    const some = leaves[Math.floor(Math.random() * leaves.length)]?.id ?? '';
    if (turn % 8 === 0) await this.#replaceProject(api);
    else if (turn % 4 === 2 && this.usesSnapshots) await this.#useSnapshot(api);
    else if (turn % 4 === 1 && this.#moment !== undefined) await this.#undo(api, this.#moment);
    else if (turn % 3 === 0 && some !== '') {
      const source_branch_id = await this.main(api);
      await api.send('POST', `${address}/${some}/restore`, { source_branch_id }, 200);
      this.changes += 1;
    } else if (branches.length >= MAX_BRANCHES) {
      await this.#delete(api, `${address}/${some}`, some, this.confirmed, this.deleted);
      this.changes += 1;
    } else {
      const endpoints = turn % 2 === 0 ? [PRIMARY] : [];
      const { branch } = await api.send('POST', address, { endpoints });
      this.confirmed.add(branch.id);
      this.changes += 1;
    }
  }

  async #replaceProject(api: Api): Promise<void> {
    const [oldest] = this.projects;
    if (oldest !== undefined && this.projects.size > 1) {
      await this.#delete(api, `/${oldest}`, oldest, this.projects, this.deletedProjects);
    }
    // The first one that can be recovered is, and then deleted again.
    const [kept] = oldest === undefined ? [] : await recoverable(api);
    if (kept !== undefined) {
      const wasDeleted = this.deletedProjects.delete(kept);
      try {
        await api.send('POST', `/${kept}/recover`, undefined, 200);
        this.projects.add(kept);
      } catch (error) {
        if (isLocked(error) && wasDeleted) this.deletedProjects.add(kept);
        throw error;
      }
      this.changes += 1;
    }
    const isKept = this.#branchOf.size % 3 === 0;
    const { project, branch } = await api.send('POST', '', {
      project: isKept ? {} : { history_retention_seconds: 0 },
    });
    this.projects.add(project.id);
    this.#branchOf.set(project.id, branch.id);
    this.changes += 1;
  }

  /** Creates one, or takes the oldest: then the main branch gets its rows, and the next time it is deleted. */
  async #useSnapshot(api: Api): Promise<void> {
    const [[id, rows] = ['', []]] = this.snapshots;
    const address = `/${this.project}/snapshots/${id}`;
    const before = this.#possible;
    if (id === '') {
      const main = await this.main(api);
      const at = `/${this.project}/branches/${main}/snapshot`;
      const { snapshot } = await api.send<{ snapshot: { id: string } }>('POST', at, undefined, 200);
      this.snapshots.set(snapshot.id, before[0] ?? []);
    } else if (this.snapshots.size > 1 || this.replacements > this.deletedSnapshots.size) {
      this.snapshots.delete(id);
      try {
        await api.send('DELETE', address, undefined, 202);
        this.deletedSnapshots.add(id);
      } catch (error) {
        if (isLocked(error)) this.snapshots.set(id, rows);
        throw error;
      }
    } else {
      this.#possible = [...before, rows];
      const main = await this.main(api);
      const body = { target_branch_id: main, finalize_restore: true };
      try {
        await api.send('POST', `${address}/restore`, body, 200);
      } catch (error) {
        if (isLocked(error)) this.#possible = before;
        throw error;
      }
      this.#possible = [rows];
      // What has its history is another branch now.
      this.#moment = undefined;
      this.replacements += 1;
      await until('the main branch is replaced', async () => (await this.main(api)) !== main);
    }
    this.changes += 1;
  }

  /** Once for a moment: later, it is no longer in the history of the main branch. */
  async #undo(api: Api, { at, rows }: Moment): Promise<void> {
    const id = await this.main(api);
    const past = { source_branch_id: id, source_timestamp: at, preserve_under_name: `before ${at}` };
    const before = this.#possible;
    this.#possible = [...before, rows];
    try {
      await api.send('POST', `/${this.project}/branches/${id}/restore`, past, 200);
    } catch (error) {
      if (isLocked(error) || isTooEarly(error)) this.#possible = before;
      if (!isTooEarly(error)) throw error;
      this.#moment = undefined;
      return;
    }
    this.#possible = [rows];
    this.#moment = undefined;
    this.undos += 1;
    this.changes += 1;
  }

  async #delete(
    api: Api,
    address: string,
    id: string,
    confirmed: Set<string>,
    deleted: Set<string>,
  ): Promise<void> {
    const wasConfirmed = confirmed.delete(id);
    try {
      await api.send('DELETE', address);
      deleted.add(id);
    } catch (error) {
      if (isLocked(error) && wasConfirmed) confirmed.add(id);
      throw error;
    }
  }

  async main(api: Api): Promise<string> {
    return (await api.branches(this.project)).find((branch) => branch.default)?.id ?? '';
  }

  /** Adds a row to the main branch, which every later copy must have. */
  async addRow(): Promise<void> {
    const [rows = []] = this.#possible;
    this.#moment = { at: new Date().toISOString(), rows };
    const added = (this.#rows += 1);
    await query(this.uri, `insert into item values (${added})`);
    this.#possible = [[...rows, added]];
  }

  async check(api: Api, service: LocalService): Promise<void> {
    const projects = await settled(api);
    const ids = new Set(projects.map(({ project }) => project));
    for (const id of this.projects) assert(ids.has(id), `project ${id} was confirmed and is missing`);
    for (const id of this.deletedProjects) assert(!ids.has(id), `project ${id} was deleted and exists again`);
    const branches = projects.flatMap((each) => each.branches);
    for (const id of this.confirmed) assert(branches.includes(id), `${id} was confirmed and is missing`);
    for (const id of this.deleted) assert(!branches.includes(id), `${id} was deleted and exists again`);
    const { snapshots } = await api.send<{ snapshots: { id: string }[] }>(
      'GET',
      `/${this.project}/snapshots`,
    );
    const kept = new Set(snapshots.map(({ id }) => id));
    for (const id of this.snapshots.keys()) assert(kept.has(id), `${id} was confirmed and is missing`);
    for (const id of this.deletedSnapshots) assert(!kept.has(id), `${id} was deleted and exists again`);
    for (const { branches: own, project } of projects)
      assert(own.length > 0, `project ${project} has no branch`);
    const deletedData = (await recoverable(api)).flatMap((id) => this.#branchOf.get(id) ?? []);
    await until(
      async () => `nothing that no record names, unlike ${String(await leftBehind(service, deletedData))}`,
      async () => (await leftBehind(service, deletedData)).length === 0,
    );
    const all = await api.send<Created>('GET', `/${this.project}/endpoints`);
    const [newest] = all.endpoints.filter(({ branch_id: id }) => this.confirmed.has(id)).slice(-1);
    const uri = new URL(this.uri);
    if (newest !== undefined) uri.host = newest.host;
    await answers(uri.href);
    await query(uri.href, 'select count(*) from item');
    await answers(this.uri);
    const rows = await query(this.uri, 'select id from item order by id');
    const found = this.#possible.find((each) => isDeepStrictEqual(each, rows));
    assert(found, `${String(rows)} instead of ${this.#possible.join(' or ')}`);
    this.#possible = [found];
  }
}

/** Nothing was done, also because a branch has got children since it was listed. */
const isLocked = (error: unknown): boolean =>
  error instanceof assert.AssertionError && /LOCKED|has child branches/.test(error.message);

/** The history of a branch that was created from a snapshot begins later. */
const isTooEarly = (error: unknown): boolean =>
  error instanceof assert.AssertionError && error.message.includes('history of branch');

/** The ids of deleted projects. */
const recoverable = async (api: Api): Promise<string[]> =>
  (await api.send<{ projects: { id: string }[] }>('GET', '?recoverable=true&limit=400')).projects.map(
    ({ id }) => id,
  );

describe(`The service killed ${KILLS} times while branches and projects change`, () => {
  const folder = temporaryFolder();

  it('has the old or the new state of each after the restart', async () => {
    const dataDir = path.join(folder, 'data');
    const options = { key: 'k', dataDir, args: emptyAccount() };
    let service = await startLocalService(options);
    const first = branchCalls(service);
    const created = await first.change('POST', '', { project: {} });
    const client = new Client(created, first.uri(created));
    await query(client.uri, 'create table item (id int)');
    for (let kill = 0; kill < KILLS; kill += 1) {
      const api = branchCalls(service);
      client.usesSnapshots = kill >= KILLS / 2;
      await client.addRow();
      const before = client.changes;
      const running = client.run(api, kill);
      await until('a confirmed change', async () => client.changes > before);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_LIFE));
      await service.kill();
      if (kill % 2 === 0) killPostmasters(storageOf(service));
      await running;
      service = await startLocalService(options);
      await client.check(branchCalls(service), service);
    }
    await service.stop();
    if (KILLS >= 50) assert(client.undos > 0 && client.replacements > 0);
  });
});
