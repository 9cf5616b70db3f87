/**
 * What random migrations lose of random rows, compared with all rows as they were read before and afterwards.
 * The full run has 100 migrations, others a few.
 */
import assert from 'node:assert/strict';
import pg from 'pg';
import { isFullRun } from '../../helpers/fullRun.ts';
import { randomNumbers } from '../../helpers/randomNumbers.ts';
import { RANDOM_SEED } from '../../helpers/seed.ts';
import { runStatements } from '../service/postgres/clients.ts';
import { migrate, startRehearsals, type Rehearsals } from './rehearsals.ts';

const ROUNDS = isFullRun ? 100 : 6;
const TABLES = ['alpha', 'beta', 'gamma'];
const VALUES = {
  text: `'text ' || g`,
  int: 'g',
  'numeric(8,2)': 'g + 0.25',
  date: `date '2026-01-01' + g`,
  boolean: 'g % 2 = 0',
};
const TYPES = Object.keys(VALUES) as (keyof typeof VALUES)[];
/** Types that keep all values. */
const WIDER: Partial<Record<string, string>> = {
  text: 'varchar(100)',
  int: 'bigint',
  'numeric(8,2)': 'numeric(12,4)',
  date: 'timestamp',
};

/** A column or table of the beginning, and what has become of it. */
interface Column {
  readonly was: string;
  name: string | undefined;
  readonly type: string;
  isReplaced: boolean;
}
interface Table {
  readonly was: string;
  name: string | undefined;
  readonly columns: readonly Column[];
  /** What may change together with a type can't be compared with it. */
  hasNewType: boolean;
  hasOtherRows: boolean;
}

class RandomMigration {
  readonly #random: () => number;
  #made = 0;
  readonly tables: readonly Table[];
  readonly sql: string[] = [];

  constructor(random: () => number, tables: readonly Table[]) {
    this.#random = random;
    this.tables = tables.map((table) => ({
      ...table,
      columns: table.columns.map((column) => ({ ...column })),
    }));
    const count = 1 + this.#below(5);
    for (let step = 0; step < count; step += 1) this.#step();
  }

  #below = (limit: number): number => Math.floor(this.#random() * limit);
  #pick = <T>(all: readonly T[]): T => all[this.#below(all.length)] ?? assert.fail('nothing to pick');
  #name = (): string => `made_${(this.#made += 1)}`;

  #step(): void {
    const table = this.#pick(this.tables);
    const columns = table.columns.filter(({ name }) => name !== undefined);
    const { name } = table;
    if (name === undefined || columns.length === 0) return;
    const column = this.#pick(columns);
    const steps = [
      () => this.#changeRows(table, `delete from ${name} where id % ${2 + this.#below(4)} = 0`),
      () =>
        this.#changeRows(
          table,
          `insert into ${name} (id) select 1000000 + g from generate_series(1, 7) g on conflict do nothing`,
        ),
      () =>
        this.#changeRows(
          table,
          `update ${name} set ${column.name} = null where id % ${2 + this.#below(4)} = 1`,
        ),
      () => this.#changeRows(table, `truncate ${name}`),
      () => this.#changeType(name, table, column),
      () => this.#drop(name, column),
      () => this.#replace(name, column),
      () => this.#rename(name, column),
      () => this.sql.push(`alter table ${name} rename to ${(table.name = this.#name())}`),
      () => this.sql.push(`alter table ${name} add ${this.#name()} int default 7`),
      () => {
        this.sql.push(`drop table ${name}`);
        table.name = undefined;
      },
    ];
    this.#pick(steps)();
  }

  #changeRows(table: Table, sql: string): void {
    if (table.hasNewType) return;
    table.hasOtherRows = true;
    this.sql.push(sql);
  }

  #changeType(name: string, table: Table, column: Column): void {
    const wider = WIDER[column.type];
    if (wider === undefined || table.hasOtherRows) return;
    table.hasNewType = true;
    this.sql.push(`alter table ${name} alter ${column.name} type ${wider}`);
  }

  #drop(name: string, column: Column): void {
    this.sql.push(`alter table ${name} drop ${column.name}`);
    column.name = undefined;
  }

  /** By one with the same values in a part of the rows. */
  #replace(name: string, column: Column): void {
    const [next, was] = [this.#name(), column.name];
    if (was !== column.was || column.type === 'numeric(8,2)') return;
    column.isReplaced = true;
    this.sql.push(
      `alter table ${name} add ${next} ${column.type}`,
      `update ${name} set ${next} = ${was} where id % ${2 + this.#below(3)} > 0`,
      `alter table ${name} drop ${was}`,
      `alter table ${name} rename ${next} to ${was}`,
    );
  }

  /** A column that has replaced another is recognized by its name. */
  #rename(name: string, column: Column): void {
    if (column.isReplaced) return;
    const next = this.#name();
    this.sql.push(`alter table ${name} rename ${column.name} to ${next}`);
    column.name = next;
  }
}

