/** A branch that random sessions change, and what it contained at moments in between: no session was in a transaction then. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Moment } from '../../../../../src/service/core/branchHistory.ts';
import type { ComputeSpec } from '../../../../../src/service/core/computeEngine.ts';
import { formatLsn, parseLsn } from '../../../../../src/service/core/lsn.ts';
import { toMicroseconds, fromMicroseconds } from '../../../../../src/service/postgres/copies/recoverTo.ts';
import { randomNumbers } from '../../../../helpers/randomNumbers.ts';
import { connectTo, eventually } from '../clients.ts';
import type { ControlPlane } from '../controlPlane.ts';
import { contentOf, differences, type Content } from './databaseContent.ts';
import { RandomSessions } from '../changes/randomSessions.ts';
import { RandomStatements } from '../changes/randomStatements.ts';
import { setClock } from '../wal/setClock.ts';

/** What the branch contains after a step. Times are in microseconds since 1970. */
interface Mark {
  readonly lsn: number;
  /** When the step began. */
  begin: number;
  /** From when to when the branch had this content. */
  from: number;
  to: number;
  readonly content: Content;
}

interface ChosenMark {
  readonly mark: Mark;
  readonly moment: Moment;
}

type Act = readonly [name: string, act: () => Promise<unknown>];

const KEEP_FOR = 86_400;
const NO_LIMIT = 2 ** 40;
/** Nothing is changed by these. */
const QUIET = ['suspend', 'base', 'look back', 'look back suspended', 'clock'];

export class RandomHistory {
  readonly #service: ControlPlane;
  readonly #random: () => number;
  readonly #statements: RandomStatements;
  readonly #sessions: RandomSessions;
  readonly #id: string;
  #compute: ComputeSpec | undefined;
  #marks: Mark[] = [];
  /** The marks that were set while the clock was wrong. */
  readonly #shifted = new Set<Mark>();
  /** Branches with the data before a restore, and their marks. */
  readonly #preserved: { readonly id: string; readonly marks: Mark[] }[] = [];
  #created = 0;
  readonly steps: string[] = [];
  /** How many branches of a moment and restores were checked. */
  readonly checks = { lsn: 0, time: 0, unclear: 0, undo: 0 };

  constructor(service: ControlPlane, seed: number) {
    this.#service = service;
    this.#random = randomNumbers(seed);
    this.#statements = new RandomStatements(this.#random);
    this.#sessions = new RandomSessions(this.#statements, this.#random);
    this.#id = `br-${seed}`;
  }

  get statements(): { readonly done: number; readonly failed: number } {
    return this.#sessions.counts;
  }

  async run(steps: number): Promise<void> {
    await this.#service.engine.createBranch({ id: this.#id, keepsHistory: true });
    this.#compute = await this.#createCompute(this.#id);
    await this.#inSession('create table item (id serial primary key, n int, x text)');
    await this.#mark(0);
    for (let step = 0; step < steps; step += 1) await this.#act();
    for (const kind of ['lsn', 'time'] as const) await this.#checkPast(this.#id, this.#marks, kind);
    const old = this.#pick(this.#preserved);
    if (old !== undefined) await this.#checkPast(old.id, old.marks);
    await this.#sessions.disconnect();
    await this.#remove();
  }

  async #act(): Promise<void> {
    const [name, act] = this.#pick(this.#acts()) ?? assert.fail();
    this.steps.push(name);
    const last = this.#last;
    const begin = Math.max(last.to, Date.now() * 1000);
    if (!this.#shifted.has(last)) last.to = begin;
    await act();
    const before = this.#last;
    const mark = await this.#mark(begin);
    if (QUIET.includes(name)) assert.deepEqual(differences(mark.content, before.content), [], name);
  }

