/** A clone of a test branch for one test, compared with `CREATE DATABASE` and `DROP DATABASE` with the same template and server. */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createPgClient } from '../../src/base/pgClient.ts';
import { withDatabase } from '../../src/api/addresses/databaseUrl.ts';
import type { branch as createBranch } from '../../src/npm/test/index.ts';
import { builtTestLibrary } from '../../test/helpers/builtTestLibrary.ts';
import { startLocalService, temporaryFolder } from '../../test/helpers/localService.ts';
import { comparison, measureInTurns, medianRatio, ms, timeOf, type Result } from './result.ts';

const CLONES = 20;
const ROUNDS = 7;
const GOAL = 1.3;

export async function measure(): Promise<readonly Result[]> {
  const service = await startLocalService();
  Object.assign(process.env, { NEON_API_HOST: service.baseUrl, NEON_API_KEY: service.key });
  const cwd = temporaryFolder();
  writeFileSync(path.join(cwd, 'schema.sql'), 'create table t as select generate_series(1, 100) as id;');
  const library: { readonly branch: typeof createBranch } = createRequire(import.meta.url)(
    await builtTestLibrary(),
  );
  const db = await library.branch({ cwd, migrate: 'schema.sql' });
  const client = createPgClient({ connectionString: withDatabase(db.url, 'postgres') });
  await client.connect();
  try {
    const each = async (work: () => Promise<void>) =>
      (await timeOf(async () => {
        for (let count = 0; count < CLONES; count += 1) await work();
      })) / CLONES;
    const pairs = await measureInTurns(ROUNDS, 1, {
      ours: () => each(async () => (await db.clone()).drop()),
      baseline: () =>
        each(async () => {
          await client.query('create database bare template hosted_postgres_template');
          await client.query('drop database bare');
        }),
    });
    return [
      comparison(pairs, {
        what: 'clone for a test',
        unit: ms,
        baseline: 'CREATE and DROP DATABASE',
        goal: `≤ ${GOAL} ×`,
        met: medianRatio(pairs) <= GOAL,
        note: `${CLONES} after each other, ${ROUNDS} times`,
      }),
    ];
  } finally {
    await client.end();
    await db.drop();
    await service.stop();
  }
}
