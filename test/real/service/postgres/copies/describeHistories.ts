/** A suite of random histories: at a random moment, by time or by position, a branch has exactly what SQL said then. */
import assert from 'node:assert/strict';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';
import { RandomHistory } from './randomHistory.ts';

const STEPS = 10;
/** Run at the same time: each waits for its servers most of the time. */
const WORKERS = 4;

/** @param first the seed of the first one; the others count on from it */
export function describeHistories(first: number, count: number): void {
  describe(`${count} random histories, with the seeds from ${first}`, () => {
    let service: ControlPlane;
    before(async () => (service = await startControlPlane()));

    it('are the same by time and by position as what SQL said then', async () => {
      const seeds = Array.from({ length: count }, (_, index) => first + index);
      const failures: string[] = [];
      const totals = { done: 0, failed: 0, lsn: 0, time: 0, unclear: 0, undo: 0 };
      const work = async () => {
        for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
          const history = new RandomHistory(service, seed);
          await history.run(STEPS).catch((error: unknown) => {
            const reason = error instanceof Error ? error.stack : String(error);
            failures.push(`SEED=${seed} HISTORIES=1: ${history.steps.join(', ')}\n${reason}`);
          });
          for (const [name, number] of Object.entries({ ...history.statements, ...history.checks }))
            totals[name as keyof typeof totals] += number;
        }
      };
      await Promise.all(Array.from({ length: WORKERS }, work));
      assert.deepEqual(failures, [], failures.join('\n'));
      assert(totals.time > 0 && totals.lsn > 0, JSON.stringify(totals));
      // Statements that fail change nothing.
      assert(totals.done > totals.failed, JSON.stringify(totals));
    });
  });
}
