/** A repository with worktrees, windows and databases, changed by random steps. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { systemClock } from '../../../../src/base/clock.ts';
import { createGitRunner } from '../../../../src/base/git/runGit.ts';
import { branchMapWriter } from '../../../../src/extension/gitBranch/branchMap.ts';
import { databaseBranchName } from '../../../../src/extension/gitBranch/branchName.ts';
import type { EnvVariable } from '../../../../src/extension/envFile/envVariable.ts';
import { WorkFolder } from '../../../../src/extension/gitBranch/workFolder.ts';
import { createRepository } from '../../../helpers/gitRepository.ts';
import type { LocalService } from '../../../helpers/localService.ts';
import { randomNumbers } from '../../../helpers/randomNumbers.ts';
import { Databases } from './databases.ts';
import { gitSteps, WEIGHTS } from './gitSteps.ts';
import { Worktree } from './worktree.ts';

const runGit = createGitRunner(() => 'git');

export class GitWorld {
  readonly worktrees: Worktree[] = [];
  /** The database branch of each git branch, as git's configuration should have it. */
  readonly mapped = new Map<string, string>();
  /** The worktrees whose env file was changed by the last step itself. */
  readonly edited = new Set<Worktree>();
  readonly errors: unknown[] = [];
  readonly databases: Databases;
  readonly random: () => number;
  /** How often a window has changed an env file. */
  written = 0;
  /** Milliseconds from the end of a git command to the changed env file. */
  readonly switchTimes: number[] = [];
  /** When the step's last git command ended; undefined if windows may have another reason to change a file. */
  #gitEndedAt: number | undefined;
  readonly #repository = createRepository();
  readonly #map = branchMapWriter(runGit, this.#repository.folder);
  /** The URL of the project's default branch. */
  firstUrl = '';
  #count = 0;

  static async create(service: LocalService, seed: number): Promise<GitWorld> {
    const world = new GitWorld(await Databases.create(service), randomNumbers(seed));
    await world.#start();
    return world;
  }

  private constructor(databases: Databases, random: () => number) {
    this.databases = databases;
    this.random = random;
    databases.knownHosts.onDidChange(() => this.#windows().forEach((window) => void window.refresh()));
  }

  get isServiceUp(): boolean {
    return this.databases.isServiceUp;
  }

  dispose(): void {
    for (const window of this.#windows()) window.dispose();
    for (const { repository } of this.worktrees) rmSync(repository.folder, { recursive: true, force: true });
  }

  async requireConnects({ value = '', host }: Worktree): Promise<void> {
    if (!this.isServiceUp || !this.databases.isUsable(host)) return;
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
    this.#gitEndedAt = undefined;
    const git = (...args: readonly string[]) => {
      const output = worktree.repository.git(...args);
      this.#gitEndedAt = performance.now();
      return output;
    };
    const before = worktree.value;
    const runStep = () => {
      try {
        return run(worktree, git);
      } finally {
        // No window has run yet. Git removes a file that is in the index but not in the commit.
        if (worktree.value !== before) this.edited.add(worktree);
      }
    };
    try {
      await runStep();
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

  /** A git branch with a database that no worktree has checked out, or else any git branch. */
  freeBranch(): string {
    const { gone } = this.databases;
    const names = this.#repository.git('branch', '--format=%(worktreepath) %(refname:short)').split('\n');
    const free = names.filter((name) => name.startsWith(' ')).map((name) => name.trim());
    const usable = free.filter((name) => {
      const id = this.mapped.get(name);
      return id !== undefined && !gone.has(id);
    });
    return usable.length === 0 ? this.branch() : this.#pick(usable);
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.random() * items.length)];
    assert.ok(item !== undefined);
    return item;
  }

  async #start(): Promise<void> {
    const repository = this.#repository;
    const { folder } = repository;
    writeFileSync(path.join(folder, '.gitignore'), '.env\n');
    repository.git('add', '.gitignore');
    repository.git('commit', '--quiet', '--message=Ignore');
    repository.git('tag', 'v1');
    const { first } = this.databases;
    await this.#map.setParent(this.databases.ref(first));
    await this.#map.setFollowed(true);
    this.firstUrl = await this.databases.url(first);
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
    const { first, usable } = this.databases;
    if (usable.length >= MAX_DATABASES) return this.#pick([first, ...usable]);
    const id = await this.databases.add(name);
    await this.#map.addCreated({ ...this.databases.ref(id), gitBranch });
    return id;
  }

  /** Deletes or expires a database branch that a git branch is mapped to. */
  async endDatabase(how: 'delete' | 'expire'): Promise<void> {
    const mapped = new Set(this.mapped.values());
    const ids = this.databases.usable.filter((id) => mapped.has(id));
    if (!this.isServiceUp || ids.length === 0) return;
    await this.databases[how](this.#pick(ids));
    await this.refreshWindows();
  }

  async setService(isUp: boolean): Promise<void> {
    if (isUp === this.isServiceUp) return;
    await this.databases.toggleService();
    await this.refreshWindows();
  }

  /** What a window does when it gets the focus, or when its lists have changed. */
  async refreshWindows(): Promise<void> {
    this.#gitEndedAt = undefined;
    for (const { windows } of this.worktrees) await Promise.all(windows.map((window) => window.refresh()));
  }

  async setMapped(gitBranch: string, id: string): Promise<void> {
    this.#gitEndedAt = undefined;
    await this.#map.setBranch(gitBranch, id === 'none' ? id : this.databases.ref(id));
    this.mapped.set(gitBranch, id);
  }

  /** Git does the same with its configuration. */
  move(from: string, to: string | undefined): void {
    const id = this.mapped.get(from);
    this.mapped.delete(from);
    if (id !== undefined && to !== undefined) this.mapped.set(to, id);
  }

  #windows(): readonly WorkFolder[] {
    return this.worktrees.flatMap(({ windows }) => windows);
  }

  #open(worktree: Worktree): WorkFolder {
    const env: EnvVariable = {
      file: '.env',
      name: 'DATABASE_URL',
      isTrusted: true,
      read: async () => {
        const { value, text, file } = worktree;
        return { file: value === undefined ? 'none' : 'writable', value, text, path: file };
      },
      readIn: async (folder) => ({
        path: folder,
        value: this.worktrees.find(({ repository }) => repository.folder === folder)?.value,
      }),
      replace: async ([{ before, after }]) => {
        if (worktree.value !== before) return undefined;
        worktree.write(after);
        this.written += 1;
        if (this.#gitEndedAt !== undefined) this.switchTimes.push(performance.now() - this.#gitEndedAt);
        return { undo: async () => {} };
      },
    };
    return new WorkFolder(worktree.repository.folder, env, {
      ...this.databases.model,
      knownHosts: this.databases.knownHosts,
      runGit,
      clock: systemClock,
      notices: { ask: () => true, showSwitch: () => {} },
      log: { error: (_activity, error) => void this.errors.push(error) },
    });
  }
}

const MAX_DATABASES = 8;
