/** The tables of the programs that apply migrations, on a real server. */
import assert from 'node:assert/strict';
import { readAppliedMigrations } from '../../../../../src/extension/database/sql/appliedMigrations.ts';
import { requireDatabaseUrl } from '../../../../../src/api/addresses/databaseUrl.ts';
import { query, runStatements } from '../../../service/postgres/clients.ts';
import { useBranch } from '../../../service/postgres/useBranch.ts';

/** As the programs create them, with a migration. */
const PROGRAMS: readonly (readonly [program: string, sql: string, name: string])[] = [
  [
    'Prisma',
    `create table _prisma_migrations (id varchar(36) primary key, checksum varchar(64), migration_name varchar(255) not null, started_at timestamptz not null default now(), finished_at timestamptz, rolled_back_at timestamptz);
    insert into _prisma_migrations (id, migration_name, finished_at) values ('1', '20260101120000_init', now())`,
    '20260101120000_init',
  ],
  [
    'Knex, in a table with another name',
    `create table "My Migrations" (id serial primary key, name varchar(255), batch int, migration_time timestamptz); create table knex_migrations_lock (index serial primary key, is_locked int);
    insert into "My Migrations" (name, batch) values ('20260101_init.js', 1)`,
    '20260101_init.js',
  ],
  [
    'sqlx',
    `create table _sqlx_migrations (version bigint primary key, description text not null, success boolean not null);
    insert into _sqlx_migrations values (20260101120000, 'init', true)`,
    '20260101120000',
  ],
  [
    'Rails and dbmate',
    `create table schema_migrations (version varchar primary key); insert into schema_migrations values ('20260101120000')`,
    '20260101120000',
  ],
  [
    'Supabase',
    `create schema supabase_migrations; create table supabase_migrations.schema_migrations (version text primary key, statements text[], name text);
    insert into supabase_migrations.schema_migrations values ('20260101120000', null, 'init')`,
    '20260101120000',
  ],
  [
    'node-pg-migrate',
    `create table pgmigrations (id serial primary key, name varchar(255) not null, run_on timestamp not null);
    insert into pgmigrations (name, run_on) values ('1767268800000_init', now())`,
    '1767268800000_init',
  ],
  [
    'TypeORM',
    `create table migrations (id serial primary key, "timestamp" bigint not null, name varchar not null);
    insert into migrations ("timestamp", name) values (1767268800000, 'Init1767268800000')`,
    '1767268800000',
  ],
  [
    'Drizzle',
    `create schema drizzle; create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint);
    insert into drizzle.__drizzle_migrations (hash, created_at) values ('0a1b', 1767268800000)`,
    '0a1b',
  ],
  [
    'Kysely',
    `create table kysely_migration (name varchar(255) primary key, "timestamp" varchar(255) not null); create table kysely_migration_lock (id varchar(255), is_locked int);
    insert into kysely_migration values ('1767268800000_init', '2026-01-01T12:00:00.000Z')`,
    '1767268800000_init',
  ],
  [
    'MikroORM',
    `create table mikro_orm_migrations (id serial primary key, name varchar(255), executed_at timestamptz default now());
    insert into mikro_orm_migrations (name) values ('Migration20260101120000')`,
    'Migration20260101120000',
  ],
  [
    'graphile-migrate',
    `create schema graphile_migrate; create table graphile_migrate.migrations (hash text primary key, previous_hash text, filename text not null, date timestamptz default now()); create table graphile_migrate.current (filename text, content text, date timestamptz);
    insert into graphile_migrate.migrations values ('sha1:0a', null, '000001.sql')`,
    '000001.sql',
  ],
  [
    'postgres-migrations',
    `create table migrations (id integer primary key, name varchar(100) not null, hash varchar(40) not null, executed_at timestamp default now());
    insert into migrations values (0, 'create-migrations-table', '0a'), (1, 'init', '0b')`,
    '1_init',
  ],
  [
    'db-migrate',
    `create table migrations (id serial primary key, name varchar(255) not null, run_on timestamp not null);
    insert into migrations (name, run_on) values ('/20260101120000-init', now())`,
    '/20260101120000-init',
  ],
];

describe('The applied migrations of a database', () => {
  const branch = useBranch();
  beforeEach(() =>
    run(
      'drop schema if exists drizzle, supabase_migrations, graphile_migrate, public cascade; create schema public',
    ),
  );

  const run = (sql: string) => runStatements(branch.uri, sql);
  const read = () => {
    const { password = '', ...login } = requireDatabaseUrl(branch.uri);
    return readAppliedMigrations({ ...login, password }, new AbortController().signal);
  };

  for (const [program, sql, name] of PROGRAMS)
    it(`are those that ${program} notes`, async () => {
      await run(sql);
      const [found, ...others] = (await read()) ?? [];
      assert.ok(found !== undefined && others.length === 0);
      const { rows, table } = found;
      assert.deepEqual(
        rows.map((row) => [row.name, row.isApplied]),
        [[name, true]],
      );
      assert.equal(table.length, 3);
    });

  it('have the transaction that wrote the row, and whether it has failed', async () => {
    await run(PROGRAMS[0]?.[1] ?? '');
    await query(branch.uri, `insert into _prisma_migrations (id, migration_name) values ('2', 'failed')`);
    await query(
      branch.uri,
      `insert into _prisma_migrations (id, migration_name, finished_at, rolled_back_at) values ('3', 'undone', now(), now())`,
    );
    const ids = await query(branch.uri, 'select xmin::text::int from _prisma_migrations order by id');
    assert.deepEqual((await read())?.[0]?.rows, [
      { name: '20260101120000_init', transaction: ids[0], isApplied: true },
      { name: 'failed', transaction: ids[1], isApplied: false },
      { name: 'undone', transaction: ids[2], isApplied: false },
    ]);
  });

  it('are empty without such a table, under any name, and are not known with too many', async () => {
    assert.deepEqual(await read(), []);
    await query(branch.uri, 'create table migrations (id serial primary key, name text, batch int)');
    await query(branch.uri, 'create table schema_migrations (version text, note text)');
    assert.deepEqual(await read(), []);
    for (const name of ['a', 'b', 'c', 'd'])
      await query(branch.uri, `create table ${name} (version varchar)`);
    assert.deepEqual(
      (await read())?.map(({ rows }) => rows),
      [[], [], [], []],
    );
    await query(branch.uri, 'create table e (version varchar)');
    assert.equal(await read(), undefined);
  });
});
