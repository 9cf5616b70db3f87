/** What stays on the heap after a day's refreshes and polls: nothing. */
import { BackgroundRefresh } from '../../src/model/backgroundRefresh.ts';
import { OperationTracker } from '../../src/model/operationTracker.ts';
import { computeId, projectId } from './account.ts';
import { startCanned, startModel } from './canned.ts';
import { operationId, operationRecord } from './cannedRecords.ts';
import { ManualClock } from './manualClock.ts';
import { kilobytes, type Result } from './result.ts';

const REFRESHES = 10_000;
const SETTLED_AFTER = 100;
const HALFWAY = 5_000;
const INTERVAL = 60_000;
const CHANGE_EVERY = 20;
const GOAL_BYTES_PER_REFRESH = 40;

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
    let [heap, halfway] = [0, 0];
    refresh.setWanted(true);
    for (let count = 1; count <= REFRESHES; count += 1) {
      // Every so often a compute changes, and an operation is followed to its end.
      if (count % CHANGE_EVERY === 0) {
        await canned.set(0, 1, { current_state: (count / CHANGE_EVERY) % 2 === 0 ? 'active' : 'idle' });
        const compute = { id: computeId(0, 1), project_id: projectId(0) };
        tracker.follow('restart', compute, [operationRecord(operationId(0, 1), 0, 1, 'running')]);
      }
      await clock.advance(INTERVAL);
      if (count === SETTLED_AFTER) heap = await heapUsed();
      if (count === HALFWAY) halfway = await heapUsed();
    }
    const end = await heapUsed();
    const perRefresh = {
      all: (end - heap) / (REFRESHES - SETTLED_AFTER),
      later: (end - halfway) / (REFRESHES - HALFWAY),
    };
    const { requests } = model.traffic;
    return [
      {
        what: 'memory, 10,000 refreshes',
        ours: `${kilobytes(end)} kept`,
        beside: `${kilobytes(heap)} after ${SETTLED_AFTER}`,
        ratio: end / heap,
        goal: `≤ ${GOAL_BYTES_PER_REFRESH} bytes a refresh`,
        met:
          Math.max(perRefresh.all, perRefresh.later) <= GOAL_BYTES_PER_REFRESH &&
          tracker.pending.length === 0,
        note: `${perRefresh.all.toFixed(1)} bytes a refresh, ${perRefresh.later.toFixed(1)} in the second half; ${requests} requests, ${REFRESHES / CHANGE_EVERY} operations followed`,
      },
    ];
  } finally {
    refresh.dispose();
    tracker.dispose();
    model.dispose();
    await canned.stop();
  }
}

/** After everything that can be let go was; finalisers need a turn of their own. */
async function heapUsed(): Promise<number> {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('Node must be started with --expose-gc');
  for (let turn = 0; turn < 6; turn += 1) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return process.memoryUsage().heapUsed;
}
