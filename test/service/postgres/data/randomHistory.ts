/** A branch that random steps change, and what it contained at moments in between. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import type { ComputeSpec, Moment } from '../../../../src/service/core/computeEngine.ts';
import { parseLsn } from '../../../../src/service/core/lsn.ts';
import { randomNumbers } from '../../../helpers/randomNumbers.ts';
import { connectTo, eventually } from '../clients.ts';
import type { ControlPlane } from '../controlPlane.ts';

/** What the branch contains after a step. */
interface Mark {
  readonly lsn: string;
  /** When the step ended and the next one began; microseconds since 1970. */
  readonly from: number;
  to: number;
  readonly content: string;
  /** A sequence is allowed to skip values, but not to repeat one. */
  readonly sequence: number;
}

const KEEP_FOR = 86_400;
const NO_LIMIT = 2 ** 40;
const MAX_MARKS_READ = 2;

export class RandomHistory {
  readonly #service: ControlPlane;
  readonly #random: () => number;
  readonly #id: string;
  #compute: ComputeSpec | undefined;
  /** Stays connected from step to step, as a program's does. */
  #client: pg.Client | undefined;
  #marks: Mark[] = [];
  /** Branches with the data before a restore, and their marks. */
  readonly #preserved: { readonly id: string; readonly marks: Mark[] }[] = [];
  #created = 0;
  #step = 0;
  readonly steps: string[] = [];

  constructor(service: ControlPlane, seed: number) {
    this.#service = service;
    this.#random = randomNumbers(seed);
    this.#id = `br-${seed}`;
  }

