/** How each client of docs/clients.md connects to URL and prints what `select 6 * 7` returns. */
import path from 'node:path';

interface ClientProgram {
  /** The package of npm that has its version; undefined for programs of the system. */
  readonly package?: string;
  readonly command: readonly [program: string, ...args: string[]];
}

const POSTGRES = `import postgres from 'postgres'; import process from 'node:process';
  const sql = postgres(process.env.URL, { max: 1 });
  console.log((await sql\`select 6 * 7 as x\`)[0].x); await sql.end();`;
const PG = `import pg from 'pg'; const client = new pg.Client(process.env.URL); await client.connect();
  console.log((await client.query('select 6 * 7 as x')).rows[0].x); await client.end();`;
const BUN = `import { SQL } from 'bun'; const sql = new SQL(process.env.URL);
  console.log((await sql\`select 6 * 7 as x\`)[0].x); process.exit();`;
const DRIZZLE = `import { drizzle } from 'drizzle-orm/postgres-js'; import { sql } from 'drizzle-orm';
  console.log((await drizzle(process.env.URL).execute(sql\`select 6 * 7 as x\`))[0].x); process.exit();`;
const PRISMA = `import { PrismaPg } from '@prisma/adapter-pg';
  const db = await new PrismaPg({ connectionString: process.env.URL }).connect();
  console.log((await db.queryRaw({ sql: 'select 6 * 7 as x', args: [], argTypes: [] })).rows[0][0]); process.exit();`;
const SLONIK = `import { createPool, sql } from 'slonik';
  const pool = await createPool(process.env.URL, { connectionRetryLimit: 0 });
  console.log(await pool.oneFirst(sql.unsafe\`select 6 * 7 as x\`)); await pool.end();`;
const PSYCOPG = (module: string) => `import os, ${module}
cursor = ${module}.connect(os.environ["URL"]).cursor()
cursor.execute("select 6 * 7")
print(cursor.fetchone()[0])`;
const ASYNCPG = `import asyncio, asyncpg, os
async def run():
    connection = await asyncpg.connect(os.environ["URL"])
    print(await connection.fetchval("select 6 * 7"))
asyncio.run(run())`;
const PERL = `use DBI; $ENV{URL} =~ m{//(.*?):(.*?)@(.*?):(\\d+)/(\\w+)};
  print DBI->connect("dbi:Pg:host=$3;port=$4;dbname=$5;sslmode=require", $1, $2)->selectrow_array("select 6 * 7");`;
const PHP = `$u = parse_url(getenv('URL'));
  $db = new PDO("pgsql:host=$u[host];port=$u[port];dbname=app;sslmode=require", $u['user'], $u['pass']);
  echo $db->query('select 6 * 7')->fetchColumn();`;

const node = (code: string) => [process.execPath, '--input-type=module', '-e', code] as const;

export const CLIENT_PROGRAMS: Readonly<Record<string, ClientProgram>> = {
  '`postgres`': { package: 'postgres', command: node(POSTGRES) },
  '`postgres` on Bun': { package: 'bun', command: ['node_modules/.bin/bun', '-e', POSTGRES] },
  '`postgres` on Deno': { package: 'deno', command: ['node_modules/.bin/deno', 'eval', POSTGRES] },
  '`Bun.SQL`': { package: 'bun', command: ['node_modules/.bin/bun', '-e', BUN] },
  '`drizzle-orm/postgres-js`': { package: 'drizzle-orm', command: node(DRIZZLE) },
  '`pg`': { package: 'pg', command: node(PG) },
  '`@prisma/adapter-pg`': { package: '@prisma/adapter-pg', command: node(PRISMA) },
  '`slonik`': { package: 'slonik', command: node(SLONIK) },
  '`psql`': { command: ['sh', '-c', 'psql -XAtc "select 6 * 7" "$URL"'] },
  '`psycopg`': { command: ['/usr/bin/python3', '-c', PSYCOPG('psycopg')] },
  '`psycopg2`': { command: ['/usr/bin/python3', '-c', PSYCOPG('psycopg2')] },
  '`asyncpg`': { command: ['/usr/bin/python3', '-c', ASYNCPG] },
  '`pg` for Ruby': {
    command: ['ruby', '-rpg', '-e', 'puts PG.connect(ENV["URL"]).exec("select 6 * 7").getvalue(0, 0)'],
  },
  '`DBD::Pg`': { command: ['perl', '-e', PERL] },
  '`PDO`': { command: ['php', '-r', PHP] },
  '`pgjdbc`': {
    command: ['java', '-cp', '/usr/share/java/postgresql.jar', path.join(import.meta.dirname, 'Jdbc.java')],
  },
};

/** The package and version of zero-cache, which another suite runs. */
export const ZERO_CACHE = '@rocicorp/zero@1.9.0';

/** Exit with 0 where a program of the system can run. */
export const PROBES: Readonly<Record<string, string>> = {
  '`psql`': 'psql --version',
  '`psycopg`': '/usr/bin/python3 -c "import psycopg"',
  '`psycopg2`': '/usr/bin/python3 -c "import psycopg2"',
  '`asyncpg`': '/usr/bin/python3 -c "import asyncpg"',
  '`pg` for Ruby': 'ruby -rpg -e 1',
  '`DBD::Pg`': 'perl -MDBD::Pg -e 1',
  '`PDO`': 'php -m | grep -q pdo_pgsql',
  '`pgjdbc`': 'java --version && test -e /usr/share/java/postgresql.jar',
};

/** Other suites run these. */
export const OTHER_SUITES: Readonly<Record<string, string>> = {
  '`@neondatabase/serverless`': 'test/real/service/postgres/serverlessDriver/serverless.test.ts',
  '`neon`': 'test/real/tools/neonctl.test.ts',
};
