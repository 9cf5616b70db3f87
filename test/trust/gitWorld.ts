/** A repository with worktrees, windows and databases, changed by random steps. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { systemClock } from '../../src/base/clock.ts';
import { gitRunner } from '../../src/base/runGit.ts';
import { BranchMapWriter, type BranchRef } from '../../src/model/workBranch/branchMap.ts';
import { databaseBranchName } from '../../src/model/workBranch/branchName.ts';
import { replaceHost } from '../../src/model/workBranch/databaseUrl.ts';
import { KnownHosts } from '../../src/model/workBranch/knownHosts.ts';
import {
  WorkFolder,
  type Target,
  type WorkFolderDependencies,
} from '../../src/model/workBranch/workFolder.ts';
import { branchCalls, type Api, type Created } from '../helpers/branchCalls.ts';
import { connectModel, MemoryMap, type ConnectedModel } from '../helpers/connectedModel.ts';
import { createRepository } from '../helpers/gitRepository.ts';
import { startLocalService, type LocalService } from '../helpers/localService.ts';
import { randomNumbers } from '../helpers/randomNumbers.ts';
import { gitSteps, WEIGHTS } from './gitSteps.ts';
import { Worktree } from './worktree.ts';

const runGit = gitRunner(() => 'git');

export class GitWorld {
  readonly worktrees: Worktree[] = [];
  /** The database branch of each git branch, as git's configuration should have it. */
  readonly mapped = new Map<string, string>();
  readonly deleted = new Set<string>();
  /** The worktrees whose env file the last step has edited. */
  readonly edited = new Set<Worktree>();
  readonly errors: unknown[] = [];
  isServiceUp = true;
  /** How often a window has changed an env file. */
  written = 0;
  readonly #hosts = new Map<string, string>();
  readonly #knownHosts = new KnownHosts(new MemoryMap());
  readonly #repository = createRepository();
  readonly #map = new BranchMapWriter(runGit, this.#repository.folder);
  readonly #model: ConnectedModel;
  readonly #api: Api;
  readonly #projectId: string;
  readonly #role: string;
  readonly #database: string;
  readonly random: () => number;
  #service: LocalService;
  /** The URL of the project's default branch, which is the parent of the others. */
  firstUrl = '';
  #count = 0;

  static async create(service: LocalService, seed: number): Promise<GitWorld> {
    const api = branchCalls(service);
    const created = await api.change('POST', '', { project: { name: 'Shop' } });
    const model = await connectModel(service, { key: service.key });
    const world = new GitWorld(service, model, api, created, randomNumbers(seed));
    await world.#start(created);
    return world;
  }

  private constructor(
    service: LocalService,
    model: ConnectedModel,
    api: Api,
    created: Created,
    random: () => number,
  ) {
    this.#service = service;
    this.#model = model;
    this.#api = api;
    this.#projectId = created.project.id;
    this.#role = created.roles[0]?.name ?? '';
    this.#database = created.databases[0]?.name ?? '';
    this.random = random;
  }

  hostOf(branchId: string): string {
    const host = this.#hosts.get(branchId);
    assert.ok(host, `no host of ${branchId}`);
    return host;
  }

  dispose(): void {
    for (const { windows } of this.worktrees) for (const window of windows) window.dispose();
    for (const { repository } of this.worktrees) rmSync(repository.folder, { recursive: true, force: true });
  }

  async stopService(): Promise<void> {
    if (this.isServiceUp) await this.#service.stop();
  }

  async requireConnects({ value = '', host }: Worktree): Promise<void> {
    if (!this.isServiceUp || ![...this.#hosts].some(([id, known]) => known === host && !this.deleted.has(id)))
      return;
    const client = new pg.Client({ connectionString: value });
    await client.connect();
    await client.end();
  }

  /** For unique names. */
  nextNumber(): number {
    return (this.#count += 1);
  }

  /** @returns the name of the step. One that git refuses counts too. */
  async step(): Promise<string> {
    const entries = Object.entries(gitSteps(this)).flatMap((entry) =>
      Array.from({ length: WEIGHTS[entry[0]] ?? 1 }, () => entry),
    );
    const [name, run] = this.#pick(entries);
    const worktree = this.#pick(this.worktrees);
    try {
      await run(worktree, (...args) => worktree.repository.git(...args));
    } catch (error) {
      if (!(error instanceof Error && 'status' in error)) throw error;
    }
    return name;
  }

  /** The git branches, in any worktree. */
  branch(): string {
    return this.#pick(
      this.#repository
        .git('branch', '--format=%(refname:short)')
        .split('\n')
        .filter((name) => name !== '' && !name.startsWith('(')),
    );
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.random() * items.length)];
    assert.ok(item !== undefined);
    return item;
  }

  async #start(created: Created): Promise<void> {
    const repository = this.#repository;
    const { folder } = repository;
    writeFileSync(path.join(folder, '.gitignore'), '.env\n');
    repository.git('add', '.gitignore');
    repository.git('commit', '--quiet', '--message=Ignore');
    repository.git('tag', 'v1');
    const [compute] = created.endpoints;
    this.#hosts.set(created.branch.id, compute?.host ?? '');
    await this.#map.setParent(this.#ref(created.branch.id));
    await this.#map.setFollowed(true);
    this.firstUrl = await this.#url(compute?.host ?? '');
    await this.#learn();
    await this.#addWorktree('main', folder);
    for (const name of ['second', 'third']) await this.#addWorktree(name, await this.#newWorktree(name));
  }

  async #newWorktree(name: string): Promise<string> {
    const folder = `${this.#repository.folder}-${name}-${this.nextNumber()}`;
    this.#repository.git('worktree', 'add', '--quiet', '-b', `work/${this.#count}`, folder);
    return folder;
  }

  async #addWorktree(name: string, folder: string): Promise<void> {
    const worktree = new Worktree(name, this.#repository.at(folder), (of) => this.#open(of));
    worktree.write(this.firstUrl);
    this.edited.add(worktree);
    this.worktrees.push(worktree);
    for (const window of worktree.windows) await window.refresh();
  }

  async replaceWorktree(): Promise<void> {
    if (!this.isServiceUp) return;
    const [removed] = this.worktrees.splice(2, 1);
    assert.ok(removed);
    this.#repository.git('worktree', 'remove', '--force', removed.repository.folder);
    for (const window of removed.windows) window.dispose();
    await this.#addWorktree('third', await this.#newWorktree('third'));
  }

  async createDatabase(gitBranch: string): Promise<string> {
    const name = `${databaseBranchName(gitBranch)}-${this.nextNumber()}`;
    const alive = [...this.#hosts.keys()].filter((id) => !this.deleted.has(id));
    if (alive.length > MAX_DATABASES) return this.#pick(alive);
    const body = { branch: { name }, endpoints: [{ type: 'read_write' }] };
    const { branch, endpoints } = await this.#api.change('POST', `/${this.#projectId}/branches`, body);
    this.#hosts.set(branch.id, endpoints[0]?.host ?? '');
    await this.#map.addCreated({ ...this.#ref(branch.id), gitBranch });
    await this.#learn();
    return branch.id;
  }

  async deleteDatabase(): Promise<void> {
    // The first one is the default branch, which can't be deleted.
    const [, ...created] = this.#hosts.keys();
    const ids = created.filter((id) => !this.deleted.has(id) && [...this.mapped.values()].includes(id));
    if (!this.isServiceUp || ids.length === 0) return;
    const id = this.#pick(ids);
    await this.#api.change('DELETE', `/${this.#projectId}/branches/${id}`);
    this.deleted.add(id);
    await this.#learn();
    await this.refreshWindows();
  }

  async toggleService(): Promise<void> {
    const { baseUrl, dataDir, key } = this.#service;
    if (this.isServiceUp) await this.#service.stop();
    else this.#service = await startLocalService({ dataDir, key, args: ['--port', new URL(baseUrl).port] });
    this.isServiceUp = !this.isServiceUp;
    await this.refreshWindows();
  }

  /** What a window does when its lists have changed. */
  async #learn(): Promise<void> {
    const { inventory } = this.#model;
    await inventory.ensureProjects();
    await inventory.refreshComputes(this.#projectId);
    await inventory.branches.refresh(this.#projectId);
    const hosts = [...this.#hosts.values()];
    await this.#knownHosts.refresh(inventory, ACCOUNT, hosts);
  }

  /** What a window does when it gets the focus, or when its lists have changed. */
  async refreshWindows(): Promise<void> {
    for (const { windows } of this.worktrees) await Promise.all(windows.map((window) => window.refresh()));
  }

  async setMapped(gitBranch: string, id: string): Promise<void> {
    await this.#map.setBranch(gitBranch, id === 'none' ? id : this.#ref(id));
    this.mapped.set(gitBranch, id);
  }

  /** Git does the same with its configuration. */
  move(from: string, to: string | undefined): void {
    const id = this.mapped.get(from);
    this.mapped.delete(from);
    if (id !== undefined && to !== undefined) this.mapped.set(to, id);
  }

  #ref(branchId: string): BranchRef {
    return { account: ACCOUNT, projectId: this.#projectId, branchId };
  }

  #open(worktree: Worktree): WorkFolder {
    const deps: WorkFolderDependencies = {
      runGit,
      clock: systemClock,
      knownHosts: this.#knownHosts,
      isTrusted: () => true,
      account: () => ACCOUNT,
      readEnv: async () => {
        const { value, file } = worktree;
        return { file: value === undefined ? 'none' : 'writable', value, path: file };
      },
      readOther: async (folder) =>
        this.worktrees.find(({ repository }) => repository.folder === folder)?.value,
      replaceEnv: async (before, after) => {
        if (worktree.value !== before) return false;
        worktree.write(after);
        return true;
      },
      findTarget: (target, before) => this.#findTarget(target, before),
      ask: () => true,
      onSwitched: () => (this.written += 1),
      onError: (error) => void this.errors.push(error),
    };
    return new WorkFolder(worktree.repository.folder, deps);
  }

  async #findTarget({ branchId }: BranchRef, before: string): Promise<Target> {
    if (!this.isServiceUp) return { state: 'offline' };
    const url = await this.#url(this.hostOf(branchId));
    const password = new URL(url).password;
    return { state: 'live', value: replaceHost(before, this.hostOf(branchId), password) };
  }

  async #url(host: string): Promise<string> {
    const [branchId = ''] = [...this.#hosts].find(([, known]) => known === host) ?? [];
    const query = `?branch_id=${branchId}&role_name=${this.#role}&database_name=${this.#database}`;
    const { uri } = await this.#api.send<{ uri: string }>(
      'GET',
      `/${this.#projectId}/connection_uri${query}`,
    );
    return uri;
  }
}

const ACCOUNT = 'local';
const MAX_DATABASES = 8;