  #acts(): Act[] {
    const round: Act = ['round', async () => this.#sessions.round(await this.#uri())];
    const redo: Act = ['redo', () => this.#redo()];
    return [
      ...Array.from({ length: 10 }, () => round),
      ['suspend', () => this.#suspend()],
      ['kill', () => this.#kill(0)],
      ['kill in a round', () => this.#kill(1)],
      ['base', () => this.#makeBase()],
      ['clock', () => this.#setClock()],
      ['look back', () => this.#checkPast(this.#id, this.#marks)],
      ['look back suspended', () => this.#lookBackSuspended()],
      ['restore', () => this.#restore()],
      ...(this.#preserved.length === 0 ? [] : [redo, redo]),
    ];
  }

  async #lookBackSuspended(): Promise<void> {
    await this.#suspend();
    await this.#checkPast(this.#id, this.#marks);
  }

  async #suspend(): Promise<void> {
    await this.#sessions.disconnect();
    await this.#service.engine.suspend(this.#mine.id);
  }

  async #kill(rounds: number): Promise<void> {
    // What was committed without waiting for the disk is there from now on. A transaction that only has a number doesn't wait.
    await this.#inSession('set synchronous_commit = on; create temp table flushed (); drop table flushed');
    const { crashed } = this.#service;
    const crashes = () => crashed.filter(({ id }) => id === this.#mine.id).length;
    const before = crashes();
    const work = rounds === 0 ? undefined : this.#sessions.round(await this.#uri());
    if (rounds > 0) await setTimeout(this.#random() * 100);
    const pid = readFileSync(path.join(this.#dataDir, 'postmaster.pid'), 'utf8').split('\n')[0];
    process.kill(Number(pid), 'SIGKILL');
    await work?.catch(() => undefined);
    await eventually(() => crashes() > before);
    await this.#sessions.disconnect();
  }

  async #makeBase(): Promise<void> {
    await this.#inSession('select 1');
    const limits = { branch: NO_LIMIT, total: NO_LIMIT, leastWritten: 0, mostWritten: 0 };
    await this.#service.engine.keepHistory([{ id: this.#id, seconds: KEEP_FOR }], { isAll: true, limits });
  }

  /** The clock was wrong for some of the last steps, by up to a minute. */
  async #setClock(): Promise<void> {
    await this.#suspend();
    const { startLsn = '' } = (await this.#service.engine.history(this.#id)) ?? {};
    const start = parseLsn(startLsn) ?? 0;
    const recent = this.#marks.slice(-4).filter(({ lsn }) => lsn >= start);
    const [before, ...wrong] = recent.slice(0, 2 + Math.floor(this.#random() * 2));
    const last = wrong.at(-1);
    if (before === undefined || last === undefined || wrong.some((mark) => this.#shifted.has(mark))) return;
    const by = Math.floor((this.#random() - 0.5) * 120_000_000);
    setClock(this.#dataDir, { start, from: before.lsn, to: last.lsn }, by);
    for (const mark of wrong) {
      mark.begin += by;
      mark.from += by;
      mark.to += by;
      this.#shifted.add(mark);
    }
  }

  /** Undo: the branch is as it was at a moment, and what it was is a branch. */
  async #restore(): Promise<void> {
    const chosen = await this.#pickMoment(this.#id, this.#marks);
    if (chosen !== undefined && (await this.#isClear(this.#id, this.#marks, chosen)))
      await this.#replace(this.#id, chosen.moment, chosen.mark);
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
    this.checks.undo += 1;
    const text = `restore of ${sourceId} to ${JSON.stringify(moment)}`;
    assert.deepEqual(differences(await contentOf(await this.#uri()), mark.content), [], text);
    // The history of another branch may begin later.
    const isOwn = sourceId === this.#id;
    const kept = isOwn ? this.#marks.slice(0, this.#marks.indexOf(mark)) : [];
    const restored = isOwn ? { ...mark, to: mark.from } : { ...mark, lsn: 0, from: Infinity, to: Infinity };
    if (this.#shifted.has(mark)) this.#shifted.add(restored);
    this.#marks = [...kept, restored];
  }

  /** A branch of the past has exactly what was committed before that moment. */
  async #checkPast(parentId: string, marks: readonly Mark[], kind?: 'lsn' | 'time'): Promise<void> {
    const chosen = await this.#pickMoment(parentId, marks, kind);
    if (chosen === undefined || !(await this.#isClear(parentId, marks, chosen))) return;
    const { mark, moment } = chosen;
    const id = `${this.#id}-past${(this.#created += 1)}`;
    const { engine } = this.#service;
    await engine.createBranch({ id, parentId, moment, keepsHistory: true });
    const compute = await this.#createCompute(id);
    const actual = await contentOf(await this.#service.uri(compute));
    assert.deepEqual(differences(actual, mark.content), [], `${parentId} at ${JSON.stringify(moment)}`);
    this.checks['lsn' in moment ? 'lsn' : 'time'] += 1;
    await engine.remove(compute.id);
    await engine.deleteBranch(id);
  }

  /** Whether the clock was at the time only once. Otherwise, the time is rejected. */
  async #isClear(branchId: string, marks: readonly Mark[], { mark, moment }: ChosenMark): Promise<boolean> {
    if ('lsn' in moment) return true;
    try {
      await this.#service.engine.history(branchId, moment.timestamp);
      return true;
    } catch (error) {
      const time = toMicroseconds(moment.timestamp);
      const wasLater = marks.slice(0, marks.indexOf(mark)).some(({ to }) => to > time);
      if (!wasLater || !String(error).includes('has gone back')) throw error;
      this.checks.unclear += 1;
      return false;
    }
  }

  /** Picks one of the marks that the history of a branch still has. */
  async #pickMoment(branchId: string, all: readonly Mark[], kind = this.#pick(['lsn', 'time'] as const)) {
    const { start = '', startLsn = '' } = (await this.#service.engine.history(branchId)) ?? {};
    const first = parseLsn(startLsn) ?? 0;
    const marks = all.filter(({ lsn, from }) => lsn >= first && from < Infinity);
    if (kind === 'lsn') {
      const mark = this.#pick(marks);
      return mark && { mark, moment: { lsn: formatLsn(mark.lsn) } };
    }
    // If the clock has gone back, a time is after all that was committed until then by the clock.
    const timed = marks.flatMap((mark) => {
      const next = Math.min(...all.slice(all.indexOf(mark) + 1).map(({ begin }) => begin));
      const to = Math.min(mark.to, next - 1);
      return to >= mark.from && mark.from / 1000 >= Date.parse(start) ? [{ mark, to }] : [];
    });
    const picked = this.#pick(timed);
    if (picked === undefined) return undefined;
    const { mark, to } = picked;
    const time = Math.floor(mark.from + this.#random() * (to - mark.from));
    return { mark, moment: { timestamp: fromMicroseconds(time) } };
  }

  async #mark(begin: number): Promise<Mark> {
    // A crash ends transactions without a record.
    const { lsn, time } = await this.#inSession<{ lsn: string; time: string }>(
      `select pg_current_xact_id(); select pg_current_wal_insert_lsn()::text as lsn,
        (extract(epoch from clock_timestamp()) * 1000000)::bigint::text as time`,
    );
    const content = await contentOf(await this.#uri());
    const mark = { lsn: parseLsn(lsn) ?? 0, begin, from: Number(time), to: Number(time), content };
    this.#marks.push(mark);
    return mark;
  }

  /** @returns the last row */
  async #inSession<Row extends object>(sql: string): Promise<Row> {
    const client = await connectTo(await this.#uri());
    try {
      const results: unknown = await client.query(sql);
      const [last] = [results].flat().slice(-1) as [{ readonly rows: readonly Row[] }];
      return last.rows[0] ?? ({} as Row);
    } finally {
      await client.end();
    }
  }

  get #last(): Mark {
    return this.#marks.at(-1) ?? assert.fail('no mark');
  }

  get #mine(): ComputeSpec {
    return this.#compute ?? assert.fail('no compute');
  }

  get #dataDir(): string {
    return path.join(this.#service.dataDir, 'postgres/branches', this.#id, 'data');
  }

  async #uri(): Promise<string> {
    return this.#service.uri(this.#mine);
  }

  async #createCompute(branchId: string): Promise<ComputeSpec> {
    const wal_compression = this.#statements.pick(['off', 'pglz', 'on']);
    const pgSettings = { max_prepared_transactions: '20', wal_compression };
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
