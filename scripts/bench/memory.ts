/** Measures whether the refreshes and polls of a week leave anything in memory. */
import { BackgroundRefresh } from '../../src/extension/inventory/refresh/backgroundRefresh.ts';
import { RequestBudget } from '../../src/extension/inventory/refresh/requestBudget.ts';
import { OperationTracker } from '../../src/extension/operations/operationTracker.ts';
import { FakeClock } from '../../test/helpers/fakeClock.ts';
import { settledBytes } from './heap.ts';
import { kilobytes, median, type Result } from './result.ts';
import { computeId, operationId, operationRecord, projectId } from './sampleAccount.ts';
import { connectModel, startStubService } from './stubService.ts';

const REFRESHES = 10_000;
const SETTLED_AFTER = 100;
const SAMPLE_EVERY = 1_100;
const INTERVAL = 60_000;
const CHANGE_EVERY = 20;
/** Turns of the event loop. */
const QUIET_TURNS = 10;
/** Less than the size of the smallest object. */
const GOAL_BYTES_PER_REFRESH = 12;

export async function measure(): Promise<readonly Result[]> {
  const service = await startStubService({ projects: 20, computesPerProject: 20 });
  const model = await connectModel(service);
  const clock = new FakeClock();
  const onError = (error: unknown) => {
    throw error;
  };
  const memory = { get: () => undefined, update: async () => {} };
  const budget = new RequestBudget({ clock });
  const tracker = new OperationTracker({ ...model, memory, onError, budget, clock, random: () => 0 });
  const refresh = new BackgroundRefresh({
    inventory: model.inventory,
    expanded: () => [projectId(0)],
    polledElsewhere: () => tracker.projects,
    interval: () => INTERVAL,
    onError,
    budget,
    clock,
    random: () => 0,
  });
  try {
    await model.inventory.projects?.load();
    const samples: number[] = [];
    refresh.setVisible(true);
    for (let count = 1; count <= REFRESHES; count += 1) {
      // From time to time, a compute changes and an operation runs to its end.
      if (count % CHANGE_EVERY === 0) {
        await service.setState(0, 1, { current_state: (count / CHANGE_EVERY) % 2 === 0 ? 'active' : 'idle' });
        const compute = { computeId: computeId(0, 1), projectId: projectId(0) };
        tracker.follow('restart', compute, [operationRecord(operationId(0, 1), 0, 1, 'running')]);
      }
      await advance(clock, INTERVAL, () => model.traffic.pending > 0);
      if (count % SAMPLE_EVERY === SETTLED_AFTER) samples.push(await settledBytes());
    }
    return [resultOf(samples, model.traffic.requests, tracker.pending.length)];
  } finally {
    refresh.dispose();
    tracker.dispose();
    model.dispose();
    await service.stop();
  }
}

/** Runs the timers that are due in this time, and waits after each until the requests that it started have ended. */
async function advance(clock: FakeClock, milliseconds: number, isBusy: () => boolean): Promise<void> {
  let left = milliseconds;
  for (let [wait] = clock.waits; wait !== undefined && wait <= left; [wait] = clock.waits) {
    left -= clock.next();
    // A reply may start the next request.
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isBusy()) quiet = 0;
    }
  }
  clock.pass(left);
}

/**
 * Returns the median of the slopes between all pairs of samples. A leak affects all of them, a cache that grows once only
 * some.
 */
function bytesPerRefresh(samples: readonly number[]): number {
  const slopes = samples.flatMap((before, from) =>
    samples.slice(from + 1).map((after, index) => (after - before) / ((index + 1) * SAMPLE_EVERY)),
  );
  return median(slopes);
}

function resultOf(samples: readonly number[], requests: number, pending: number): Result {
  const [first = 0, last = 0] = [samples[0], samples.at(-1)];
  const perRefresh = bytesPerRefresh(samples);
  return {
    what: 'memory, 10,000 refreshes',
    ours: kilobytes(last),
    baseline: `${kilobytes(first)} after ${SETTLED_AFTER}`,
    ratio: last / first,
    goal: `≤ ${GOAL_BYTES_PER_REFRESH} bytes a refresh, no pending operation`,
    met: perRefresh <= GOAL_BYTES_PER_REFRESH && pending === 0,
    note: `${perRefresh.toFixed(1)} bytes a refresh in ${samples.length} samples; ${requests} requests, ${REFRESHES / CHANGE_EVERY} operations, ${pending} pending`,
  };
}
