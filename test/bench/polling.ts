/** Counts the requests for pending operations, and measures how soon their end is noticed. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Disposable } from '../../src/base/disposable.ts';
import { OperationTracker } from '../../src/model/operations/operationTracker.ts';
import { RequestBudget } from '../../src/model/refresh/requestBudget.ts';
import { ManualClock } from './manualClock.ts';
import { ms, type Result } from './result.ts';
import { computeId, operationId, operationRecord, projectId } from './sampleAccount.ts';
import { median } from './stats.ts';
import { connectModel, startStubService, type Model, type StubService } from './stubService.ts';

const COMPUTES = 100;
const TICKS = 5;
const SECOND = 1_000;
const LATENCY_OPERATIONS = 40;

export async function measure(): Promise<readonly Result[]> {
  const service = await startStubService({ projects: 10, computesPerProject: COMPUTES });
  try {
    const results: Result[] = [];
    for (const [projects, operations] of [
      [1, 1],
      [1, 10],
      [1, 100],
      [10, 100],
    ] as const) {
      results.push(await requestsPerTick(service, projects, operations));
    }
    results.push(await requestsWithoutOperations(service), await timeToNotice(service));
    return results;
  } finally {
    await service.stop();
  }
}

const memory = { get: () => undefined, update: async () => {} };

const onError = (error: unknown) => {
  throw error;
};

function follow(tracker: OperationTracker, project: number, index: number): void {
  const compute = { computeId: computeId(project, index), projectId: projectId(project) };
  tracker.follow('restart', compute, [
    operationRecord(operationId(project, index), project, index, 'running'),
  ]);
}

async function setPending(service: StubService, project: number, index: number): Promise<void> {
  await service.setState(project, index, { current_state: 'idle', pending_state: 'active' });
}

async function setSettled(service: StubService, project: number, index: number): Promise<void> {
  await service.setState(project, index, { current_state: 'active' });
}

async function requestsPerTick(service: StubService, projects: number, operations: number): Promise<Result> {
  const model = await connectModel(service);
  const clock = new ManualClock(() => model.traffic.pending > 0);
  const tracker = new OperationTracker({
    ...model,
    memory,
    onError,
    budget: new RequestBudget({ clock }),
    clock,
    random: () => 0,
  });
  const places = Array.from(
    { length: operations },
    (_, index) => [index % projects, Math.floor(index / projects)] as const,
  );
  for (const [project, index] of places) await setPending(service, project, index);
  for (const [project, index] of places) follow(tracker, project, index);
  await clock.advance(0);
  const before = model.traffic.requests;
  for (let tick = 0; tick < TICKS; tick += 1) await clock.advance(SECOND);
  const perTick = (model.traffic.requests - before) / TICKS;
  tracker.dispose();
  model.dispose();
  for (const [project, index] of places) await setSettled(service, project, index);
  return {
    what: `polling, ${operations} operation${operations === 1 ? '' : 's'} in ${projects} project${projects === 1 ? '' : 's'}`,
    ours: `${perTick} requests a tick`,
    baseline: `${projects} project${projects === 1 ? '' : 's'}`,
    ratio: perTick / projects,
    goal: 'requests = projects',
    met: perTick === projects,
    note: `${TICKS} ticks of a second`,
  };
}

/** Counts requests and timers before the first operation and after the last one has ended. */
async function requestsWithoutOperations(service: StubService): Promise<Result> {
  const model = await connectModel(service);
  const clock = new ManualClock(() => model.traffic.pending > 0);
  const tracker = new OperationTracker({
    ...model,
    memory,
    onError,
    budget: new RequestBudget({ clock }),
    clock,
    random: () => 0,
  });
  const never = await clock.advance(3_600 * SECOND);
  await setPending(service, 0, 0);
  follow(tracker, 0, 0);
  await clock.advance(0);
  await setSettled(service, 0, 0);
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
    baseline: '',
    ratio: undefined,
    goal: '0',
    met: hasEnded && requests === 0,
    note: 'an hour before the first operation, an hour after its end',
  };
}

/** Measures on the real clock how long the tracker takes to notice that an operation has ended. */
async function timeToNotice(service: StubService): Promise<Result> {
  const model = await connectModel(service);
  const tracker = new OperationTracker({ ...model, memory, onError, budget: new RequestBudget() });
  for (let index = 0; index < LATENCY_OPERATIONS; index += 1) await setPending(service, 1, index);
  for (let index = 0; index < LATENCY_OPERATIONS; index += 1) follow(tracker, 1, index);
  const times = await noticeTimes(service, tracker, model);
  tracker.dispose();
  model.dispose();
  const time = median(times);
  return {
    what: 'polling, end of an operation',
    ours: `${ms(time)} until it is noticed`,
    baseline: '',
    ratio: undefined,
    goal: '≤ 1 s, median',
    met: times.length === LATENCY_OPERATIONS && time <= SECOND,
    note: `${LATENCY_OPERATIONS} operations that end over 4 s; longest ${ms(Math.max(...times))}`,
  };
}

async function noticeTimes(service: StubService, tracker: OperationTracker, model: Model): Promise<number[]> {
  const endedAt = new Map<string, number>();
  const times: number[] = [];
  const all = Promise.withResolvers<void>();
  const subscription: Disposable = tracker.onDidEnd(
    ({ change: { projectId: project, computeId: id = '' } }) => {
      if (model.inventory.compute(project, id)?.current_state !== 'active') return;
      times.push(performance.now() - (endedAt.get(id) ?? Number.NaN));
      if (times.length === LATENCY_OPERATIONS) all.resolve();
    },
  );
  for (let index = 0; index < LATENCY_OPERATIONS; index += 1) {
    await delay(100);
    endedAt.set(computeId(1, index), performance.now());
    await setSettled(service, 1, index);
  }
  await Promise.race([all.promise, delay(10_000)]);
  subscription.dispose();
  return times;
}
