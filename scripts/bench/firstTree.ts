/** Loads all projects of a large account, compared with the same requests without the model. */
import { PROJECTS_PER_PAGE } from '../../src/api/paths.ts';
import { comparison, measureInTurns, median, medianRatio, ms, timeOf, type Result } from './result.ts';
import { bareGet, connectModel, startStubService, type StubService } from './stubService.ts';

const PROJECTS = 5_000;
const REQUESTS = Math.ceil(PROJECTS / PROJECTS_PER_PAGE);
const ROUNDS = 31;
const WARM_UP = 3;
const GOAL = 2.5;

/** Times in milliseconds. */
interface Load {
  readonly first: number;
  readonly all: number;
  readonly requestsForFirst: number;
  readonly requests: number;
  readonly projects: number;
}

export async function measure(): Promise<readonly Result[]> {
  const service = await startStubService({ projects: PROJECTS, computesPerProject: 0 });
  const loads: Load[] = [];
  try {
    const pairs = await measureInTurns(ROUNDS, WARM_UP, {
      ours: async () => {
        const load = await loadProjects(service);
        loads.push(load);
        return load.all;
      },
      baseline: () => timeOf(() => sendBareRequests(service)),
    });
    const isComplete = loads.every(
      (load) => load.requests === REQUESTS && load.requestsForFirst <= 2 && load.projects === PROJECTS,
    );
    return [
      comparison(pairs, {
        what: 'first tree',
        unit: ms,
        baseline: 'bare requests',
        goal: `≤ ${GOAL} ×, ${REQUESTS} requests`,
        met: isComplete && medianRatio(pairs) <= GOAL,
        note: `${PROJECTS} projects, ${loads[0]?.requests} requests; first rows after ${ms(median(loads.slice(WARM_UP).map((load) => load.first)))}`,
      }),
    ];
  } finally {
    await service.stop();
  }
}

async function loadProjects(service: StubService): Promise<Load> {
  const model = await connectModel(service);
  const { inventory, traffic } = model;
  try {
    const startedAt = performance.now();
    const all = inventory.projects?.load();
    await inventory.ensureProjects();
    const first = performance.now() - startedAt;
    const requestsForFirst = traffic.requests;
    await all;
    return {
      first,
      all: performance.now() - startedAt,
      requestsForFirst,
      requests: traffic.requests,
      projects: inventory.projects?.entries.size ?? 0,
    };
  } finally {
    model.dispose();
  }
}

/** One page after the other. */
async function sendBareRequests({ baseUrl }: StubService): Promise<void> {
  let cursor = '';
  for (let request = 0; request < REQUESTS; request += 1) {
    const url = `${baseUrl}/projects?limit=${PROJECTS_PER_PAGE}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const page = (await bareGet(url)) as { readonly pagination: { readonly cursor: string } };
    cursor = page.pagination.cursor;
  }
}
