/** One background refresh of a large account in which little has changed, compared with bare fetch and JSON.parse. */
import type { InventoryEvent } from '../../src/model/inventory/inventory.ts';
import { ms, type Result } from './result.ts';
import { projectId } from './sampleAccount.ts';
import { mean } from './stats.ts';
import { bareGet, connectModel, startStubService, type Model, type StubService } from './stubService.ts';

const PROJECTS = 5_000;
const EXPANDED = 200;
const COMPUTES = 100;
const CHANGED = 5;
/** The most simultaneous requests that the specification allows. */
const CONCURRENCY = 6;
const ROUNDS = 30;
const WARM_UP = 3;
const GOAL = 1.2;

const expanded = Array.from({ length: EXPANDED }, (_, index) => projectId(index));

interface Refresh {
  /** Milliseconds in which the event loop was busy: the time that other extensions in the host have to wait. */
  readonly busy: number;
  readonly requests: number;
  readonly changes: readonly InventoryEvent[];
}

export async function measure(): Promise<readonly Result[]> {
  const service = await startStubService({ projects: PROJECTS, computesPerProject: COMPUTES });
  const model = await connectModel(service);
  const [refreshes, bare]: [Refresh[], number[]] = [[], []];
  try {
    await model.inventory.projects?.load();
    await model.inventory.loadComputesOf(expanded);
    for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
      await changeStates(service, round % 2 === 0 ? 'active' : 'idle');
      refreshes.push(await refresh(model));
      bare.push(await busyTime(() => fetchAll(service)));
    }
    return [resultOf(refreshes.slice(WARM_UP), bare.slice(WARM_UP), model.traffic.mostPending)];
  } finally {
    model.dispose();
    await service.stop();
  }
}

/** Compares means, so that each side bears its share of the garbage collection. */
function resultOf(refreshes: readonly Refresh[], bare: readonly number[], mostPending: number): Result {
  const isRight = refreshes.every(
    ({ requests, changes }) =>
      requests === EXPANDED && changes.length === CHANGED && changes.every(({ kind }) => kind === 'compute'),
  );
  const ours = mean(refreshes.map(({ busy }) => busy));
  const baseline = mean(bare);
  return {
    what: 'refresh of a large account',
    ours: ms(ours),
    baseline: `${ms(baseline)} bare fetch and JSON.parse`,
    ratio: ours / baseline,
    goal: `≤ ${GOAL} ×, ${EXPANDED} requests`,
    met: isRight && mostPending <= CONCURRENCY && ours / baseline <= GOAL,
    note: `busy time, mean of ${ROUNDS}; ${refreshes[0]?.requests} requests, at most ${mostPending} at once; ${refreshes[0]?.changes.length} events for ${CHANGED} changes in ${EXPANDED * COMPUTES} computes`,
  };
}

async function changeStates(service: StubService, state: string): Promise<void> {
  for (let project = 0; project < CHANGED; project += 1) {
    await service.setState(project, 1, { current_state: state });
  }
}

async function refresh({ inventory, traffic }: Model): Promise<Refresh> {
  const received: InventoryEvent[] = [];
  const subscription = inventory.onDidChange((changes) => received.push(...changes));
  const before = traffic.requests;
  const busy = await busyTime(() => inventory.refreshComputesOf(expanded));
  subscription.dispose();
  return { busy, requests: traffic.requests - before, changes: received };
}

async function fetchAll({ baseUrl }: StubService): Promise<void> {
  const remaining = [...expanded];
  const work = async () => {
    for (let id = remaining.pop(); id !== undefined; id = remaining.pop()) {
      await bareGet(`${baseUrl}/projects/${id}/endpoints`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

async function busyTime(work: () => Promise<void>): Promise<number> {
  const before = performance.eventLoopUtilization();
  await work();
  return performance.eventLoopUtilization(before).active;
}
