/**
 * Projects of real tools that migrate, as far as their folders have SQL. `scripts/migrationTools.ts` runs each by the tool's own
 * command and writes what the database then contains to `TOOL.txt`, with which the test compares what the folder alone gives.
 */
import { createHash } from 'node:crypto';

export interface ToolCase {
  /** The packages of npm or Debian, with their versions. The first one is the tool. */
  readonly packages: readonly string[];
  /** Files of the project. */
  readonly files: Readonly<Record<string, string>>;
  /** The command runs in the folder of the project, and gets the database from `DATABASE_URL`. */
  readonly command: string;
  readonly folder: string;
  /** Deletes what the tool has noted in the database. Missing if the folder is refused. */
  readonly forget?: string;
}

/** What depends on a transaction, or on what the files before it have set. */
const INIT = `create schema inv;
set local search_path = inv, public;
create table item (id int primary key, name text not null default 'a;b');`;
const ROWS = `create temporary table kept (id int) on commit drop;
insert into kept values (1), (2);
create table part (
  id int primary key,
  next int references part deferrable initially deferred
);
insert into part values (1, 2), (2, 1);
savepoint one;
insert into part values (3, 1);
rollback to savepoint one;
lock table part;
insert into inv.item select id from kept;
create function add(a int, b int) returns int language plpgsql as $$
begin
  -- rollback
  return a + b;
end $$;
comment on table part is '
-- Down Migration
';`;
/** Postgres allows savepoints only after `begin`. */
const ROWS_OF_ONE_QUERY = ROWS.replace(/^savepoint[^]*lock/m, 'lock');
const PATH = `create table before_path (id int);
set search_path = inv, public;
create table with_path (id int);`;
const LAST = 'create table last (id int);';
const INDEX = 'create index concurrently item_name on inv.item (name);';
const DROP = 'drop schema inv cascade;';

const uses = (tool: string): string => JSON.stringify({ type: 'commonjs', dependencies: { [tool]: '*' } });
const pg = `new (require('pg').Client)({ connectionString: process.env.DATABASE_URL })`;

/** As `graphile-migrate commit` writes them. */
function committed(texts: Readonly<Record<string, string>>): Record<string, string> {
  let previous = '';
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const hash = `sha1:${createHash('sha1')
        .update(`${`${previous}\n${text}`.trim()}\n`)
        .digest('hex')}`;
      const headers = `--! Previous: ${previous || '-'}\n--! Hash: ${hash}\n\n`;
      previous = hash;
      return [`migrations/committed/${name}`, `${headers}${text}\n`];
    }),
  );
}

/** As `db-migrate create --sql-file` writes them. */
const sqls = (texts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(texts).flatMap(([title, text], index) => {
      const name = `2026010${index + 1}000000-${title}`;
      const up = `exports.up = (db) => db.runSql(require('fs').readFileSync(__dirname + '/sqls/${name}-up.sql', 'utf8'));`;
      return [
        [`migrations/${name}.js`, `${up} exports._meta = { version: 1 };`],
        [`migrations/sqls/${name}-up.sql`, text],
        [`migrations/sqls/${name}-down.sql`, DROP],
      ];
    }),
  );

