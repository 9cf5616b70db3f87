/** One background refresh of a large account, most of which is as it was. */
import type { InventoryChange } from '../../src/model/inventory.ts';
import { projectId } from './account.ts';
import { bareGet, startCanned, startModel, type Canned, type Model } from './canned.ts';
import { ms, type Result } from './result.ts';
import { median, medianRatio } from './stats.ts';

const PROJECTS = 5_000;
const EXPANDED = 200;
const COMPUTES = 100;
const CHANGED = 5;
const AT_ONCE = 6;
const ROUNDS = 7;
const WARM_UP = 3;
const GOAL_MS = 50;

const expanded = Array.from({ length: EXPANDED }, (_, index) => projectId(index));

interface Refresh {
  readonly active: number;
  readonly requests: number;
  readonly changes: readonly InventoryChange[];
}

export async function measure(): Promise<readonly Result[]> {
  const canned = await startCanned({ projects: PROJECTS, computesPerProject: COMPUTES });
  try {
    const model = await startModel(canned);
    await model.inventory.projects?.allPages();
    await model.inventory.loadComputesOf(expanded);
    const [ours, bare, parsing]: [Refresh[], number[], number[]] = [[], [], []];
    for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
      for (let project = 0; project < CHANGED; project += 1) {
        await canned.set(project, 1, { current_state: round % 2 === 0 ? 'active' : 'idle' });
      }
      const refreshed = await refresh(model);
      const texts = await bareTexts(canned);
      if (round < WARM_UP) continue;
      ours.push(refreshed);
      bare.push(texts.active);
      parsing.push(timeToParse(texts.texts));
    }
    const { most } = model.traffic;
    model.dispose();
    return [resultOf(ours, bare, parsing, most)];
  } finally {
    await canned.stop();
  }
}

function resultOf(
  ours: readonly Refresh[],
  bare: readonly number[],
  parsing: readonly number[],
  most: number,
) {
  const active = ours.map((refreshed) => refreshed.active);
  const beyond = median(active.map((time, index) => time - (parsing[index] ?? 0)));
  const isRight = ours.every(
    ({ requests, changes }) =>
      requests === EXPANDED && changes.length === CHANGED && changes.every(({ kind }) => kind === 'compute'),
  );
  return {
    what: 'big account, one refresh',
    ours: `${ms(beyond)} beyond JSON.parse`,
    beside: `${ms(median(bare.map((time, index) => time - (parsing[index] ?? 0))))} bare fetch`,
    ratio: medianRatio(active, bare),
    goal: `< ${GOAL_MS} ms, ${EXPANDED} requests, ${AT_ONCE} at once`,
    met: isRight && most <= AT_ONCE && beyond < GOAL_MS,
    note: `${ours[0]?.requests} requests, at most ${most} at once; ${ours[0]?.changes.length} events for ${CHANGED} changed of ${EXPANDED * COMPUTES}; JSON.parse ${ms(median(parsing))}`,
  };
}

/** Milliseconds in which the event loop had work, which is the time others in the extension host had to wait. */
async function activeTime(work: () => Promise<void>): Promise<number> {
  globalThis.gc?.();
  const before = performance.eventLoopUtilization();
  await work();
  return performance.eventLoopUtilization(before).active;
}

async function refresh({ inventory, traffic }: Model): Promise<Refresh> {
  const changes: InventoryChange[] = [];
  const listening = inventory.onDidChange((told) => changes.push(...told));
  const requests = traffic.requests;
  const active = await activeTime(() => inventory.refreshComputesOf(expanded));
  listening.dispose();
  return { active, requests: traffic.requests - requests, changes };
}

async function bareTexts({ baseUrl }: Canned): Promise<{ active: number; texts: readonly unknown[] }> {
  const texts: unknown[] = [];
  const left = [...expanded];
  const work = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      texts.push(await bareGet(`${baseUrl}/projects/${id}/endpoints`));
    }
  };
  const active = await activeTime(
    async () => void (await Promise.all(Array.from({ length: AT_ONCE }, work))),
  );
  return { active, texts };
}

function timeToParse(values: readonly unknown[]): number {
  const texts = values.map((value) => JSON.stringify(value));
  const startedAt = performance.now();
  for (const text of texts) JSON.parse(text);
  return performance.now() - startedAt;
}
