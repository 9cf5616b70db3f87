/** One background refresh of a large account in which little has changed, compared with bare fetch and JSON.parse. */
import type { InventoryEvent } from '../../src/extension/inventory/nodes.ts';
import { measureInTurns, ms, type Pairs, type Result } from './result.ts';
import { projectId } from './sampleAccount.ts';
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
  const refreshes: Refresh[] = [];
  let round = 0;
  try {
    await model.inventory.projects?.load();
    await model.inventory.loadComputesOf(expanded);
    const pairs = await measureInTurns(ROUNDS, WARM_UP, {
      ours: async () => {
        await changeStates(service, (round += 1) % 2 === 1 ? 'active' : 'idle');
        const refreshed = await refresh(model);
        refreshes.push(refreshed);
        return refreshed.busy;
      },
      baseline: () => busyTime(() => fetchAll(service)),
    });
    return [resultOf(pairs, refreshes, model.traffic.mostPending)];
  } finally {
    model.dispose();
    await service.stop();
  }
}

/** Compares means, so that each side bears its share of the garbage collection. */
function resultOf(pairs: Pairs, refreshes: readonly Refresh[], mostPending: number): Result {
  const isRight = refreshes.every(
    ({ requests, changes }) =>
      requests === EXPANDED && changes.length === CHANGED && changes.every(({ kind }) => kind === 'compute'),
  );
  const [ours, baseline] = [mean(pairs.ours), mean(pairs.baseline)];
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

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

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
