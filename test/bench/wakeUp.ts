/** From connecting to an idle compute to its first row, beside starting the same Postgres by hand. */
import pg from 'pg';
import { startCompute } from './compute.ts';
import { copyByHand } from './handmade.ts';
import { ms, type Result } from './result.ts';
import { median, medianRatio, quantile } from './stats.ts';

const WAKES = 100;
const GOAL = 1.5;

export async function measure(): Promise<readonly Result[]> {
  const compute = await startCompute();
  try {
    await firstRow(compute.uri); // Makes the data.
    await compute.suspend();
    const byHand = await copyByHand(compute.dataDir);
    const { password, username, pathname } = new URL(compute.uri);
    const login = { user: username, password, database: pathname.slice(1) };
    const wake = async () => {
      const time = await firstRow(compute.uri);
      await compute.suspend();
      return time;
    };
    const startByHand = async () => {
      const startedAt = performance.now();
      const stop = await byHand.start();
      const starting = performance.now() - startedAt;
      const time = starting + (await firstRow({ ...login, host: byHand.socketFolder }));
      await stop();
      return time;
    };
    await wake();
    await startByHand();
    const [ours, hands]: [number[], number[]] = [[], []];
    for (let count = 0; count < WAKES; count += 1) {
      ours.push(await wake());
      hands.push(await startByHand());
    }
    const ratio = medianRatio(ours, hands);
    return [
      {
        what: 'wake-up',
        ours: ms(median(ours)),
        beside: `${ms(median(hands))} by hand`,
        ratio,
        goal: `≤ ${GOAL} ×`,
        met: ratio <= GOAL,
        note: `${WAKES} wakes; p95 ${ms(quantile(ours, 0.95))} beside ${ms(quantile(hands, 0.95))}`,
      },
    ];
  } finally {
    await compute.stop();
  }
}

/** @returns milliseconds from connecting to the answer */
async function firstRow(config: string | pg.ClientConfig): Promise<number> {
  const client = new pg.Client(config);
  const startedAt = performance.now();
  await client.connect();
  await client.query('select 1');
  const time = performance.now() - startedAt;
  await client.end();
  return time;
}
