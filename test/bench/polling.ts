/** What operations cost while they run, and how soon their end is told. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Disposable } from '../../src/base/disposable.ts';
import { systemClock } from '../../src/base/clock.ts';
import { OperationTracker } from '../../src/model/operationTracker.ts';
import { computeId, projectId } from './account.ts';
import { startCanned, startModel, type Canned, type Model } from './canned.ts';
import { operationId, operationRecord } from './cannedRecords.ts';
import { ManualClock } from './manualClock.ts';
import { ms, type Result } from './result.ts';
import { median } from './stats.ts';

const COMPUTES = 100;
const TICKS = 5;
const SECOND = 1_000;
const LATENCY_OPERATIONS = 40;

export async function measure(): Promise<readonly Result[]> {
  const canned = await startCanned({ projects: 10, computesPerProject: COMPUTES });
  try {
    const results: Result[] = [];
    for (const [projects, operations] of [
      [1, 1],
      [1, 10],
      [1, 100],
      [10, 100],
    ] as const) {
      results.push(await requestsPerTick(canned, projects, operations));
    }
    results.push(await requestsWithoutOperations(canned), await timeToTell(canned));
    return results;
  } finally {
    await canned.stop();
  }
}

const memory = { get: () => undefined, update: async () => {} };

const onError = (error: unknown) => {
  throw error;
};

function follow(tracker: OperationTracker, project: number, index: number): void {
  const compute = { id: computeId(project, index), project_id: projectId(project) };
  tracker.follow('restart', compute, [
    operationRecord(operationId(project, index), project, index, 'running'),
  ]);
}

async function pend(canned: Canned, project: number, index: number): Promise<void> {
  await canned.set(project, index, { current_state: 'idle', pending_state: 'active' });
}

async function settle(canned: Canned, project: number, index: number): Promise<void> {
  await canned.set(project, index, { current_state: 'active' });
}

async function requestsPerTick(canned: Canned, projects: number, operations: number): Promise<Result> {
  const model = await startModel(canned);
  const clock = new ManualClock(() => model.traffic.underway > 0);
  const tracker = new OperationTracker({ ...model, memory, onError, clock, random: () => 0 });
  const places = Array.from(
    { length: operations },
    (_, index) => [index % projects, Math.floor(index / projects)] as const,
  );
  for (const [project, index] of places) await pend(canned, project, index);
  for (const [project, index] of places) follow(tracker, project, index);
  await clock.advance(0);
  const before = model.traffic.requests;
  for (let tick = 0; tick < TICKS; tick += 1) await clock.advance(SECOND);
  const perTick = (model.traffic.requests - before) / TICKS;
  tracker.dispose();
  model.dispose();
  for (const [project, index] of places) await settle(canned, project, index);
  return {
    what: `polling, ${operations} operation${operations === 1 ? '' : 's'} in ${projects} project${projects === 1 ? '' : 's'}`,
    ours: `${perTick} requests a tick`,
    beside: `${projects} project${projects === 1 ? '' : 's'}`,
    ratio: perTick / projects,
    goal: 'requests = projects',
    met: perTick === projects,
    note: `${TICKS} ticks of a second`,
  };
}

/** Nothing was ever pending, and all that was has ended. */
async function requestsWithoutOperations(canned: Canned): Promise<Result> {
  const model = await startModel(canned);
  const clock = new ManualClock(() => model.traffic.underway > 0);
  const tracker = new OperationTracker({ ...model, memory, onError, clock, random: () => 0 });
  const never = await clock.advance(3_600 * SECOND);
  await pend(canned, 0, 0);
  follow(tracker, 0, 0);
  await clock.advance(0);
  await settle(canned, 0, 0);
  await clock.advance(SECOND);
  const before = model.traffic.requests;
  const after = await clock.advance(3_600 * SECOND);
  const requests = model.traffic.requests - before + never + after;
  const hasEnded = tracker.pending.length === 0;
  tracker.dispose();
  model.dispose();
  return {
    what: 'polling, nothing pending',
    ours: `${requests} requests or timers`,
    beside: '',
    ratio: undefined,
    goal: '0',
    met: hasEnded && requests === 0,
    note: 'an hour before the first operation, an hour after its end',
  };
}

/** On the real clock: operations that end at any moment, until the tracker tells so. */
async function timeToTell(canned: Canned): Promise<Result> {
  const model = await startModel(canned);
  const tracker = new OperationTracker({ ...model, memory, onError, clock: systemClock });
  for (let index = 0; index < LATENCY_OPERATIONS; index += 1) await pend(canned, 1, index);
  for (let index = 0; index < LATENCY_OPERATIONS; index += 1) follow(tracker, 1, index);
  const times = await timesOfEnds(canned, tracker, model);
  tracker.dispose();
  model.dispose();
  const time = median(times);
  return {
    what: 'polling, end of an operation',
    ours: `${ms(time)} until it is told`,
    beside: '',
    ratio: undefined,
    goal: '≤ 1 s, median',
    met: times.length === LATENCY_OPERATIONS && time <= SECOND,
    note: `${LATENCY_OPERATIONS} operations that end over 4 s; longest ${ms(Math.max(...times))}`,
  };
}

async function timesOfEnds(canned: Canned, tracker: OperationTracker, model: Model): Promise<number[]> {
  const endedAt = new Map<string, number>();
  const times: number[] = [];
  const all = Promise.withResolvers<void>();
  const listening: Disposable = tracker.onDidEnd(({ change }) => {
    if (model.inventory.compute(change.projectId, change.computeId)?.current_state !== 'active') return;
    times.push(performance.now() - (endedAt.get(change.computeId) ?? Number.NaN));
    if (times.length === LATENCY_OPERATIONS) all.resolve();
  });
  for (let index = 0; index < LATENCY_OPERATIONS; index += 1) {
    await delay(100);
    endedAt.set(computeId(1, index), performance.now());
    await settle(canned, 1, index);
  }
  await Promise.race([all.promise, delay(10_000)]);
  listening.dispose();
  return times;
}
