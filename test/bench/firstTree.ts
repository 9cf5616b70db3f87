/** The first load of a large account: every project, a page at a time, beside the same requests made bare. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Fetch } from '../../src/api/attempt.ts';
import { PROJECTS_PER_PAGE } from '../../src/api/client.ts';
import { startLocalService } from '../helpers/localService.ts';
import { account } from './account.ts';
import { bareGet, KEY, startCanned, startModel, type Service } from './canned.ts';
import { ms, type Result } from './result.ts';
import { median, medianRatio } from './stats.ts';

const PROJECTS = 5_000;
const REQUESTS = Math.ceil(PROJECTS / PROJECTS_PER_PAGE);
const ROUNDS = 31;
const WARM_UP = 3;
const GOAL = 1.3;

interface Load {
  readonly first: number;
  readonly all: number;
  readonly requests: number;
  readonly requestsForFirst: number;
  readonly projects: number;
}

export async function measure(): Promise<readonly Result[]> {
  const canned = await startCanned({ projects: PROJECTS, computesPerProject: 0 });
  const folder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-bench-'));
  const projects = path.join(folder, 'projects.json');
  await writeFile(projects, JSON.stringify(account({ projects: PROJECTS, computesPerProject: 0 })));
  const local = await startLocalService({ key: KEY, postgres: false, args: ['--projects', projects] });
  try {
    return [
      await compare('first tree, local service', local),
      await compare('first tree, answers in no time', canned),
      await compare('first tree, the same by fetch', canned, globalThis.fetch),
    ];
  } finally {
    await local.stop();
    await canned.stop();
    await rm(folder, { recursive: true });
  }
}

/** @param fetch as services elsewhere are reached, instead of this machine's own */
async function compare(what: string, service: Service, fetch?: Fetch): Promise<Result> {
  const [ours, bare]: [Load[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
    const load = await loadProjects(service, fetch);
    const time = await bareRequests(service);
    if (round < WARM_UP) continue;
    ours.push(load);
    bare.push(time);
  }
  const isRight = ours.every(
    (load) => load.requests === REQUESTS && load.requestsForFirst <= 2 && load.projects === PROJECTS,
  );
  const all = ours.map((load) => load.all);
  const ratio = medianRatio(all, bare);
  return {
    what,
    ours: ms(median(all)),
    beside: `${ms(median(bare))} bare requests`,
    ratio,
    goal: `≤ ${GOAL} ×, ${REQUESTS} requests`,
    met: isRight && ratio <= GOAL,
    note: `${PROJECTS} projects, ${ours[0]?.requests} requests; first rows after ${ms(median(ours.map((load) => load.first)))}`,
  };
}

async function loadProjects(service: Service, fetch?: Fetch): Promise<Load> {
  const model = await startModel(service, fetch);
  try {
    const startedAt = performance.now();
    const all = model.inventory.projects?.allPages();
    await model.inventory.lookAtProjects();
    const first = performance.now() - startedAt;
    const requestsForFirst = model.traffic.requests;
    await all;
    const projects = model.inventory.projects?.entries.size ?? 0;
    return {
      first,
      all: performance.now() - startedAt,
      requests: model.traffic.requests,
      requestsForFirst,
      projects,
    };
  } finally {
    model.dispose();
  }
}

async function bareRequests({ baseUrl }: Service): Promise<number> {
  const startedAt = performance.now();
  let cursor = '';
  for (let request = 0; request < REQUESTS; request += 1) {
    const url = `${baseUrl}/projects?limit=${PROJECTS_PER_PAGE}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const page = (await bareGet(url)) as { readonly pagination: { readonly cursor: string } };
    cursor = page.pagination.cursor;
  }
  return performance.now() - startedAt;
}
