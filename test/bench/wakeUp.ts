/** The time from connecting to an idle compute to its first row, compared with starting the same Postgres directly. */
import pg from 'pg';
import { startCompute } from './compute.ts';
import { copyPostgres } from './plainPostgres.ts';
import { ms, type Result } from './result.ts';
import { median, medianRatio, quantile } from './stats.ts';

const WAKES = 100;
const GOAL = 1.5;

export async function measure(): Promise<readonly Result[]> {
  const compute = await startCompute();
  try {
    await firstRow(compute.uri); // Creates the data directory.
    await compute.suspend();
    const plain = await copyPostgres(compute.dataDir);
    const { password, username, pathname } = new URL(compute.uri);
    const login = { user: username, password, database: pathname.slice(1) };
    const wake = async () => {
      const time = await firstRow(compute.uri);
      await compute.suspend();
      return time;
    };
    const startPlain = async () => {
      const startedAt = performance.now();
      const stop = await plain.start();
      const starting = performance.now() - startedAt;
      const time = starting + (await firstRow({ ...login, host: plain.host, port: plain.port }));
      await stop();
      return time;
    };
    await wake();
    await startPlain();
    const [ours, baseline]: [number[], number[]] = [[], []];
    for (let count = 0; count < WAKES; count += 1) {
      ours.push(await wake());
      baseline.push(await startPlain());
    }
    const ratio = medianRatio(ours, baseline);
    return [
      {
        what: 'wake-up',
        ours: ms(median(ours)),
        baseline: `${ms(median(baseline))} started directly`,
        ratio,
        goal: `≤ ${GOAL} ×`,
        met: ratio <= GOAL,
        note: `${WAKES} starts; p95 ${ms(quantile(ours, 0.95))} and ${ms(quantile(baseline, 0.95))}`,
      },
    ];
  } finally {
    await compute.stop();
  }
}

/** Returns the milliseconds from connecting to the first row. */
async function firstRow(config: string | pg.ClientConfig): Promise<number> {
  const client = new pg.Client(config);
  const startedAt = performance.now();
  await client.connect();
  await client.query('select 1');
  const time = performance.now() - startedAt;
  await client.end();
  return time;
}
