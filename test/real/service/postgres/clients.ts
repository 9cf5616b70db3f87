/** Postgres clients for tests: the node-postgres driver and the programs of an installed Postgres. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { atEndOfTest } from '../../../helpers/atEndOfTest.ts';
import { until } from '../../../workbench/until.ts';

/** Opens a connection, until the end of the test at the latest. It does not throw when the server closes it. */
export async function connectTo(uri: string, options: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: uri, ...options });
  client.on('error', () => {});
  await client.connect();
  atEndOfTest(() => client.end());
  return client;
}

/** Connects, runs statements one after the other and closes. */
export async function runStatements(uri: string, ...statements: readonly string[]): Promise<void> {
  const client = await connectTo(uri);
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Connects, runs one statement and closes. @returns all values of all rows */
export async function query(uri: string, sql: string): Promise<unknown[]> {
  const client = await connectTo(uri);
  try {
    return (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

/** Waits until a condition is true. */
export async function eventually(condition: () => boolean | Promise<boolean>, limit?: number): Promise<void> {
  await until(condition.toString(), async () => condition(), limit);
}

/** Waits until the server answers. */
export const answers = async (uri: string): Promise<void> =>
  eventually(() =>
    query(uri, 'select 1').then(
      () => true,
      () => false,
    ),
  );

const programs = ['psql', 'pg_dump', 'pg_restore', 'pgbench', 'postgres', 'initdb'];

/**
 * The folder of the newest installed Postgres with clients and server, as on Debian (packages
 * postgresql and postgresql-client). The npm package has no clients, and pg_dump refuses a server newer than itself.
 */
export function installedPostgres(): string | undefined {
  const parent = '/usr/lib/postgresql';
  const folders = (existsSync(parent) ? readdirSync(parent) : []).map((version) =>
    path.join(parent, version, 'bin'),
  );
  return folders
    .filter((folder) => programs.every((name) => existsSync(path.join(folder, name))))
    .toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))[0];
}
