/** What stays on the heap after a day's refreshes and polls: nothing. */
import { BackgroundRefresh } from '../../src/model/backgroundRefresh.ts';
import { OperationTracker } from '../../src/model/operationTracker.ts';
import { computeId, projectId } from './account.ts';
import { startCanned, startModel } from './canned.ts';
import { operationId, operationRecord } from './cannedRecords.ts';
import { bytesKept } from './keptValues.ts';
import { ManualClock } from './manualClock.ts';
import { kilobytes, type Result } from './result.ts';
import { median } from './stats.ts';

const REFRESHES = 10_000;
const SETTLED_AFTER = 100;
const SAMPLE_EVERY = 1_100;
const INTERVAL = 60_000;
const CHANGE_EVERY = 20;
/** Less than the smallest object takes. */
const GOAL_BYTES_PER_REFRESH = 12;
/** Some caches of V8 and of fetch grow once and then no more. */
const GOAL_GROWN_ONCE = 400 * 1024;

export async function measure(): Promise<readonly Result[]> {
  const canned = await startCanned({ projects: 20, computesPerProject: 20 });
  const model = await startModel(canned);
  const clock = new ManualClock(() => model.traffic.underway > 0);
  const onError = (error: unknown) => {
    throw error;
  };
  const memory = { get: () => undefined, update: async () => {} };
  const tracker = new OperationTracker({ ...model, memory, onError, clock, random: () => 0 });
  const refresh = new BackgroundRefresh({
    inventory: model.inventory,
    shown: () => [projectId(0)],
    followed: () => tracker.projects,
    interval: () => INTERVAL,
    onError,
    clock,
    random: () => 0,
  });
  try {
    await model.inventory.projects?.allPages();
    const kept: number[] = [];
    refresh.setWanted(true);
    for (let count = 1; count <= REFRESHES; count += 1) {
      // Every so often a compute changes, and an operation is followed to its end.
      if (count % CHANGE_EVERY === 0) {
        await canned.set(0, 1, { current_state: (count / CHANGE_EVERY) % 2 === 0 ? 'active' : 'idle' });
        const compute = { id: computeId(0, 1), project_id: projectId(0) };
        tracker.follow('restart', compute, [operationRecord(operationId(0, 1), 0, 1, 'running')]);
      }
      await clock.advance(INTERVAL);
      if (count % SAMPLE_EVERY === SETTLED_AFTER) kept.push(await settled());
    }
    return [resultOf(kept, model.traffic.requests, tracker.pending.length)];
  } finally {
    refresh.dispose();
    tracker.dispose();
    model.dispose();
    await canned.stop();
  }
}

/**
 * The median of the slopes between any two samples: a leak gives each of them its own, a cache that fills once or a table
 * that grows and shrinks only some.
 */
function bytesPerRefresh(kept: readonly number[]): number {
  const slopes = kept.flatMap((before, from) =>
    kept.slice(from + 1).map((after, index) => (after - before) / ((index + 1) * SAMPLE_EVERY)),
  );
  return median(slopes);
}

function resultOf(kept: readonly number[], requests: number, pending: number): Result {
  const [first = 0, last = 0] = [kept[0], kept.at(-1)];
  const perRefresh = bytesPerRefresh(kept);
  const isFlat = perRefresh <= GOAL_BYTES_PER_REFRESH && last - first <= GOAL_GROWN_ONCE;
  return {
    what: 'memory, 10,000 refreshes',
    ours: `${kilobytes(last)} kept`,
    beside: `${kilobytes(first)} after ${SETTLED_AFTER}`,
    ratio: last / first,
    goal: `≤ ${GOAL_BYTES_PER_REFRESH} bytes a refresh`,
    met: isFlat && pending === 0,
    note: `${perRefresh.toFixed(1)} bytes a refresh, by ${kept.length} samples; ${requests} requests, ${REFRESHES / CHANGE_EVERY} operations followed`,
  };
}

/** Twice the half second after which fetch looks through its timers: the compressed day ends in the middle of one. */
const TIMERS_LET_GO = 1_000;

/** After everything that can be let go was; finalisers need a turn of their own. */
async function settled(): Promise<number> {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('Node must be started with --expose-gc');
  await new Promise((resolve) => setTimeout(resolve, TIMERS_LET_GO));
  for (let turn = 0; turn < 6; turn += 1) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return await bytesKept();
}
