/**
 * The time from connecting to an idle compute to its first row. The baseline is the same Postgres binary with the same
 * arguments, on a copy of the branch's data, started directly.
 */
import { cp } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { startCompute } from './compute.ts';
import { plainPostgres } from './plainPostgres.ts';
import { comparison, measureInTurns, medianRatio, ms, quantile, timeOf, type Result } from './result.ts';

const WAKES = 100;
const GOAL = 1.5;

export async function measure(): Promise<readonly Result[]> {
  const compute = await startCompute();
  try {
    await compute.suspend();
    // Next to the original, where the server's account has access.
    const copy = path.join(path.dirname(compute.dataDir), 'plain', 'data');
    await cp(compute.dataDir, copy, { recursive: true, preserveTimestamps: true });
    const plain = await plainPostgres(compute.dataDir, copy);
    const { password, username, pathname } = new URL(compute.uri);
    const login = { user: username, password, database: pathname.slice(1) };
    const pairs = await measureInTurns(WAKES, 1, {
      ours: async () => {
        const time = await firstRow(compute.uri);
        await compute.suspend();
        return time;
      },
      baseline: async () => {
        let stop = async () => {};
        const starting = await timeOf(async () => (stop = await plain.start()));
        const time = starting + (await firstRow({ ...login, host: plain.host, port: plain.port }));
        await stop();
        return time;
      },
    });
    const p95 = (values: readonly number[]) => ms(quantile(values, 0.95));
    return [
      comparison(pairs, {
        what: 'wake-up',
        unit: ms,
        baseline: 'started directly',
        goal: `≤ ${GOAL} ×`,
        met: medianRatio(pairs) <= GOAL,
        note: `${WAKES} starts; p95 ${p95(pairs.ours)} and ${p95(pairs.baseline)}`,
      }),
    ];
  } finally {
    await compute.stop();
  }
}

/** Returns the milliseconds from connecting to the first row. */
async function firstRow(config: string | pg.ClientConfig): Promise<number> {
  const client = new pg.Client(config);
  const time = await timeOf(async () => {
    await client.connect();
    await client.query('select 1');
  });
  await client.end();
  return time;
}
