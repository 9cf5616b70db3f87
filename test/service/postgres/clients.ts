/** Stock clients of the tests: the node-postgres driver, those of an installed Postgres, and a wait for what takes a moment. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';

/** An open connection. It does not throw when the server ends it: tests look at what they asked instead. */
export async function connectTo(uri: string, options: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: uri, ...options });
  client.on('error', () => {});
  await client.connect();
  return client;
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

/** Waits until a condition holds, and fails when it does not within the limit. */
export async function eventually(condition: () => boolean | Promise<boolean>, limit = 10_000): Promise<void> {
  for (const until = Date.now() + limit; Date.now() < until;) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`did not come about within ${limit} ms: ${condition.toString()}`);
}

const programs = ['psql', 'pg_dump', 'pg_restore', 'pgbench', 'postgres', 'initdb'];

/**
 * The folder of the newest installed Postgres that has both clients and server, as Debian lays it out (packages
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
