/** Compare Rows on a table of 1 GB with 10,000 changed rows, compared with reading the table on both sides. */
import assert from 'node:assert/strict';
import Query from 'pg/lib/query.js';
import { withDatabase } from '../../src/api/addresses/databaseUrl.ts';
import { compareRows } from '../../src/extension/database/rows/compareRows.ts';
import { connectTo, query } from '../../test/real/service/postgres/clients.ts';
import { startCompute } from './compute.ts';
import { comparison, measureInTurns, medianRatio, ms, timeOf, type Result } from './result.ts';

const ROUNDS = 3;
/** About 1 GB. */
const ROWS = 4_900_000;
const CHANGED = 10_000;
const GOAL = 3;

export async function measure(): Promise<readonly Result[]> {
  const compute = await startCompute();
  try {
    const [before, after] = [compute.uri, withDatabase(compute.uri, 'other')];
    await query(
      before,
      `create table large as select id, id % 1000 as customer, id * 1.25 as amount, repeat(md5(id::text), 5) as note,
        timestamptz '2026-01-01' + id * interval '1 second' as time from generate_series(1, ${ROWS}) as id`,
    );
    await query(before, 'alter table large add primary key (id)');
    await query(withDatabase(compute.uri, 'postgres'), 'create database other template app');
    await query(after, `update large set note = 'changed' where id % ${ROWS / CHANGED} = 0`);
    for (const uri of [before, after]) await query(uri, 'vacuum analyze large');
    const { host, username: role, password } = new URL(before);
    const login = (database: string) => ({ host, role, password: decodeURIComponent(password), database });
    const logins = { before: login('app'), after: login('other') };
    const source = { table: 'large', sql: 'SELECT * FROM large', name: 'large' };
    const pairs = await measureInTurns(ROUNDS, 1, {
      ours: () =>
        timeOf(async () => {
          const { added, changed, deleted } = await compareRows(logins, source, new AbortController().signal);
          assert.deepEqual([added, changed, deleted], [0, CHANGED, 0]);
        }),
      baseline: () => timeOf(() => Promise.all([before, after].map((uri) => readAll(uri, source.sql)))),
    });
    return [
      comparison(pairs, {
        what: `rows of 1 GB, ${CHANGED.toLocaleString('en-US')} of which differ`,
        unit: ms,
        baseline: 'SELECT of both, without keeping the rows',
        goal: `≤ ${GOAL} ×`,
        met: medianRatio(pairs) <= GOAL,
        note: `${ROUNDS} times`,
      }),
    ];
  } finally {
    await compute.stop();
  }
}

async function readAll(uri: string, text: string): Promise<void> {
  const client = await connectTo(uri);
  const config = { text, rowMode: 'array' };
  const reading = new Query(config);
  const ended = new Promise((resolve, reject) => {
    reading.on('row', () => {});
    reading.on('end', resolve);
    reading.on('error', reject);
  });
  client.query(reading);
  await ended;
  await client.end();
}
