/** Random statements of many kinds. Some fail, such as for a table that is gone: a session continues after that. */

export type Random = () => number;

/** Where a statement can run. */
export interface RandomStatement {
  readonly sql: string;
  /** Rows that follow as data of COPY. */
  readonly data?: string;
}

/** @param n a number that no statement has had, for new names */
type Kind = (n: number, name: (prefix: string) => string) => string;

/** Names are few, so that statements meet what others have made. */
const NAMES = 4;

const DEFINITIONS: readonly Kind[] = [
  (n, name) => `create table ${name('t')} (id serial primary key, n int default ${n}, x text)`,
  (_, name) =>
    `create table ${name('t')} (id int generated always as identity primary key, n int, x text, d int generated always as (n * 2) stored)`,
  (n, name) =>
    `create table ${name('t')} as select g as id, g % 7 as n, md5(g::text) as x from generate_series(1, ${n % 400}) g`,
  (_, name) => `create table ${name('t')} (like ${name('t')} including all)`,
  (_, name) => `create table ${name('t')}_kid () inherits (${name('t')})`,
  (n, name) => `create unlogged table u${n} as select * from ${name('t')}`,
  (_, name) => `create table ${name('p')} (id int, n int, x text) partition by range (id)`,
  (n, name) => `create table p${n} partition of ${name('p')} for values from (${n * 10}) to (${n * 10 + 10})`,
  (_, name) => `create table ${name('p')}_rest partition of ${name('p')} default`,
  (_, name) => `alter table ${name('p')} detach partition ${name('p')}_rest`,
  (n, name) => `alter table ${name('t')} add column c${n} int default ${n}`,
  (n, name) => `alter table ${name('t')} add column c${n} text default clock_timestamp()::text`,
  (_, name) => `alter table ${name('t')} drop column x cascade`,
  (n, name) => `alter table ${name('t')} rename column x to x${n}`,
  (_, name) => `alter table ${name('t')} alter column n type bigint`,
  (_, name) => `alter table ${name('t')} alter column n type text using n::text`,
  (n, name) => `alter table ${name('t')} alter column n set default ${n}`,
  (_, name) => `alter table ${name('t')} alter column n drop default`,
  (n, name) => `alter table ${name('t')} add constraint c${n} check (id > -${n}) not valid`,
  (n, name) =>
    `alter table ${name('t')} add constraint k${n} foreign key (n) references ${name('t')} not valid`,
  (n, name) => `alter table ${name('t')} rename to t${n}`,
  (_, name) => `alter table ${name('t')} set schema ${name('s')}`,
  (_, name) => `alter table ${name('t')} set (fillfactor = 50)`,
  (_, name) => `alter table ${name('t')} set unlogged`,
  (_, name) => `alter table ${name('u')} set logged`,
  (_, name) => `alter table ${name('t')} replica identity full`,
  (_, name) => `alter table ${name('t')} enable row level security`,
  (n, name) => `create policy y${n} on ${name('t')} using (id > 0)`,
  (_, name) => `drop table ${name('t')} cascade`,
  (_, name) => `truncate ${name('t')} restart identity cascade`,
  (_, name) => `truncate ${name('t')}, ${name('t')}`,
  (n, name) => `create index i${n} on ${name('t')} (n, id desc)`,
  (n, name) => `create unique index i${n} on ${name('t')} (id) where id > 0`,
  (n, name) => `create index i${n} on ${name('t')} using hash (x)`,
  (n, name) => `create index i${n} on ${name('t')} using gin (to_tsvector('simple', x))`,
  (_, name) => `cluster ${name('t')} using ${name('t')}_pkey`,
  (_, name) => `reindex table ${name('t')}`,
  (_, name) => `create statistics on id, n from ${name('t')}`,
  (n, name) => `create or replace view ${name('v')} as select ${n} as one, id from ${name('t')}`,
  (n, name) => `create materialized view m${n} as select * from ${name('t')}`,
  (n) => `create sequence q${n} increment ${(n % 3) + 1}; select nextval('q${n}')`,
  (_, name) => `alter sequence ${name('q')} restart with 7 increment 5`,
  (_, name) => `drop sequence if exists ${name('q')}`,
  (n, name) =>
    `create or replace function ${name('f')}() returns trigger language plpgsql as $f$ begin new.n := ${n}; return new; end $f$`,
  (n, name) =>
    `create trigger g${n} before update on ${name('t')} for each row execute function ${name('f')}()`,
  (_, name) => `alter table ${name('t')} disable trigger user`,
  (n, name) => `create rule r${n} as on delete to ${name('t')} where old.id = 1 do instead nothing`,
  (n) => `create type e${n} as enum ('a', 'b'); create domain d${n} as int check (value > ${n})`,
  (n, name) => `alter type ${name('e')} add value 'c${n}'`,
  (n) => `create type w${n} as (a int, b text); alter type w${n} add attribute c int`,
  (_, name) => `create schema if not exists ${name('s')}`,
  (_, name) => `drop schema if exists ${name('s')} cascade`,
  (n, name) => `comment on table ${name('t')} is 'number ${n}'`,
  (_, name) => `grant select on ${name('t')} to public`,
  (n) => `create role z${n}`,
  (_, name) => `alter default privileges grant select on tables to ${name('z')}`,
  (n) => `create text search configuration k${n} (copy = simple); create collation l${n} (locale = 'C')`,
  (n) => `create aggregate a${n} (int) (sfunc = int4pl, stype = int)`,
  () => `select lo_from_bytea(0, 'large')`,
];

