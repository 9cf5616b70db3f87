/** Migrations that create extensions, in the layouts of the usual tools. Each ends with its table, or with what to do. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { extensionAdvice } from '../../../../src/base/sql/missingExtension.ts';
import { runStep } from '../../../../src/npm/library/migrations.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { query } from '../../service/postgres/clients.ts';
import { useOwner } from '../../service/postgres/extensions/useOwner.ts';
import { writeFiles } from '../../../helpers/writeFiles.ts';

type Files = Readonly<Record<string, string>>;

const journal = (...tags: readonly string[]) => JSON.stringify({ entries: tags.map((tag) => ({ tag })) });

/** For each tool: its files, and a table that exists at the end, or the error. */
const FOLDERS: Readonly<
  Record<string, readonly [files: Files, outcome: string | RegExp | ((error: Error) => true)]>
> = {
  prisma: [
    {
      '20260101000000_init/migration.sql':
        '-- CreateExtension\nCREATE EXTENSION IF NOT EXISTS "citext";\n\nCREATE TABLE "User" ("id" SERIAL PRIMARY KEY, "email" CITEXT UNIQUE);\n',
      '20260102000000_search/migration.sql':
        'CREATE EXTENSION IF NOT EXISTS "pg_trgm" WITH SCHEMA "public";\nCREATE INDEX ON "User" USING gin (("email"::text) gin_trgm_ops);\n',
      'migration_lock.toml': 'provider = "postgresql"\n',
    },
    '"User"',
  ],
  drizzle: [
    {
      '0000_init.sql':
        'CREATE EXTENSION IF NOT EXISTS vector;\n--> statement-breakpoint\nCREATE TABLE "guides" ("id" serial PRIMARY KEY, "embedding" vector(3));\n',
      'meta/_journal.json': journal('0000_init'),
    },
    missing('vector', '0000_init.sql:1'),
  ],
  'drizzle without vector': [
    {
      '0000_init.sql':
        'CREATE EXTENSION hstore;--> statement-breakpoint\nCREATE TABLE "attributes" ("data" hstore);\n',
      '0001_more.sql': "INSERT INTO attributes VALUES ('a=>1');\n",
      'meta/_journal.json': journal('0000_init', '0001_more'),
    },
    'attributes',
  ],
  knex: [
    { '20260101_init.js': "exports.up = (knex) => knex.raw('create extension if not exists pgcrypto');\n" },
    /aren't SQL, such as 20260101_init\.js.*npm run migrate/,
  ],
  'a comment that ends with an apostrophe': [
    { '1.sql': "create table a (); -- is 'open' or 'closed'\ncreate table commented ();" },
    'commented',
  ],
  flyway: [
    {
      'V1__extensions.sql': 'create extension "uuid-ossp";\n',
      'V2__orders.sql': 'create table orders (id uuid primary key default uuid_generate_v4());\n',
    },
    'orders',
  ],
  'rails structure.sql': [
    {
      'structure.sql': `SET statement_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);
CREATE EXTENSION IF NOT EXISTS pg_stat_statements WITH SCHEMA public;
COMMENT ON EXTENSION pg_stat_statements IS 'track planning and execution statistics';
CREATE EXTENSION IF NOT EXISTS btree_gist WITH SCHEMA public;
CREATE TABLE public.bookings (room integer, during tstzrange, EXCLUDE USING gist (room WITH =, during WITH &&));
SET search_path TO "$user", public;
INSERT INTO public.bookings VALUES (1, '[2026-01-01,2026-01-02)');
`,
    },
    'public.bookings',
  ],
  supabase: [
    {
      '20260101000000_init.sql':
        'create schema if not exists extensions;\ncreate extension if not exists moddatetime schema extensions;\ncreate table todos (id int, updated_at timestamptz);\ncreate trigger t before update on todos for each row execute procedure extensions.moddatetime(updated_at);\n',
      '20260102000000_cron.sql': 'create extension if not exists pg_cron with schema pg_catalog;\n',
    },
    missing('pg_cron', '20260102000000_cron.sql:1'),
  ],
  sqlx: [
    {
      '20260101000000_init.up.sql':
        'CREATE EXTENSION IF NOT EXISTS "pgcrypto";\nCREATE TABLE accounts (id uuid PRIMARY KEY DEFAULT gen_random_uuid());\n',
      '20260101000000_init.down.sql': 'DROP TABLE accounts;\n',
      '20260102000000_vector.up.sql': 'CREATE EXTENSION vector;\n',
      '20260102000000_vector.down.sql': 'DROP EXTENSION vector;\n',
    },
    missing('vector', '20260102000000_vector.up.sql:1'),
  ],
  diesel: [
    {
      '00000000000000_diesel_initial_setup/up.sql':
        'CREATE OR REPLACE FUNCTION diesel_set_updated_at() RETURNS trigger AS $$\nBEGIN\n  NEW.updated_at := current_timestamp;\n  RETURN NEW;\nEND;\n$$ LANGUAGE plpgsql;\n',
      '00000000000000_diesel_initial_setup/down.sql': 'DROP FUNCTION diesel_set_updated_at();\n',
      '2026-01-01-000000_posts/up.sql':
        'CREATE EXTENSION citext;\nCREATE TABLE posts (title citext, updated_at timestamp);\n',
      '2026-01-01-000000_posts/down.sql': 'DROP TABLE posts;\nDROP EXTENSION citext;\n',
    },
    'posts',
  ],
  ecto: [
    { '20260101000000_enable.exs': 'execute "CREATE EXTENSION citext", "DROP EXTENSION citext"\n' },
    /aren't SQL, such as 20260101000000_enable\.exs.*mix ecto\.migrate/,
  ],
  django: [
    { '0001_initial.py': 'operations = [VectorExtension()]\n', '__init__.py': '' },
    /aren't SQL, such as 0001_initial\.py.*python manage\.py migrate/,
  ],
  rails: [
    { '20260101000000_enable_vector.rb': "enable_extension 'vector'\n" },
    /aren't SQL, such as 20260101000000_enable_vector\.rb.*bin\/rails db:migrate/,
  ],
  laravel: [
    { '2026_01_01_000000_vector.php': "DB::statement('CREATE EXTENSION vector');\n" },
    /aren't SQL, such as 2026_01_01_000000_vector\.php.*php artisan migrate/,
  ],
  'Entity Framework': [
    {
      '20260101000000_Init.cs':
        'migrationBuilder.AlterDatabase().Annotation("Npgsql:PostgresExtension:vector", ",,");\n',
    },
    /aren't SQL, such as 20260101000000_Init\.cs.*dotnet ef database update/,
  ],
  'plain schema.sql': [
    {
      'schema.sql':
        'CREATE EXTENSION IF NOT EXISTS seg;\nCREATE EXTENSION IF NOT EXISTS lo;\nCREATE TABLE readings (value seg);\n',
    },
    'readings',
  ],
  sqitch: [
    { 'sqitch.plan': '%project=a\nextensions\n', 'deploy/extensions.sql': 'create extension ltree;\n' },
    /is for Sqitch.*sqitch deploy/,
  ],
  goose: [
    {
      '00001_init.sql':
        '-- +goose Up\n-- +goose StatementBegin\nCREATE EXTENSION ltree;\n-- +goose StatementEnd\nCREATE TABLE sections (path ltree);\n\n-- +goose Down\nDROP TABLE sections;\nDROP EXTENSION ltree;\n',
    },
    'sections',
  ],
  dbmate: [
    {
      '20260101000000_init.sql':
        '-- migrate:up\ncreate extension intarray;\ncreate table tags (ids int[]);\ncreate index on tags using gist (ids gist__int_ops);\n\n-- migrate:down\ndrop table tags;\n',
    },
    'tags',
  ],
  'node-pg-migrate': [
    {
      '1700000000000_init.sql':
        '-- Up Migration\nCREATE EXTENSION IF NOT EXISTS unaccent;\nCREATE TABLE words (word text);\n-- Down Migration\nDROP TABLE words;\n',
    },
    'words',
  ],
  hasura: [
    {
      '1700000000000_init/up.sql':
        'CREATE EXTENSION IF NOT EXISTS pgcrypto;\nCREATE TABLE public.users (id uuid DEFAULT gen_random_uuid());\n',
      '1700000000000_init/down.sql': 'DROP TABLE public.users;\n',
      '1700000000001_geo/up.sql': 'CREATE EXTENSION IF NOT EXISTS postgis;\n',
      '1700000000001_geo/down.sql': 'DROP EXTENSION postgis;\n',
    },
    missing('postgis', 'up.sql:1'),
  ],
  atlas: [
    {
      '20260101000000.sql':
        '-- Add new extension named: "cube"\nCREATE EXTENSION "cube";\nCREATE EXTENSION "earthdistance";\n',
      '20260102000000.sql': 'CREATE TABLE "shops" ("place" earth);\n',
      'atlas.sum': 'h1:\n',
    },
    'shops',
  ],
  "alembic's SQL": [
    {
      'upgrade.sql':
        "BEGIN;\n\nCREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL);\n\n-- Running upgrade  -> 1975ea83b712\n\nCREATE EXTENSION IF NOT EXISTS vector;\n\nINSERT INTO alembic_version (version_num) VALUES ('1975ea83b712');\n\nCOMMIT;\n",
    },
    missing('vector', 'upgrade.sql:7'),
  ],
  typeorm: [
    {
      '1700000000000-Init.ts':
        'export class Init { async up(q) { await q.query(`CREATE EXTENSION "uuid-ossp"`); } }\n',
    },
    /aren't SQL, such as 1700000000000-Init\.ts/,
  ],
  'sequelize SQL': [
    {
      '1-init/up.sql':
        "CREATE EXTENSION fuzzystrmatch;\nCREATE TABLE names (name text);\nSELECT soundex('a');\n",
      '1-init/down.sql': 'DROP TABLE names;\n',
    },
    'names',
  ],
  'liquibase SQL': [
    { 'changelog.sql': '--liquibase formatted sql\n--changeset a:1\nCREATE EXTENSION citext;\n' },
    /is for Liquibase.*liquibase update/,
  ],
  'golang-migrate': [
    {
      '000001_init.up.sql':
        'BEGIN;\nCREATE EXTENSION IF NOT EXISTS tablefunc;\nCREATE TABLE numbers (n float);\nCOMMIT;\n',
      '000001_init.down.sql': 'DROP TABLE numbers;\n',
    },
    'numbers',
  ],
  tern: [
    {
      '001_init.sql':
        'create extension hypopg;\ncreate table queries (q text);\n---- create above / drop below ----\ndrop table queries;\n',
    },
    missing('hypopg', '001_init.sql:1'),
  ],
  'graphile-migrate': [
    {
      'committed/000001.sql':
        '--! Previous: -\n--! Hash: sha1:0\ncreate extension if not exists postgres_fdw;\ncreate server other foreign data wrapper postgres_fdw;\ncreate table copies (id int);\n',
    },
    'copies',
  ],
  'plain psql': [
    {
      '001_extensions.sql': '-- create extension none;\ncreate extension if not exists isn;\n',
      '002_books.sql': 'create table books (isbn isbn13);\n',
      '003_time.sql': 'create extension timescaledb;\n',
    },
    missing('timescaledb', '003_time.sql:1'),
  ],
};

