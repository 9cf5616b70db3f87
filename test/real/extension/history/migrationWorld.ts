/** A repository with migrations and a real database, changed by random steps. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../../../src/base/clock.ts';
import { createGitRunner } from '../../../../src/base/git/runGit.ts';
import type { BranchRef } from '../../../../src/extension/account/refs.ts';
import { branchMapWriter } from '../../../../src/extension/gitBranch/branchMap.ts';
import type { EnvVariable } from '../../../../src/extension/envFile/envVariable.ts';
import { WorkFolder } from '../../../../src/extension/gitBranch/workFolder.ts';
import { branchHistory } from '../../../../src/extension/history/knownHistory.ts';
import { listMoments } from '../../../../src/extension/history/moments.ts';
import { type RestoreSource } from '../../../../src/extension/account/refs.ts';
import { offerAfterCheckout } from '../../../../src/extension/history/offerAfterCheckout.ts';
import { preservedName, undoBranch } from '../../../../src/extension/history/undoBranch.ts';
import { branchCalls } from '../../../helpers/branchCalls.ts';
import { connectModel, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { createRepository } from '../../../helpers/gitRepository.ts';
import type { LocalService } from '../../../helpers/localService.ts';
import { randomNumbers } from '../../../helpers/randomNumbers.ts';
import { RealClock } from '../../../helpers/realClock.ts';
import { query } from '../../service/postgres/clients.ts';

const runGit = createGitRunner(() => 'git');

export class MigrationWorld {
  readonly #service: LocalService;
  readonly #model: ConnectedModel;
  readonly #random: () => number;
  readonly #repository = createRepository();
  readonly #map = branchMapWriter(runGit, this.#repository.folder);
  readonly #window: WorkFolder;
  #ref: BranchRef = { account: '', projectId: '', branchId: '' };
  #uri = '';
  #count = 0;
  readonly errors: unknown[] = [];

  static async create(service: LocalService, seed: number): Promise<MigrationWorld> {
    const model = await connectModel(service, { key: service.key, clock: new RealClock() });
    const world = new MigrationWorld(service, model, seed);
    await world.#start();
    return world;
  }

  private constructor(service: LocalService, model: ConnectedModel, seed: number) {
    this.#service = service;
    this.#model = model;
    this.#random = randomNumbers(seed);
    const env: EnvVariable = {
      file: '.env',
      name: 'DATABASE_URL',
      isTrusted: true,
      read: async () => ({
        file: 'writable',
        value: this.#uri,
        text: '',
        path: path.join(this.#folder, '.env'),
      }),
      readIn: async (folder) => ({ path: folder, value: undefined }),
      replace: async () => undefined,
    };
    this.#window = new WorkFolder(this.#repository.folder, env, {
      ...model,
      runGit,
      clock: systemClock,
      notices: { ask: () => true, showSwitch: () => {} },
      log: { error: (_activity, error) => void this.errors.push(error) },
    });
  }

  get #folder(): string {
    return this.#repository.folder;
  }

  async #start(): Promise<void> {
    const api = branchCalls(this.#service);
    const created = await api.change('POST', '', { project: { name: 'Shop' } });
    const projectId = created.project.id;
    this.#uri = api.uri(created);
    const { inventory, session, knownHosts } = this.#model;
    const account = session.connection?.accountId ?? '';
    this.#ref = { account, projectId, branchId: created.branch.id };
    await inventory.ensureProjects();
    await inventory.refreshComputes(projectId);
    await inventory.branches.refresh(projectId);
    await knownHosts.refresh(inventory, account, [created.endpoints[0]?.host ?? '']);
    await this.#map.setFollowed(true);
    await this.#createTables();
    mkdirSync(path.join(this.#folder, 'migrations'));
    await this.#work(3);
  }

  dispose(): void {
    this.#window.dispose();
    this.#model.dispose();
  }

  /** @returns the name of the step */
  async step(): Promise<string> {
    const [name, run] = this.#pick(this.#steps());
    await run();
    return name;
  }

  #steps(): readonly (readonly [string, () => unknown])[] {
    const git = (...args: string[]) => tryGit(() => this.#repository.git(...args));
    const commits = () => this.#repository.git('log', '--all', '--format=%H').trim().split('\n');
    const branches = () => this.#repository.git('branch', '--format=%(refname:short)').trim().split('\n');
    const back = () => `HEAD~${1 + Math.floor(this.#random() * 2)}`;
    return [
      ...Array.from({ length: 4 }, () => ['write and migrate', () => this.#work(1)] as const),
      ...Array.from({ length: 4 }, () => ['work', () => this.#work(3)] as const),
      ['write', () => this.#write()],
      ['migrate', () => this.#migrate()],
      ['fail', async () => (await this.#write(), await this.#migrate({ fails: true }))],
      ...Array.from({ length: 4 }, () => ['reset the database', () => this.#resetDatabase()] as const),
      ['edit', () => this.#edit()],
      ['edit and reset', async () => (this.#edit(), await this.#resetDatabase())],
      ['rows', () => query(this.#uri, "insert into note (text) values ('a')")],
      ['scratch', () => query(this.#uri, `create table scratch_${(this.#count += 1)} ()`)],
      ['checkout', () => git('checkout', '--quiet', this.#pick(commits()))],
      ['checkout', () => git('checkout', '--quiet', back())],
      ['checkout', () => git('checkout', '--quiet', back())],
      ['reset', () => git('reset', '--quiet', '--hard', back())],
      ['reset', () => git('reset', '--quiet', '--hard', back())],
      ['switch', () => git('switch', '--quiet', this.#pick(branches()))],
      ['branch', () => this.#branch()],
      ['undo', () => this.#undoSomewhere()],
    ];
  }

  /** The migrations of the working tree. */
  get files(): readonly string[] {
    const folder = path.join(this.#folder, 'migrations');
    return existsSync(folder) ? readdirSync(folder).toSorted() : [];
  }

  async applied(): Promise<readonly string[]> {
    return (await query(this.#uri, 'select name from knex_migrations order by name')).map(String);
  }

  /** What the applied migrations have made is there, with the text of the working tree, and what others make isn't. */
  async checkTables(): Promise<void> {
    const columns = await query(
      this.#uri,
      `select table_name || '.' || column_name from information_schema.columns
      where table_schema = 'public' and (table_name ~ '^t\\d' or column_name ~ '^c\\d')`,
    );
    const applied = await this.applied();
    const expected = applied.flatMap((name) => {
      const [, table, column] = /create table (\w+)|add column (\w+)/.exec(this.#textOf(name)) ?? [];
      return table === undefined ? (column === undefined ? [] : `note.${column}`) : `${table}.id`;
    });
    assert.deepEqual(columns.map(String).toSorted(), expected.toSorted());
  }

  #textOf(name: string): string {
    return readFileSync(path.join(this.#folder, 'migrations', name), 'utf8');
  }

  async #write(): Promise<void> {
    this.#count += 1;
    const name = `${String(this.#count).padStart(4, '0')}.sql`;
    const sql = this.#pick([
      `create table t${this.#count} (id int)`,
      'alter table note add column c' + this.#count + ' int',
      "insert into note (text) values ('of a migration')",
    ]);
    mkdirSync(path.join(this.#folder, 'migrations'), { recursive: true });
    writeFileSync(path.join(this.#folder, 'migrations', name), sql);
    if (this.#random() < 0.1) return; // It is not committed.
    this.#repository.git('add', 'migrations');
    tryGit(() => this.#repository.git('commit', '--quiet', '--message=Migration'));
  }

  /** Replaces an earlier migration, and commits that. */
  #edit(): void {
    if (this.files.length === 0) return;
    const name = this.#pick(this.files);
    const sql = `create table t${(this.#count += 1)} (id int)`;
    writeFileSync(path.join(this.#folder, 'migrations', name), sql);
    tryGit(() => this.#repository.git('commit', '--quiet', '--all', '--message=Edit'));
  }

  /** As `knex migrate:latest`: it fails if the database has others. Some programs use no transaction, and note it afterwards. */
  async #migrate({ fails = false } = {}): Promise<void> {
    const applied = await this.applied();
    const { files } = this;
    if (applied.some((name) => !files.includes(name))) return;
    const pending = files.filter((name) => !applied.includes(name));
    const some = fails ? pending.slice(0, Math.floor(this.#random() * pending.length)) : pending;
    for (const name of some) {
      const sql = this.#textOf(name);
      const note = `insert into knex_migrations (name) values ('${name}')`;
      if (this.#random() < 0.8 || !isOfTables(sql))
        await query(this.#uri, `do $do$ begin ${sql}; ${note}; end $do$`);
      else for (const statement of [sql, note]) await query(this.#uri, statement);
    }
  }

  async #work(migrations: number): Promise<void> {
    for (let times = 0; times < migrations; times += 1) {
      await this.#write();
      await this.#migrate();
    }
  }

  async #createTables(): Promise<void> {
    await query(this.#uri, 'create table note (id serial primary key, text text)');
    // The program creates its table just before the first migration. What is created between both isn't there before them.
    await query(
      this.#uri,
      'create table knex_migrations (id serial primary key, name varchar(255), batch int, migration_time timestamptz)',
    );
  }

  async #resetDatabase(): Promise<void> {
    await query(this.#uri, 'drop schema public cascade');
    await query(this.#uri, 'create schema public');
    await this.#createTables();
    await this.#migrate();
  }

  async #branch(): Promise<void> {
    const name = `feature/${(this.#count += 1)}`;
    this.#repository.git('switch', '--quiet', '--create', name);
    await this.#map.setBranch(name, this.#ref);
  }

  /** Undoes by the command, without an offer. */
  async #undoSomewhere(): Promise<void> {
    const { inventory, markers } = this.#model;
    const list = await inventory.branches.refresh(this.#ref.projectId);
    assert.ok(list);
    const history = await branchHistory({ inventory, markers }, this.#ref, { list, gitEvents: [] });
    const moments = listMoments(history).filter(({ kind }) => kind !== 'ago');
    if (moments.length > 0) await this.#undo(this.#pick(moments).source);
  }

  async #undo(source: RestoreSource): Promise<void> {
    const { inventory, options } = this.#model;
    const list = inventory.branches.forProject(this.#ref.projectId);
    await undoBranch(this.#model, this.#ref, { source, name: preservedName(list) }, options);
    await query(this.#uri, 'select 1');
  }

  /** What a window does after a checkout. @returns whether the offer was accepted */
  async acceptOffer(): Promise<boolean> {
    await this.#window.activate();
    const offer = await offerAfterCheckout({ ...this.#model, runGit }, this.#window);
    if (offer === undefined) return false;
    await this.#undo(offer.source);
    return true;
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.#random() * items.length)];
    assert.ok(item !== undefined);
    return item;
  }
}

const isOfTables = (sql: string): boolean => !sql.startsWith('insert');

function tryGit(run: () => unknown): void {
  try {
    run();
  } catch {
    // Git refuses it, or there is nothing to do.
  }
}