type Rows = readonly Readonly<Record<string, unknown>>[];

describe('The losses of random migrations', () => {
  const random = randomNumbers();
  let rehearsals: Rehearsals;
  let tables: readonly Table[];
  let original: readonly Rows[];

  before(async () => {
    rehearsals = await startRehearsals();
    tables = TABLES.map((name) => ({
      was: name,
      name,
      columns: columns(),
      hasNewType: false,
      hasOtherRows: false,
    }));
    await runStatements(rehearsals.url, ...tables.flatMap(created));
    original = await readRows(rehearsals.url, TABLES);
  });

  function columns(): Column[] {
    const count = 1 + Math.floor(random() * 5);
    return Array.from({ length: count }, (_, index) => {
      const type = TYPES[Math.floor(random() * TYPES.length)] ?? 'text';
      return { was: `c${index}`, name: `c${index}`, type, isReplaced: false };
    });
  }

  function created({ was, columns: all }: Table): string[] {
    const values = all.map(({ type }) => {
      const present = Math.floor(random() * 11);
      return `case when g * 7 % 10 < ${present} then ${VALUES[type as keyof typeof VALUES]} end`;
    });
    const rows = Math.floor(random() * 300);
    return [
      `create table ${was} (id int primary key, ${all.map(({ name, type }) => `${name} ${type}`).join(', ')})`,
      `insert into ${was} select g, ${values.join(', ')} from generate_series(1, ${rows}) g`,
    ];
  }

  async function readRows(url: string, names: readonly (string | undefined)[]): Promise<Rows[]> {
    const client = new pg.Client(url);
    await client.connect();
    const all: Rows[] = [];
    for (const name of names)
      all.push(name === undefined ? [] : (await client.query(`select * from ${name}`)).rows);
    await client.end();
    return all;
  }

  const valuesIn = (rows: Rows, name: string) => rows.filter((row) => row[name] !== null).length;

  function lostOf({ was, name, columns: all }: Table, old: Rows, now: Rows): [string, number][] {
    const fewer = old.length - now.length;
    if (name === undefined) return [[`public.${was}`, fewer]];
    const values = all.map((column): [string, number] => {
      const before = valuesIn(old, column.was);
      const lost = column.name === undefined ? before : before - valuesIn(now, column.name);
      return [`public.${was}.${column.was}`, column.name !== undefined && fewer > 0 ? 0 : lost];
    });
    return [[`public.${was}`, fewer], ...values];
  }

  for (let round = 0; round < ROUNDS; round += 1)
    it(`are counted exactly (seed ${RANDOM_SEED}, round ${round})`, async () => {
      const migration = new RandomMigration(random, tables);
      const names = migration.tables.map(({ name }) => name);
      let now: Rows[] = [];
      const { losses, verdict } = await rehearsals.rehearse(async ({ url }) => {
        const code = await migrate(url, migration.sql);
        now = await readRows(url, names);
        return code;
      });
      const expected = migration.tables.flatMap((table, at) =>
        lostOf(table, original[at] ?? [], now[at] ?? []),
      );
      const found = losses.map(({ name, kind, count }) => [
        kind === 'type' ? `type of ${name}` : name,
        count,
      ]);
      assert.notEqual(verdict, 'failed', migration.sql.join('; '));
      const lost = expected.filter(([, count]) => count > 0);
      assert.deepEqual(found.toSorted(byName), lost.toSorted(byName), migration.sql.join('; '));
    });
});

const byName = ([a]: readonly unknown[], [b]: readonly unknown[]): number =>
  String(a).localeCompare(String(b));
