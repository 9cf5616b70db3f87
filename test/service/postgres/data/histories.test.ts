/**
 * Random histories: at a random moment, by time or by position, a branch has exactly the rows that were committed before it.
 * Its name has the seeds; `SEED` begins with another, and `HISTORIES` runs another number of them.
 */
import assert from 'node:assert/strict';
import { roundsOf } from '../../../helpers/fullRun.ts';
import { RANDOM_SEED } from '../../../helpers/seed.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';
import { RandomHistory } from './randomHistory.ts';

const ROUNDS = Number(process.env['HISTORIES'] ?? roundsOf(25, 200));
const STEPS = 10;
/** Run at the same time: each waits for its servers most of the time. */
const WORKERS = 4;

describe(`${ROUNDS} random histories, with the seeds from ${RANDOM_SEED}`, () => {
  let service: ControlPlane;
  before(async () => (service = await startControlPlane()));
  after(() => service.close());

  it('have the rows that were committed before a random moment', async () => {
    const seeds = Array.from({ length: ROUNDS }, (_, index) => RANDOM_SEED + index);
    const failures: string[] = [];
    const work = async () => {
      for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
        const history = new RandomHistory(service, seed);
        await history.run(STEPS).catch((error: unknown) => {
          const reason = error instanceof Error ? error.stack : String(error);
          failures.push(`SEED=${seed} HISTORIES=1: ${history.steps.join(', ')}\n${reason}`);
        });
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    assert.deepEqual(failures, [], failures.join('\n'));
  });
});
