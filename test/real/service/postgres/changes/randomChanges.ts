/** Random transactions, and what they have changed: rows by key and content, tables by their catalog. */
import assert from 'node:assert/strict';
import type pg from 'pg';

/** A table at a moment. */
export interface TableState {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly columns: string;
  readonly persistence: string;
  /** The index of the primary key. */
  readonly key: string;
  /** The values by key. */
  readonly rows: Readonly<Record<string, number>>;
}

/** What the database has at a moment. */
export interface State {
  readonly moment: string;
  readonly tables: ReadonlyMap<number, TableState>;
  readonly databases: ReadonlyMap<number, string>;
  /** What isn't seen in the other fields: tables that were truncated, or unlogged for a while, since the state before. */
  readonly marks: readonly { readonly kind: string; readonly id: number }[];
}

const TABLES = `
  select c.oid::int as id, nspname as schema, relname as name, relpersistence as persistence,
    (select string_agg(concat_ws(' ', attname, atttypid, atthasdef, attisdropped), ',' order by attnum)
      from pg_attribute where attrelid = c.oid and attnum > 0) as columns,
    (select i.relname from pg_index join pg_class i on i.oid = indexrelid where indrelid = c.oid and indisprimary) as key
  from pg_class c join pg_namespace n on n.oid = relnamespace where relkind = 'r' and nspname like 's_%' order by c.oid`;

const COLUMNS = '(id int primary key, v int)';

export class RandomChanges {
  readonly #client: pg.Client;
  readonly #random: () => number;
  #created = 0;
  #marksRead = 0;
  #touched = new Set<number>();
  /** Rows with smaller keys were there before the transaction. */
  #first = 0;

