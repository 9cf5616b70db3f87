/** The tables of the programs that apply migrations, on a real server. */
import assert from 'node:assert/strict';
import { readApplied } from '../../../src/extension/history/appliedMigrations.ts';
import { requireDatabaseUrl } from '../../../src/api/addresses/databaseUrl.ts';
import { connectTo, query } from './clients.ts';
import { startControlPlane, type ControlPlane } from './controlPlane.ts';

/** As the programs create them, with a migration. */
const PROGRAMS: readonly (readonly [program: string, sql: string, name: string])[] = [
  [
    'Prisma',
    `create table _prisma_migrations (id varchar(36) primary key, migration_name varchar(255) not null, started_at timestamptz not null default now(), finished_at timestamptz, rolled_back_at timestamptz);
    insert into _prisma_migrations (id, migration_name, finished_at) values ('1', '20260101120000_init', now())`,
    '20260101120000_init',
  ],
  [
    'Knex',
    `create table knex_migrations (id serial primary key, name varchar(255), batch int); create table knex_migrations_lock (index serial primary key);
    insert into knex_migrations (name, batch) values ('20260101_init.js', 1)`,
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
    `create schema supabase_migrations; create table supabase_migrations.schema_migrations (version text primary key, name text);
    insert into supabase_migrations.schema_migrations values ('20260101120000', 'init')`,
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
];

describe('The applied migrations of a database', () => {
  let service: ControlPlane;
  let uri: string;
  before(async () => {
    service = await startControlPlane();
    uri = await service.uri(await service.create());
  });
  after(() => service.close());
  beforeEach(() =>
    run('drop schema if exists drizzle, supabase_migrations, public cascade; create schema public'),
  );

  const run = async (sql: string) => {
    const client = await connectTo(uri);
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  const read = () => {
    const { password = '', ...login } = requireDatabaseUrl(uri);
    return readApplied({ ...login, password }, new AbortController().signal);
  };

  for (const [program, sql, name] of PROGRAMS)
    it(`are those that ${program} notes`, async () => {
      await run(sql);
      const { rows = [], table = [] } = (await read()) ?? {};
      assert.deepEqual(
        rows.map((row) => [row.name, row.isApplied]),
        [[name, true]],
      );
      assert.equal(table.length, 3);
    });

  it('have the transaction that wrote the row, and whether it has failed', async () => {
    await run(PROGRAMS[0]?.[1] ?? '');
    await query(uri, `insert into _prisma_migrations (id, migration_name) values ('2', 'failed')`);
    await query(uri, `insert into _prisma_migrations values ('3', 'undone', now(), now(), now())`);
    const ids = await query(uri, 'select xmin::text::int from _prisma_migrations order by id');
    assert.deepEqual((await read())?.rows, [
      { name: '20260101120000_init', transaction: ids[0], isApplied: true },
      { name: 'failed', transaction: ids[1], isApplied: false },
      { name: 'undone', transaction: ids[2], isApplied: false },
    ]);
  });

  it('are not known without such a table, with other columns, or with several of them', async () => {
    assert.equal(await read(), undefined);
    await query(uri, 'create table migrations (id serial primary key, migration varchar(255), batch int)');
    assert.equal(await read(), undefined);
    await query(uri, 'create table knex_migrations (name text)');
    assert.deepEqual((await read())?.rows, []);
    await query(uri, 'create table schema_migrations (version text)');
    assert.equal(await read(), undefined);
  });
});
