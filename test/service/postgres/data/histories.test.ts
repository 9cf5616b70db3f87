/**
 * Random histories: at a random moment, by time or by position, a branch has exactly the rows that were committed before it.
 * Its name has the seeds; `SEED` begins with another, and `HISTORIES` runs another number of them.
 */
import assert from 'node:assert/strict';
import { roundsOf } from '../../../helpers/fullRun.ts';
import { RANDOM_SEED } from '../../../helpers/seed.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';
import { RandomHistory } from './randomHistory.ts';

const ROUNDS = Number(process.env['HISTORIES'] ?? roundsOf(10, 200));
const STEPS = 10;
/** Run at the same time: each waits for its servers most of the time. */
const WORKERS = 4;

describe(`${ROUNDS} random histories, with the seeds from ${RANDOM_SEED}`, () => {
  let service: ControlPlane;
  before(async () => (service = await startControlPlane()));
  after(() => service.close());

  it('are the same by time and by position as what SQL said then', async () => {
    const seeds = Array.from({ length: ROUNDS }, (_, index) => RANDOM_SEED + index);
    const failures: string[] = [];
    const totals = { done: 0, failed: 0, lsn: 0, time: 0, unclear: 0, undo: 0 };
    const work = async () => {
      for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
        const history = new RandomHistory(service, seed);
        await history.run(STEPS).catch((error: unknown) => {
          const reason = error instanceof Error ? error.stack : String(error);
          failures.push(`SEED=${seed} HISTORIES=1: ${history.steps.join(', ')}\n${reason}`);
        });
        for (const [name, count] of Object.entries({ ...history.statements, ...history.checks }))
          totals[name as keyof typeof totals] += count;
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    assert.deepEqual(failures, [], failures.join('\n'));
    assert(totals.time > 0 && totals.lsn > 0, JSON.stringify(totals));
    // Statements that fail change nothing.
    assert(totals.done > totals.failed, JSON.stringify(totals));
  });
});
