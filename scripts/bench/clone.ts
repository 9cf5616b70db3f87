/**
 * What a test costs with `hosted-postgres/test`, on one branch: a clone, compared with `CREATE DATABASE` and `DROP DATABASE` with the
 * same template and server, and a reset after a test that writes, compared with a truncation of the same tables.
 */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type Client from 'pg/lib/client.js';
import { createPgClient } from '../../src/base/sql/pgClient.ts';
import { withDatabase } from '../../src/api/addresses/databaseUrl.ts';
import type { branch as createBranch } from '../../src/npm/library/index.ts';
import { builtTestLibrary } from '../../test/helpers/builtTestLibrary.ts';
import { startLocalService, temporaryFolder } from '../../test/helpers/localService.ts';
import { comparison, measureInTurns, medianRatio, ms, timeOf, type Result } from './result.ts';
import { SCHEMA, SEED, TABLES, TRUNCATION } from './testSuite.ts';

const TESTS = 20;
const ROUNDS = 7;

export async function measure(): Promise<readonly Result[]> {
  const service = await startLocalService();
  Object.assign(process.env, { NEON_API_HOST: service.baseUrl, NEON_API_KEY: service.key });
  const cwd = temporaryFolder();
  writeFileSync(path.join(cwd, 'schema.sql'), `${SCHEMA}\n${SEED}`);
  const library: { readonly branch: typeof createBranch } = createRequire(import.meta.url)(
    await builtTestLibrary(),
  );
  const db = await library.branch({ cwd, migrate: 'schema.sql' });
  // A database usually waits for the disk at each commit. Those of tests don't.
  const [client, byHand, server] = [
    { connectionString: db.url },
    { connectionString: db.url, options: '-c synchronous_commit=on' },
    { connectionString: withDatabase(db.url, 'postgres') },
  ].map(createPgClient) as [Client, Client, Client];
  for (const each of [client, byHand, server]) await each.connect();
  try {
    const clone = await compare({
      what: 'clone for a test',
      ours: async () => (await db.clone()).drop(),
      baseline: async () => {
        await server.query('create database bare template hosted_postgres_template');
        await server.query('drop database bare');
      },
      name: 'CREATE and DROP DATABASE',
      goal: 1.3,
    });
    const test = async (client: Client) => {
      for (const table of TABLES) {
        await client.query(`insert into ${table} (name) values ($1), ($2)`, ['a', 'b']);
        await client.query(`update ${table} set name = $1 where id = 1`, ['c']);
        await client.query(`select count(*) from ${table}`);
      }
    };
    const reset = await compare({
      what: 'a test and a reset',
      ours: async () => {
        await test(client);
        await db.reset();
      },
      baseline: async () => {
        await test(byHand);
        await byHand.query(TRUNCATION);
      },
      name: 'and a truncation',
      goal: 1.2,
    });
    return [clone, reset];
  } finally {
    for (const each of [client, byHand, server]) await each.end();
    await db.drop();
    await service.stop();
  }
}

interface Comparison {
  readonly what: string;
  readonly ours: () => Promise<void>;
  readonly baseline: () => Promise<void>;
  readonly name: string;
  readonly goal: number;
}

async function compare({ what, ours, baseline, name, goal }: Comparison): Promise<Result> {
  const each = (work: () => Promise<void>) => async () =>
    (await timeOf(async () => {
      for (let count = 0; count < TESTS; count += 1) await work();
    })) / TESTS;
  const pairs = await measureInTurns(ROUNDS, 1, { ours: each(ours), baseline: each(baseline) });
  return comparison(pairs, {
    what,
    unit: ms,
    baseline: name,
    goal: `≤ ${goal} ×`,
    met: medianRatio(pairs) <= goal,
    note: `${TESTS} after each other, ${ROUNDS} times`,
  });
}
