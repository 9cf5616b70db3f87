/** Schemas with what makes a reset difficult, and writes to them. */
import { quoteName } from '../../../../src/base/sql/quote.ts';

export interface RandomSchema {
  readonly statements: readonly string[];
  /** Quoted. */
  readonly sequences: readonly string[];
  /** A statement or transaction of a test. */
  readonly write: (random: () => number) => string;
}

/** Keywords, and what a query may call a row. */
const NAMES = [
  't',
  'r',
  'row',
  'user',
  'select',
  'value',
  'array',
  'record',
  'all',
  'unnest',
  'name',
  'A "b"',
];
const TYPES: readonly (readonly [type: string, value: string])[] = [
  ['int', 'random(1, 99)'],
  ['text', `'(7,x)'`],
  ['text[]', `array['a,b', null, '"q"']`],
  ['pair', `row(random(1, 9), '{,}')::pair`],
  ['pair[]', `array[row(1, '(2,y)')::pair, null]`],
  ['positive', 'random(1, 99)'],
  ['jsonb', `'{"k": [null, "ü"]}'`],
  ['numeric(10, 2)', 'random() * 100'],
  ['bytea', String.raw`'\x00ff'`],
  ['timestamptz', 'now()'],
  ['int4range', `'[1,5)'`],
  ['mood', `'glad'`],
];
interface Written {
  /** Quoted. */
  readonly name: string;
  readonly column: string;
  readonly value: string;
  readonly isUnlogged: boolean;
}

export function randomSchema(random: () => number): RandomSchema {
  const pick = <T>(all: readonly [T, ...T[]] | readonly T[]): T =>
    all[Math.floor(random() * all.length)] as T;
  const chance = (part: number): boolean => random() < part;
  const statements = [
    'create type pair as (n int, x text)',
    "create type mood as enum ('sad', 'glad')",
    'create domain positive as int check (value > 0)',
    `create function note() returns trigger language plpgsql as $$ begin return coalesce(new, old); end $$`,
  ];
  const sequences = ['free_1', 'free_2'];
  for (const name of sequences)
    statements.push(`create sequence ${name} cache ${pick([1, 1, 7, 20])} increment ${pick([1, 3, -2])}`);
  if (chance(0.7)) statements.push("select nextval('free_1')");
  const tables: Written[] = [];
  for (let count = 3 + Math.floor(random() * 5), index = 0; index < count; index += 1) {
    const name = quoteName(chance(0.5) ? `${pick(NAMES)}${index}` : `table ${index}`);
    const columns = NAMES.filter(() => chance(0.3)).map((each) => [quoteName(each), ...pick(TYPES)] as const);
    const [[column, , value] = ['id', 'int', '1']] = columns;
    const parts = [
      `id int generated ${pick(['always', 'by default'])} as identity (cache ${pick([1, 1, 5])})`,
      ...columns.map(([each, type]) => `${each} ${type}`),
      ...(chance(0.3) ? ['gone int', 'double int generated always as (-7) stored'] : []),
      ...(chance(0.3) ? ["shown text generated always as ('x') virtual"] : []),
    ];
    const isPartitioned = chance(0.2);
    const parent = tables.findLast(({ isUnlogged }) => !isUnlogged);
    const isChild = !isPartitioned && parent !== undefined && chance(0.4);
    const isUnlogged = !isPartitioned && !isChild && chance(0.1);
    statements.push(
      `create ${isUnlogged ? 'unlogged ' : ''}table ${name} (${parts.join(', ')}, primary key (id))${isPartitioned ? ' partition by range (id)' : ''}`,
    );
    sequences.push(`${name.slice(0, -1)}_id_seq"`);
    if (isPartitioned)
      statements.push(
        `create table ${quoteName(`low ${index}`)} partition of ${name} for values from (0) to (3)`,
        `create table ${quoteName(`high ${index}`)} partition of ${name} default`,
      );
    const names = columns.map(([each]) => each);
    const inserted = names.length === 0 ? 'id' : names.join(', ');
    const shown = columns.length === 0 ? 'n + 500' : columns.map(([, , each]) => each).join(', ');
    statements.push(
      `insert into ${name} (${inserted}) overriding system value select ${shown} from generate_series(1, ${Math.floor(random() * 9)}) n`,
    );
    if (parts.includes('gone int')) statements.push(`alter table ${name} drop column gone`);
    if (isChild)
      statements.push(
        `alter table ${name} add column parent int references ${parent.name} on delete cascade ${pick(['', 'deferrable initially deferred'])}`,
        `update ${name} set parent = (select min(id) from ${parent.name})`,
      );
    if (chance(0.15))
      statements.push(
        `alter table ${name} enable row level security, force row level security`,
        `create policy all_rows on ${name} using (true)`,
      );
    if (chance(0.1)) statements.push(`alter table ${name} add constraint high check (id > 1) not valid`);
    if (chance(0.1)) statements.push(`alter table ${name} add exclude using btree (id with =)`);
    if (chance(0.2)) {
      statements.push(`create trigger noted before update on ${name} for each row execute function note()`);
      if (chance(0.3))
        statements.push(
          `alter table ${name} ${pick(['disable', 'enable always', 'enable replica'])} trigger noted`,
        );
    }
    if (chance(0.05))
      statements.push(`create rule quiet as on delete to ${name} where false do instead nothing`);
    tables.push({ name, column, value, isUnlogged });
  }
  statements.push(
    'create table bare ()',
    'insert into bare default values',
    'create table base (n int)',
    'create table derived (m int) inherits (base)',
    'insert into base values (1)',
    'insert into derived values (2, 3)',
    'create materialized view unfilled as select n from base with no data',
    'create materialized view filled as select n from base',
  );
  return { statements, sequences, write: (numbers) => randomWrite(numbers, tables, sequences) };
}

function randomWrite(random: () => number, tables: readonly Written[], sequences: readonly string[]): string {
  const number = Math.floor(random() * 12);
  const { name, column, value } = tables[number % tables.length] ?? { name: 'base', column: 'n', value: '1' };
  const sequence = `'${sequences[number % sequences.length]}'`;
  const common = [
    ...Array(4).fill(
      `insert into ${name} (${column}) overriding system value select ${column === 'id' ? `${900 + number}` : value}`,
    ),
    ...Array(2).fill(`update ${name} set ${column} = ${column} where id <= ${number}`),
    ...Array(2).fill(`delete from ${name} where id <= ${number}`),
    ...Array(3).fill(`select nextval(${sequence}), nextval(${sequence})`),
    `select setval(${sequence}, ${sequence === "'free_1'" ? -3 : 40 + number})`.replace('-3', '3'),
    `truncate ${name} restart identity cascade`,
    `begin; delete from ${name}; savepoint s; truncate bare; rollback to s; commit`,
    `begin; delete from ${name}; rollback`,
    'insert into bare default values',
    'update base set n = n + 1',
    'delete from only base',
    `create temporary table if not exists mine (t int); insert into mine values (1)`,
    `vacuum analyze ${name}`,
  ];
  const rare = [
    `alter table ${name} add column more int default 1`,
    `drop table ${name} cascade`,
    'refresh materialized view unfilled',
    'refresh materialized view filled',
    "select lo_from_bytea(0, 'x')",
    `alter table ${name} disable trigger all`,
    `create index on ${name} (id)`,
    `comment on table ${name} is 'x'`,
  ];
  const all = random() < 0.02 ? rare : common;
  return String(all[Math.floor(random() * all.length)]);
}
