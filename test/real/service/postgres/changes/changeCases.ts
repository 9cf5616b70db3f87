import type { TableChange } from '../../../../../src/service/core/branchHistory.ts';

export type Expected = Pick<TableChange, 'name'> & Partial<TableChange>;

type Entry = Omit<TableChange, 'database'>;
/** What is compared. */
export const entryOf = ({ schema, name, change, added, changed, deleted }: Entry): Entry => ({
  schema,
  name,
  change,
  added,
  changed,
  deleted,
});
export const complete = (expected: Expected): Entry =>
  entryOf({ schema: 'public', added: 0, changed: 0, deleted: 0, ...expected });

/** Statements, each committed by itself, and what they have changed. */
export const CASES: readonly (readonly [
  what: string,
  sql: readonly string[],
  expected: readonly Expected[],
])[] = [
  ['nothing', [], []],
  ['insertions', ["insert into orders values (1, 'a'), (2, 'b')"], [{ name: 'orders', added: 2 }]],
  ['a query', ['select count(*) from orders', 'begin; lock table orders; commit'], []],
  ['updates on the same page', ["update orders set name = 'c'"], [{ name: 'orders', changed: 2 }]],
  [
    'updates of an indexed column',
    ['update orders set id = id + 10 where id < 3'],
    [{ name: 'orders', changed: 2 }],
  ],
  ['deletions', ['delete from orders where id = 11'], [{ name: 'orders', deleted: 1 }]],
  [
    'rows that move to another page',
    [
      "insert into orders select g, repeat('x', 100) from generate_series(100, 299) g",
      "update orders set name = repeat('y', 200) where id >= 100",
    ],
    [{ name: 'orders', added: 200, changed: 200 }],
  ],
  ['a transaction that is rolled back', ["begin; insert into orders values (3, 'a'); rollback"], []],
  [
    'a savepoint that is rolled back',
    [
      `begin; insert into orders values (4, 'a'); savepoint s; insert into orders values (5, 'a'), (6, 'a'); rollback to s;
      savepoint t; delete from orders where id = 12; release t; commit`,
    ],
    [{ name: 'orders', added: 1, deleted: 1 }],
  ],
  [
    'many subtransactions',
    [
      `do $$ begin for i in 1000..1199 loop begin insert into orders values (i, 'a');
        if i % 2 = 0 then raise 'no'; end if; exception when others then null; end; end loop; end $$`,
    ],
    [{ name: 'orders', added: 100 }],
  ],
  [
    'conflicts',
    [
      'insert into orders values (4) on conflict (id) do nothing',
      "insert into orders values (4, 'e'), (7, 'e') on conflict (id) do update set name = excluded.name",
    ],
    [{ name: 'orders', added: 1, changed: 1 }],
  ],
  [
    'a prepared transaction',
    [
      "begin; insert into orders values (8, 'a'); prepare transaction 'p'",
      "commit prepared 'p'",
      "begin; insert into orders values (9, 'a'); prepare transaction 'q'",
      "rollback prepared 'q'",
    ],
    [{ name: 'orders', added: 1 }],
  ],
  [
    'large values, which are in another table',
    [
      `insert into documents select 1, string_agg(md5(g::text), '') from generate_series(1, 20000) g`,
      "update documents set body = body || 'x'",
    ],
    [{ name: 'documents', added: 1, changed: 1 }],
  ],
  [
    'partitions, also rows that move to another one',
    [
      "insert into events values (1, 'a'), (15, 'b')",
      'update events set id = 16 where id = 1',
      'delete from events where id = 15',
      'create table events_3 partition of events for values from (20) to (30)',
      "insert into events values (25, 'c')",
    ],
    [
      { name: 'events_3', change: 'created' },
      { name: 'events', added: 3, changed: 1, deleted: 1 },
    ],
  ],
  [
    'a new table',
    ['create table products (id int primary key, name text)', 'insert into products values (1)'],
    [{ name: 'products', change: 'created' }],
  ],
  [
    'a table that is created and dropped again, and a temporary one',
    [
      'create table draft (id int)',
      'insert into draft values (1)',
      'drop table draft',
      'create temp table t as select 1 as id; update t set id = 2; drop table t',
    ],
    [],
  ],
  [
    'a dropped table',
    ["insert into products values (2, 'a')", 'drop table products'],
    [{ name: 'products', change: 'dropped' }],
  ],
  ['a table whose deletion is rolled back', ['begin; drop table orders; rollback'], []],
  [
    'a truncated table',
    ["insert into items values (1, 'a')", 'truncate items', "insert into items values (2, 'a')"],
    [{ name: 'items', change: 'truncated', added: 1 }],
  ],
  [
    'a table that is truncated in the transaction that creates it',
    ['begin; create table fresh (id int); insert into fresh values (1); truncate fresh; commit'],
    [{ name: 'fresh', change: 'created' }],
  ],
  [
    'a table that is truncated in the middle of a transaction',
    [
      `begin; insert into items values (3, 'a'); truncate items; insert into items values (4, 'a'), (5, 'a'); commit`,
    ],
    [{ name: 'items', change: 'truncated', added: 2 }],
  ],
  [
    'a table that is rewritten',
    [
      "insert into items values (6, 'a')",
      'alter table items alter column id type bigint',
      'alter table items add column at timestamptz default clock_timestamp()',
      'delete from items where id = 6',
    ],
    [{ name: 'items', change: 'altered', added: 1, deleted: 1 }],
  ],
  [
    'a table that is compacted',
    ["update items set name = 'z'", 'vacuum full items'],
    [{ name: 'items', changed: 2 }],
  ],
  ['a dropped column', ['alter table items drop column name'], [{ name: 'items', change: 'altered' }]],
  ['a renamed table', ['alter table items rename to things'], [{ name: 'things', change: 'altered' }]],
  [
    'a table that another one replaces',
    [
      'create table new_things (id bigint)',
      'insert into new_things select id from things',
      'drop table things',
      'alter table new_things rename to things',
    ],
    [{ name: 'things', change: 'replaced' }],
  ],
  [
    'an index, a view, a function and statistics',
    [
      'create index on orders (name)',
      'create view all_orders as select * from orders',
      'analyze orders',
      'vacuum orders',
      'reindex table orders',
    ],
    [],
  ],
  [
    'another schema',
    [
      'create schema sales',
      'create table sales.orders (id int)',
      'drop table sales.orders',
      'drop schema sales',
      'insert into shop.orders values (1)',
      'drop table shop.carts',
    ],
    [
      { schema: 'shop', name: 'carts', change: 'dropped' },
      { schema: 'shop', name: 'orders', added: 1 },
    ],
  ],
];
