/** One background refresh of a large account, most of which is as it was. */
import type { Fetch } from '../../src/api/attempt.ts';
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
const ROUNDS = 15;
const WARM_UP = 3;
const GOAL_MS = 50;

const expanded = Array.from({ length: EXPANDED }, (_, index) => projectId(index));

interface Refresh {
  readonly active: number;
  readonly parsing: Parsing;
  readonly requests: number;
  readonly changes: readonly InventoryChange[];
}

export async function measure(): Promise<readonly Result[]> {
  return [
    await refreshes('big account, one refresh'),
    await refreshes('big account, the same by fetch', globalThis.fetch),
  ];
}

/** @param fetch as services elsewhere are reached, instead of this machine's own */
async function refreshes(what: string, fetch?: Fetch): Promise<Result> {
  const canned = await startCanned({ projects: PROJECTS, computesPerProject: COMPUTES });
  try {
    const model = await startModel(canned, fetch);
    await model.inventory.projects?.allPages();
    await model.inventory.loadComputesOf(expanded);
    const [ours, bare, parsing]: [Refresh[], number[], number[]] = [[], [], []];
    for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
      for (let project = 0; project < CHANGED; project += 1) {
        await canned.set(project, 1, { current_state: round % 2 === 0 ? 'active' : 'idle' });
      }
      const refreshed = await refresh(model);
      const fetched = await bareFetch(canned);
      if (round < WARM_UP) continue;
      ours.push(refreshed);
      bare.push(fetched.active);
      parsing.push(fetched.parsing.milliseconds);
    }
    const { most } = model.traffic;
    model.dispose();
    return resultOf(what, ours, bare, parsing, most);
  } finally {
    await canned.stop();
  }
}

/** Less only what was parsed: a reply that needed no parsing has saved nothing but its own time. */
function resultOf(
  what: string,
  ours: readonly Refresh[],
  bare: readonly number[],
  parsing: readonly number[],
  most: number,
) {
  const active = ours.map((refreshed) => refreshed.active);
  const beyond = median(ours.map((refreshed) => refreshed.active - refreshed.parsing.milliseconds));
  const isRight = ours.every(
    ({ requests, changes }) =>
      requests === EXPANDED && changes.length === CHANGED && changes.every(({ kind }) => kind === 'compute'),
  );
  const [one] = ours;
  return {
    what,
    ours: `${ms(beyond)} beyond its JSON.parse`,
    beside: `${ms(median(bare.map((time, index) => time - (parsing[index] ?? 0))))} bare fetch, ${ms(median(parsing))} JSON.parse`,
    ratio: medianRatio(active, bare),
    goal: `< ${GOAL_MS} ms, ${EXPANDED} requests, ${AT_ONCE} at once`,
    met: isRight && most <= AT_ONCE && beyond < GOAL_MS,
    note: `${one?.requests} requests, at most ${most} at once; ${one?.changes.length} events for ${CHANGED} changed of ${EXPANDED * COMPUTES}; ${one?.parsing.texts} replies parsed, the others were byte for byte the last ones`,
  };
}

/** Milliseconds in which the event loop had work, which is the time others in the extension host had to wait. */
async function activeTime(work: () => Promise<void>): Promise<number> {
  globalThis.gc?.();
  const before = performance.eventLoopUtilization();
  await work();
  return performance.eventLoopUtilization(before).active;
}

interface Parsing {
  texts: number;
  milliseconds: number;
}

/** Tells what `JSON.parse` took of the work, by the one that everybody calls. */
async function whileParsing(work: () => Promise<void>): Promise<Parsing> {
  const parsing = { texts: 0, milliseconds: 0 };
  const parse = JSON.parse;
  JSON.parse = (text, reviver) => {
    const startedAt = performance.now();
    const value: unknown = parse(text, reviver);
    parsing.milliseconds += performance.now() - startedAt;
    parsing.texts += 1;
    return value;
  };
  try {
    await work();
  } finally {
    JSON.parse = parse;
  }
  return parsing;
}

async function refresh({ inventory, traffic }: Model): Promise<Refresh> {
  const changes: InventoryChange[] = [];
  const listening = inventory.onDidChange((told) => changes.push(...told));
  const requests = traffic.requests;
  const measured = await timed(() => inventory.refreshComputesOf(expanded));
  listening.dispose();
  return { ...measured, requests: traffic.requests - requests, changes };
}

async function bareFetch({ baseUrl }: Canned): Promise<{ active: number; parsing: Parsing }> {
  const left = [...expanded];
  const work = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      await bareGet(`${baseUrl}/projects/${id}/endpoints`);
    }
  };
  return await timed(async () => void (await Promise.all(Array.from({ length: AT_ONCE }, work))));
}

async function timed(work: () => Promise<void>): Promise<{ active: number; parsing: Parsing }> {
  let parsing: Parsing = { texts: 0, milliseconds: 0 };
  const active = await activeTime(async () => {
    parsing = await whileParsing(work);
  });
  return { active, parsing };
}
