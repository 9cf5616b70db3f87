/** Measures how soon the end of operations is noticed. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Disposable } from '../../src/base/disposable.ts';
import { OperationTracker } from '../../src/model/operations/operationTracker.ts';
import { RequestBudget } from '../../src/model/refresh/requestBudget.ts';
import { median, ms, type Result } from './result.ts';
import { computeId, operationId, operationRecord, projectId } from './sampleAccount.ts';
import { connectModel, startStubService, type Model, type StubService } from './stubService.ts';

const SECOND = 1_000;
const OPERATIONS = 40;

export async function measure(): Promise<readonly Result[]> {
  const service = await startStubService({ projects: 1, computesPerProject: OPERATIONS });
  try {
    return [await timeToNotice(service)];
  } finally {
    await service.stop();
  }
}

const memory = { get: () => undefined, update: async () => {} };

const onError = (error: unknown) => {
  throw error;
};

function follow(tracker: OperationTracker, index: number): void {
  const compute = { computeId: computeId(0, index), projectId: projectId(0) };
  tracker.follow('restart', compute, [operationRecord(operationId(0, index), 0, index, 'running')]);
}

/** Measures on the real clock how long the tracker takes to notice that an operation has ended. */
async function timeToNotice(service: StubService): Promise<Result> {
  const model = await connectModel(service);
  const tracker = new OperationTracker({ ...model, memory, onError, budget: new RequestBudget() });
  for (let index = 0; index < OPERATIONS; index += 1)
    await service.setState(0, index, { current_state: 'idle', pending_state: 'active' });
  for (let index = 0; index < OPERATIONS; index += 1) follow(tracker, index);
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
    met: times.length === OPERATIONS && time <= SECOND,
    note: `${OPERATIONS} operations that end over 4 s; longest ${ms(Math.max(...times))}`,
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
      if (times.length === OPERATIONS) all.resolve();
    },
  );
  for (let index = 0; index < OPERATIONS; index += 1) {
    await delay(100);
    endedAt.set(computeId(0, index), performance.now());
    await service.setState(0, index, { current_state: 'active' });
  }
  await Promise.race([all.promise, delay(10_000)]);
  subscription.dispose();
  return times;
}