  async run(steps: number): Promise<void> {
    const { engine } = this.#service;
    await engine.createBranch({ id: this.#id, keepsHistory: true });
    this.#compute = await this.#createCompute(this.#id);
    await this.#sql(`create table item (id int primary key, name text); create sequence number;
      create unlogged table draft (id int); select nextval('number')`);
    await this.#mark();
    for (let step = 0; step < steps; step += 1) await this.#act();
    for (let read = 0; read < MAX_MARKS_READ; read += 1) await this.#checkPast(this.#id, this.#marks);
    const old = this.#pick(this.#preserved);
    if (old !== undefined) await this.#checkPast(old.id, old.marks);
    await this.#disconnect();
    await this.#remove();
  }

  async #act(): Promise<void> {
    this.#step += 1;
    const [name, act] = this.#pick(this.#actions()) ?? assert.fail();
    this.steps.push(name);
    const last = this.#marks.at(-1);
    if (last !== undefined) last.to = Math.max(last.from, Date.now() * 1000);
    await act();
    const content = this.#marks.at(-1)?.content;
    const mark = await this.#mark();
    // An interruption keeps what was committed.
    if (['suspend', 'kill', 'base', 'look back', 'look back suspended'].includes(name))
      assert.equal(mark.content, content ?? mark.content, name);
  }

  #actions(): [string, () => Promise<unknown>][] {
    const id = this.#step;
    const redo: [string, () => Promise<unknown>] = ['redo', () => this.#redo()];
    return [
      ['insert', () => this.#sql(`insert into item values (${id}, 'a'); select nextval('number')`)],
      [
        'insert',
        () =>
          this.#sql(`insert into item select ${id} * 1000 + g, md5(g::text) from generate_series(1, 300) g`),
      ],
      ['delete', () => this.#sql(`delete from item where id % 3 = ${id % 3}; insert into draft values (1)`)],
      ['alter', () => this.#locking(`alter table item add column c${id} int default ${id}`)],
      ['create', () => this.#sql(`create table t${id} as select ${id} as x; insert into draft values (2)`)],
      [
        'drop',
        () =>
          this.#locking(
            `drop table if exists t${Math.max(0, id - 2)}; truncate item; insert into item values (1)`,
          ),
      ],
      ['database', () => this.#sql(`create database d${id}`)],
      ['prepare', () => this.#sql(`begin; insert into item values (-${id}); prepare transaction 'p${id}'`)],
      ['commit', () => this.#commitPrepared()],
      ['savepoints', () => this.#savepoints(id)],
      ['abort', () => this.#sql(`begin; insert into item values (-1000 - ${id}); rollback`)],
      ['suspend', () => this.#suspend()],
      ['kill', () => this.#kill()],
      ['base', () => this.#makeBase()],
      ['look back', () => this.#checkPast(this.#id, this.#marks)],
      ['look back suspended', () => this.#lookBackSuspended()],
      ['restore', () => this.#restore()],
      ...(this.#preserved.length === 0 ? [] : [redo, redo]),
    ];
  }

  async #sql(sql: string): Promise<void> {
    const client = await this.#connect();
    await client.query(sql);
  }

  /** Prepared transactions keep the locks that these statements wait for. */
  async #locking(sql: string): Promise<void> {
    while (await this.#commitPrepared());
    await this.#sql(sql);
  }

  /** More than a snapshot holds. */
  async #savepoints(id: number): Promise<void> {
    const inserts = Array.from(
      { length: 70 },
      (_, each) =>
        `savepoint s; insert into item values (${id} * 1000 + ${each}, 's') on conflict do nothing;`,
    );
    await this.#sql(`begin; ${inserts.join('\n')} commit`);
  }

  /** @returns whether there was one */
  async #commitPrepared(): Promise<boolean> {
    const client = await this.#connect();
    const sql = 'select gid from pg_prepared_xacts order by gid limit 1';
    const name = (await client.query<{ gid: string }>(sql)).rows[0]?.gid;
    if (name !== undefined) await this.#sql(`commit prepared '${name}'`);
    return name !== undefined;
  }

  async #lookBackSuspended(): Promise<void> {
    await this.#suspend();
    await this.#checkPast(this.#id, this.#marks);
  }

  async #suspend(): Promise<void> {
    await this.#disconnect();
    await this.#service.engine.suspend(this.#mine.id);
  }

  async #kill(): Promise<void> {
    await this.#connect();
    await this.#disconnect();
    const { dataDir, crashed } = this.#service;
    const file = path.join(dataDir, 'postgres/branches', this.#id, 'data/postmaster.pid');
    const isMine = () => crashed.filter(({ id }) => id === this.#mine.id).length;
    const before = isMine();
    process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGKILL');
    await eventually(() => isMine() > before);
  }

  async #makeBase(): Promise<void> {
    await this.#connect();
    const limits = { branch: NO_LIMIT, total: NO_LIMIT, leastWritten: 0, mostWritten: 0 };
    await this.#service.engine.keepHistory([{ id: this.#id, seconds: KEEP_FOR }], { isAll: true, limits });
  }

  /** Undo: the branch is as it was at a moment, and what it was is a branch. */
  async #restore(): Promise<void> {
    const { mark, moment } = this.#pickMoment(this.#marks);
    await this.#replace(this.#id, moment, mark);
  }

  /** Undo of undo. */
  async #redo(): Promise<void> {
    const preserved = this.#pick(this.#preserved);
    const last = preserved?.marks.at(-1);
    if (preserved !== undefined && last !== undefined) await this.#replace(preserved.id, undefined, last);
  }

  async #replace(sourceId: string, moment: Moment | undefined, mark: Mark): Promise<void> {
    await this.#suspend();
    const preservedId = `${this.#id}-old${(this.#created += 1)}`;
    await this.#service.engine.restoreBranch({ id: this.#id, sourceId, moment, preservedId });
    this.#preserved.push({ id: preservedId, marks: this.#marks });
    const content = await contentOf(await this.#connect());
    assert.equal(content, mark.content, `restore to ${JSON.stringify(moment)}`);
    const isOwn = sourceId === this.#id;
    // The history of another branch may begin later.
    this.#marks = isOwn ? this.#marks.slice(0, this.#marks.indexOf(mark) + 1) : [];
    if (isOwn) this.#marks = this.#marks.map((each) => (each === mark ? { ...each, to: each.from } : each));
  }

  /** A branch of the past has exactly what was committed before that moment. */
  async #checkPast(parentId: string, marks: readonly Mark[]): Promise<void> {
    const history = await this.#service.engine.history(parentId);
    const { start = '', startLsn = '' } = history ?? {};
    const inHistory = marks.filter(
      ({ from, lsn }) =>
        from / 1000 >= Date.parse(start) && (parseLsn(lsn) ?? 0) >= (parseLsn(startLsn) ?? 0),
    );
    if (inHistory.length === 0) return;
    const { mark, moment } = this.#pickMoment(inHistory);
    const id = `${this.#id}-past${(this.#created += 1)}`;
    const { engine } = this.#service;
    await engine.createBranch({ id, parentId, moment, keepsHistory: true });
    const compute = await this.#createCompute(id);
    const client = await connectTo(await this.#service.uri(compute));
    try {
      assert.equal(await contentOf(client), mark.content, `${parentId} at ${JSON.stringify(moment)}`);
      const { rows } = await client.query<{ next: number; drafts: number }>(
        `select nextval('number')::int as next, (select count(*)::int from draft) as drafts`,
      );
      assert((rows[0]?.next ?? 0) > mark.sequence, 'a value of a sequence is repeated');
      assert.equal(rows[0]?.drafts, 0, 'rows of an unlogged table');
    } finally {
      await client.end();
    }
    await engine.remove(compute.id);
    await engine.deleteBranch(id);
  }

  #pickMoment(marks: readonly Mark[]): { mark: Mark; moment: Moment } {
    const mark = this.#pick(marks) ?? assert.fail('no moment');
    if (this.#random() < 0.5) return { mark, moment: { lsn: mark.lsn } };
    const time = Math.floor(mark.from + this.#random() * (mark.to - mark.from));
    const seconds = new Date(Math.floor(time / 1_000_000) * 1000).toISOString().slice(0, 19);
    const micros = String(time % 1_000_000).padStart(6, '0');
    return { mark, moment: { timestamp: `${seconds}.${micros}Z` } };
  }

  async #mark(): Promise<Mark> {
    const client = await this.#connect();
    const content = await contentOf(client);
    const { rows } = await client.query<{ lsn: string; time: string; sequence: number }>(
      `select pg_current_wal_flush_lsn()::text as lsn, (select last_value::int from number) as sequence,
        (extract(epoch from clock_timestamp()) * 1000000)::bigint::text as time`,
    );
    const { lsn = '', time = '', sequence = 0 } = rows[0] ?? {};
    const mark = { lsn, from: Number(time), to: Number(time), content, sequence };
    this.#marks.push(mark);
    return mark;
  }

  async #connect(): Promise<pg.Client> {
    this.#client ??= await connectTo(await this.#service.uri(this.#mine));
    return this.#client;
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.end();
  }

  get #mine(): ComputeSpec {
    return this.#compute ?? assert.fail('no compute');
  }

  async #createCompute(branchId: string): Promise<ComputeSpec> {
    const pgSettings = { max_prepared_transactions: '20' };
    return this.#service.create({ id: `ep-${branchId.slice(3)}`, branchId, pgSettings });
  }

  #pick<T>(values: readonly T[]): T | undefined {
    return values[Math.floor(this.#random() * values.length)];
  }

  async #remove(): Promise<void> {
    const { engine } = this.#service;
    await engine.remove(this.#mine.id);
    for (const id of [this.#id, ...this.#preserved.map((each) => each.id)]) await engine.deleteBranch(id);
  }
}

/** All rows, without those of the unlogged table, and the names of databases and prepared transactions. */
async function contentOf(client: pg.Client): Promise<string> {
  const tables = await client.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relpersistence = 'p'
      and relnamespace = 'public'::regnamespace order by 1`,
  );
  const lines: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await client.query<{ text: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(each::text, ';' order by each::text)), '') as text from ${name} as each`,
    );
    lines.push(`${name}: ${rows[0]?.text}`);
  }
  const others = await client.query<{ text: string }>(
    `select string_agg(name, ',' order by name) as text from (select datname::text as name from pg_database
      union all select gid from pg_prepared_xacts) as names`,
  );
  return [...lines, others.rows[0]?.text].join('\n');
}