/** Outside of a transaction. */
const ALONE: readonly Kind[] = [
  (_, name) => `create database ${name('b')}`,
  (_, name) => `create database ${name('b')} strategy file_copy`,
  (_, name) => `drop database if exists ${name('b')} (force)`,
  (_, name) => `drop database if exists ${name('b')}`,
  (n, name) => `alter database ${name('b')} rename to b${n}`,
  (n, name) => `alter database ${name('b')} connection limit ${n % 50}`,
  (_, name) => `vacuum full ${name('t')}`,
  (_, name) => `vacuum (analyze, truncate) ${name('t')}`,
  (n, name) => `create index concurrently i${n} on ${name('t')} (id)`,
  (_, name) => `reindex table concurrently ${name('t')}`,
];

const ROWS: readonly Kind[] = [
  (n, name) => `insert into ${name('t')} (n, x) select g, 'x' from generate_series(1, ${n % 300}) g`,
  (n, name) => `insert into ${name('t')} (n, x) values (${n}, repeat(md5('${n}'), 200))`,
  (n, name) => `insert into ${name('p')} values (${n * 10}, ${n}, 'p')`,
  (n, name) => `update ${name('t')} set n = ${n} where id % 3 = ${n % 3}`,
  (n, name) => `update ${name('t')} set x = x || 'y', n = ${n}`,
  (n, name) => `delete from ${name('t')} where id % 5 = ${n % 5}`,
  (n, name) =>
    `merge into ${name('t')} a using (select ${n} as n) b on a.id = b.n when matched then delete when not matched then insert (n) values (b.n)`,
  (n, name) => `select setval('${name('t')}_id_seq', ${(n % 500) + 1}, ${n % 2 === 0})`,
  (n, name) => `select nextval('${name('q')}'), setval('${name('q')}', ${n})`,
  (_, name) => `select nextval('${name('q')}') from generate_series(1, 40)`,
  (n) => `do $$ begin for i in 1..70 loop begin insert into item (n) values (${n} + i);
    if i % 3 = 0 then raise 'no'; end if; exception when others then null; end; end loop; end $$`,
  (n) =>
    `insert into item (n) select ${n} from generate_series(1, 30); select setval('item_id_seq', (select max(id) from item))`,
];

export class RandomStatements {
  readonly #random: Random;
  #n = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  pick<T>(values: readonly T[]): T {
    const value = values[Math.floor(this.#random() * values.length)];
    if (value === undefined) throw new Error('There is nothing to pick');
    return value;
  }

  definition = (): RandomStatement => ({ sql: this.#one(DEFINITIONS) });
  alone = (): RandomStatement => ({ sql: this.#one(ALONE) });

  rows(): RandomStatement {
    if (this.#random() > 0.1) return { sql: this.#one(ROWS) };
    const lines = Array.from({ length: 50 }, (_, line) => `${this.#n}\tcopied ${line}\n`);
    return { sql: 'copy item (n, x) from stdin', data: lines.join('') };
  }

  /** @param kinds the kinds of statements @returns several, some of them undone */
  body(kinds: readonly (() => RandomStatement)[]): RandomStatement[] {
    const statements = Array.from({ length: 1 + Math.floor(this.#random() * 4) }, () => this.pick(kinds)());
    return statements.flatMap((statement) => {
      const end = this.pick(['release s', 'rollback to s', '']);
      const inBlock = `do $b$ begin execute $e$${statement.sql}$e$; exception when others then null; end $b$`;
      const isBlock = statement.data === undefined && this.#random() < 0.2;
      return [{ sql: 'savepoint s' }, isBlock ? { sql: inBlock } : statement, ...(end ? [{ sql: end }] : [])];
    });
  }

  #one(kinds: readonly Kind[]): string {
    this.#n += 1;
    const name = (prefix: string) => `${prefix}${1 + Math.floor(this.#random() * NAMES)}`;
    return this.pick(kinds)(this.#random() < 0.6 ? 1 + (this.#n % NAMES) : this.#n, name);
  }
}