  /** @param client a superuser's */
  constructor(client: pg.Client, random: () => number) {
    [this.#client, this.#random] = [client, random];
  }

  async setUp(): Promise<void> {
    await this.#client.query(`create schema s_a; create schema s_b;
      create table public.marks (number serial, kind text, id int); create table public.filler (text text)`);
    for (let table = 0; table < 5; table += 1) {
      await this.#create();
      if (table % 2 === 0)
        await this.#client.query(`alter table ${nameOf(await this.#pickTable())} set schema s_a`);
    }
  }

  /** @returns what was done */
  async act(): Promise<string> {
    [this.#touched, this.#first] = [new Set(), (this.#created += 10)];
    if ((await this.#tables()).length < 4) await this.#create();
    const pick = this.#random();
    if (pick < 0.02) return this.#run('checkpoint');
    if (pick < 0.04) return this.#run(`set wal_compression = ${this.#below(2) === 0 ? 'pglz' : 'off'}`);
    if (pick < 0.05) return this.#changeDatabase();
    if (pick < 0.08) return this.#run(`vacuum full ${nameOf(await this.#pickTable())}`);
    return this.#transaction();
  }

  /** More than is read, so that what is in catalogs is no longer known. */
  async fill(): Promise<void> {
    await this.#client.query(
      `insert into public.filler select repeat('x', 900) from generate_series(1, 76000)`,
    );
    await this.#client.query('truncate public.filler; select pg_log_standby_snapshot()');
  }

  async state(): Promise<State> {
    const tables = new Map<number, TableState>();
    for (const table of await this.#tables()) {
      const { rows } = await this.#client.query<{ rows: Record<string, number> | null }>(
        `select json_object_agg(id, v) as rows from ${nameOf(table)}`,
      );
      tables.set(table.id, { ...table, rows: rows[0]?.rows ?? {} });
    }
    const marks = await this.#client.query<{ kind: string; id: number; number: number }>(
      'select kind, id, number from public.marks where number > $1 order by number',
      [this.#marksRead],
    );
    this.#marksRead = marks.rows.at(-1)?.number ?? this.#marksRead;
    const { rows } = await this.#client.query<{ id: number; name: string; moment: string }>(
      `select oid::int as id, datname as name,
        to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as moment from pg_database`,
    );
    const databases = new Map(rows.map(({ id, name }) => [id, name]));
    return { moment: rows.at(-1)?.moment ?? assert.fail(), tables, databases, marks: marks.rows };
  }

  async #transaction(): Promise<string> {
    const done = ['begin'];
    try {
      await this.#client.query('begin');
      for (let left = 1 + this.#below(5); left > 0; left -= 1) done.push(await this.#part());
      const end =
        this.#random() < 0.12 ? 'rollback' : this.#random() < 0.1 ? "prepare transaction 'p'" : 'commit';
      done.push(await this.#run(end));
      if (end.startsWith('prepare')) done.push(await this.#run("commit prepared 'p'"));
    } catch (error) {
      done.push(String(error));
      await this.#client.query('rollback');
    }
    return done.join('; ');
  }

  /** One statement or more, in a savepoint or in a block with an exception handler at times. */
  async #part(): Promise<string> {
    const pick = this.#random();
    if (pick < 0.5) return this.#run(await this.#statement());
    if (pick < 0.65) {
      const isUndone = this.#random() < 0.3;
      const sql = (await this.#statement()).replaceAll("'", "''");
      return this.#run(`do $do$ begin begin execute '${sql}'; ${isUndone ? "raise 'no';" : ''}
        exception when raise_exception then null; end; end $do$`);
    }
    await this.#client.query('savepoint s');
    const done = await this.#run(await this.#statement());
    const inner = this.#random() < 0.5 ? `; ${await this.#part()}` : '';
    return `savepoint: ${done}${inner}; ${await this.#run(this.#random() < 0.35 ? 'rollback to s' : 'release s')}`;
  }

  async #statement(): Promise<string> {
    const table = await this.#pickTable();
    const { id, schema } = table;
    const name = nameOf(table);
    const mark = (kind: string) => `insert into public.marks (kind, id) values ('${kind}', ${id})`;
    const own = `n_${(this.#created += 1)}`;
    const other = await this.#pickTable();
    const statements: (() => string | Promise<string>)[] = [
      ...Array.from({ length: 5 }, () => () => this.#insert(name)),
      ...Array.from(
        { length: 3 },
        () => () => this.#change(name, (where) => `update ${name} set v = v + 1 where ${where}`),
      ),
      ...Array.from(
        { length: 3 },
        () => () => this.#change(name, (where) => `delete from ${name} where ${where}`),
      ),
      () => `truncate ${name}; ${mark('truncated')}`,
      () => `truncate ${name}; ${mark('truncated')}; ${this.#insert(name)}`,
      () => `${this.#insert(name)}; truncate ${name}; ${mark('truncated')}`,
      () => `alter table ${name} add column ${own} int default 7`,
      () => `alter table ${name} add column ${own} timestamptz default clock_timestamp()`,
      () => `cluster ${name} using ${table.key}`,
      () => `alter table ${name} rename to ${own}`,
      () => `alter table ${name} set schema ${schema === 's_b' ? schema : 's_b'}`,
      () => `drop table ${name}; create table ${name} ${COLUMNS}`,
      () =>
        `create table ${schema}.${own} ${COLUMNS}; drop table ${name}; alter table ${schema}.${own} rename to ${table.name}`,
      () =>
        other.id === id
          ? this.#insert(name)
          : `drop table ${name}; alter table ${nameOf(other)} rename to ${table.name}`,
      () => `create table ${schema}.${own} ${COLUMNS}; ${this.#insert(`${schema}.${own}`)}`,
      () => `drop table ${name}`,
      () =>
        `alter table ${name} set unlogged; ${mark('unlogged')}; ${this.#insert(name)}; alter table ${name} set logged`,
      () =>
        `alter table ${name} set ${table.persistence === 'p' ? 'unlogged' : 'logged'}; ${mark('unlogged')}`,
      () => (schema === 's_b' ? this.#insert(name) : `alter schema ${schema} rename to s_${own}`),
    ];
    return await (statements[this.#below(statements.length)] ?? assert.fail())();
  }

  #insert(name: string): string {
    const first = (this.#created += 10);
    return `insert into ${name} (id, v) select g, g from generate_series(${first}, ${first + this.#below(5)}) g`;
  }

  /** Rows that the transaction hasn't changed yet, because each change of a row counts. */
  async #change(name: string, sql: (where: string) => string): Promise<string> {
    const { rows } = await this.#client.query<{ id: number }>(
      `select id from ${name} where id < ${this.#first} order by id limit 50`,
    );
    const free = rows.map(({ id }) => id).filter((id) => !this.#touched.has(id) && this.#random() < 0.3);
    for (const id of free) this.#touched.add(id);
    return sql(`id in (${[0, ...free].join()})`);
  }

  async #changeDatabase(): Promise<string> {
    const { rows } = await this.#client.query<{ name: string }>(
      "select datname as name from pg_database where datname ~ '^n_'",
    );
    const [found] = rows;
    const name = `n_${(this.#created += 1)}`;
    if (found === undefined) return this.#run(`create database ${name}`);
    return this.#run(
      this.#below(2) === 0 ? `drop database ${found.name}` : `alter database ${found.name} rename to ${name}`,
    );
  }

  async #create(): Promise<void> {
    await this.#client.query(`create table s_b.n_${(this.#created += 1)} ${COLUMNS}`);
  }

  async #pickTable(): Promise<Omit<TableState, 'rows'>> {
    const tables = await this.#tables();
    return tables[this.#below(tables.length)] ?? assert.fail('no table');
  }

  async #tables(): Promise<readonly Omit<TableState, 'rows'>[]> {
    return (await this.#client.query<Omit<TableState, 'rows'>>(TABLES)).rows;
  }

  async #run(sql: string): Promise<string> {
    await this.#client.query(sql);
    return sql;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

export const nameOf = ({ schema, name }: { schema: string; name: string }): string => `${schema}.${name}`;