export const CASES: Readonly<Record<string, ToolCase>> = {
  'node-pg-migrate': {
    packages: ['node-pg-migrate@9.0.0', 'pg@8.23.1'],
    files: {
      'package.json': uses('node-pg-migrate'),
      'migrations/1700000000000_init.sql': `select 'not run';\n-- Up Migration\n${INIT}\n-- Down Migration\n${DROP}\n`,
      'migrations/1700000000001_rows.sql': ROWS.replace('-- Down Migration', '-- a comment'),
      'migrations/1700000000002_path.sql': `-- Down Migration\n${DROP}\n-- Up Migration\n${PATH}\n`,
      'migrations/01700000000003_last.sql': LAST,
    },
    command: 'npx node-pg-migrate up',
    folder: 'migrations',
    forget: 'drop table pgmigrations',
  },
  'postgres-migrations': {
    packages: ['postgres-migrations@5.3.0', 'pg@8.23.1'],
    files: {
      'package.json': uses('postgres-migrations'),
      'migrate.js': `const client = ${pg};
client.connect().then(() => require('postgres-migrations').migrate({ client }, 'migrations')).then(() => client.end());`,
      'migrations/1_init.sql': INIT,
      'migrations/2-rows.sql': ROWS,
      'migrations/3path.sql': PATH,
      'migrations/04_last.sql': LAST,
      'migrations/5_index.sql': `-- postgres-migrations disable-transaction\n${INDEX}`,
    },
    command: 'node migrate.js',
    folder: 'migrations',
    forget: 'drop table migrations',
  },
  'pg-migrations': {
    packages: ['@databases/pg-migrations@5.0.3'],
    files: {
      'package.json': uses('@databases/pg-migrations'),
      'migrations/0001-init.sql': INIT,
      'migrations/0003-rows.sql': ROWS,
      'migrations/0010-path.sql': PATH,
      'migrations/11-last.sql': LAST,
    },
    command: 'npx pg-migrations apply --directory migrations',
    folder: 'migrations',
    forget: 'drop table atdatabases_migrations_applied, atdatabases_migrations_version',
  },
  postgrator: {
    packages: ['postgrator@8.0.0', 'pg@8.23.1'],
    files: {
      'package.json': uses('postgrator'),
      'migrate.mjs': `import { createRequire } from 'node:module';
import Postgrator from 'postgrator';
const require = createRequire(import.meta.url);
const client = ${pg};
await client.connect();
await new Postgrator({ migrationPattern: 'migrations/*', driver: 'pg', execQuery: (sql) => client.query(sql) }).migrate();
await client.end();`,
      'migrations/001.do.init.sql': INIT,
      'migrations/001.undo.init.sql': DROP,
      'migrations/2.do.rows.sql': ROWS_OF_ONE_QUERY,
      'migrations/003.do.path.sql': PATH,
      'migrations/10.do.sql': LAST,
      'migrations/9.do.index.sql': INDEX,
    },
    command: 'node migrate.mjs',
    folder: 'migrations',
    forget: 'drop table schemaversion',
  },
  marv: {
    packages: ['marv@6.0.0', 'marv-pg-driver@5.0.0', 'pg@8.23.1'],
    files: {
      'package.json': uses('marv'),
      'migrate.js': `const { scan, migrate } = require('marv/api/promise');
scan('migrations').then((all) => migrate(all, require('marv-pg-driver')({ connection: { connectionString: process.env.DATABASE_URL } })));`,
      'migrations/001.init.sql': INIT,
      'migrations/002-rows.sql': ROWS_OF_ONE_QUERY,
      'migrations/3_path.sql': PATH,
      'migrations/10_last.sql': LAST,
      'migrations/9_index.sql': INDEX,
    },
    command: 'node migrate.js',
    folder: 'migrations',
    forget: 'drop table migrations, migrations_lock',
  },
  // It looks for its table in the first schema of the path.
  dbmate: {
    packages: ['dbmate@2.36.0'],
    files: {
      'package.json': uses('dbmate'),
      'db/migrations/20260101000000_init.sql': `-- migrate:up\n${INIT.replace(/^set.*\n(.* )item/m, '$1inv.item')}\n\n-- migrate:down\n${DROP}\n`,
      'db/migrations/20260102000000_rows.sql': `-- a comment\n-- migrate:up\n${ROWS}\n  -- migrate:down\n${LAST.replace('last', 'indented')}\n-- migrate:down\n`,
      'db/migrations/20260104000000_last.sql': `-- migrate:up\n${LAST}\n-- migrate:down\n${DROP}\n`,
      'db/migrations/3_index.sql': `-- migrate:up transaction:false\n${INDEX}\n-- migrate:down\n`,
    },
    command: 'npx dbmate up',
    folder: 'db/migrations',
    forget: 'drop table schema_migrations',
  },
  drizzle: {
    packages: ['drizzle-kit@0.31.11', 'drizzle-orm@0.45.4', 'pg@8.23.1'],
    files: {
      'package.json': uses('drizzle-kit'),
      'drizzle.config.js': `module.exports = { dialect: 'postgresql', out: './drizzle', dbCredentials: { url: process.env.DATABASE_URL } };`,
      'drizzle/meta/_journal.json': JSON.stringify({
        version: '7',
        dialect: 'postgresql',
        entries: ['0000_init', '0002_rows', '0001_path', '0003_last'].map((tag, idx) => ({
          idx,
          version: '7',
          when: 1_700_000_000_000 + idx,
          tag,
          breakpoints: true,
        })),
      }),
      'drizzle/0000_init.sql': INIT.replaceAll(';\n', ';--> statement-breakpoint\n'),
      'drizzle/0002_rows.sql': ROWS,
      'drizzle/0001_path.sql': `-- Custom SQL migration file, put your code below! --\n${PATH}`,
      'drizzle/0003_last.sql': `${LAST}--> statement-breakpoint\n-- nothing more`,
      'drizzle/0004_not_in_journal.sql': DROP,
    },
    command: 'npx drizzle-kit migrate',
    folder: 'drizzle',
    forget: 'drop schema drizzle cascade',
  },
  'graphile-migrate': {
    packages: ['graphile-migrate@1.4.1', 'pg@8.23.1'],
    files: {
      'package.json': uses('graphile-migrate'),
      '.gmrc': '{}',
      'migrations/current.sql': DROP,
      ...committed({
        '000001.sql': INIT,
        '000002-rows.sql': ROWS,
        '000003-path.sql': PATH,
        '000004.sql': LAST,
        '000005.sql': `--! no-transaction\n${INDEX}`,
      }),
    },
    command: 'npx graphile-migrate migrate',
    folder: 'migrations/committed',
    forget: 'drop schema graphile_migrate cascade',
  },
  'db-migrate': {
    packages: ['db-migrate@0.11.14', 'db-migrate-pg@1.5.2'],
    files: {
      'package.json': uses('db-migrate'),
      'database.json': JSON.stringify({ dev: { ENV: 'DATABASE_URL' } }),
      ...sqls({ init: INIT, rows: ROWS, path: PATH, last: LAST }),
    },
    command: 'npx db-migrate up',
    folder: 'migrations/sqls',
    forget: 'drop table migrations',
  },
  supabase: {
    packages: ['supabase@3.1.0'],
    files: {
      'package.json': uses('supabase'),
      'supabase/config.toml': 'project_id = "a"\n',
      'supabase/migrations/20260101000000_init.sql': INIT,
      'supabase/migrations/20260102000000_rows.sql': ROWS_OF_ONE_QUERY,
      'supabase/migrations/20260103000000_path.sql': PATH,
      'supabase/migrations/20260104000000_last.sql': LAST,
      'supabase/migrations/20260105000000_index.sql': INDEX,
      'supabase/migrations/3_early.sql': 'alter table last add early int',
    },
    command: 'npx supabase db push --db-url "$DATABASE_URL" --yes',
    folder: 'supabase/migrations',
    forget: 'drop schema supabase_migrations cascade',
  },
};