function missing(name: string, place: string): (error: Error) => true {
  const end = `${place}: extension "${name}" is not available\n${extensionAdvice(name)}`;
  return ({ message }) => {
    assert.equal(message.slice(-end.length), end);
    return true;
  };
}

describe('migrations that create extensions', () => {
  const owner = useOwner();

  it('are explained if the tool prints the error of Postgres, and else not', async () => {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, 'migrations'));
    // The advice is about the output, not about the file, which may have run or not.
    writeFileSync(path.join(folder, 'migrations', '1.sql'), 'create extension vector;\n');
    const run = (text: string) => {
      writeFileSync(
        path.join(folder, 'tool.cjs'),
        `console.log(${JSON.stringify(text)}); process.exitCode = 1;`,
      );
      return runStep(folder, { run: `"${process.execPath}" tool.cjs`, files: ['migrations'] }, owner.uri);
    };
    await assert.rejects(run('applying migrations'), { message: /ended with 1:\napplying migrations\n$/ });
    // As Knex prints it.
    await assert.rejects(
      run('migration failed with error: create extension vector - extension "vector" is not available'),
      ({ message }: Error) => message.endsWith(`\n${extensionAdvice('vector')}`),
    );
  });

  for (const [index, [tool, [files, outcome]]] of Object.entries(FOLDERS).entries())
    it(`of ${tool} work, or say what to do`, async () => {
      const folder = writeFiles(files, path.join(temporaryFolder(), 'migrations'));
      const database = `migrations_${index}`;
      await owner.query(`create database ${database}`);
      const url = Object.assign(new URL(owner.uri), { pathname: database }).href;
      const run = runStep(path.dirname(folder), 'migrations', url);
      if (typeof outcome !== 'string') return assert.rejects(run, outcome);
      await run;
      assert.deepEqual(await query(url, `select to_regclass('${outcome}') is not null`), [true]);
    });
});
