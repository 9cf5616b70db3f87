/** One background refresh of a large account, most of which is as it was. */
import type { Fetch } from '../../src/api/attempt.ts';
import type { InventoryChange } from '../../src/model/inventory.ts';
import { projectId } from './account.ts';
import { bareGet, startCanned, startModel, type Canned, type Model } from './canned.ts';
import { ms, type Result } from './result.ts';
import { mean } from './stats.ts';

const PROJECTS = 5_000;
const EXPANDED = 200;
const COMPUTES = 100;
const CHANGED = 5;
const AT_ONCE = 6;
const ROUNDS = 30;
const WARM_UP = 3;
const GOAL_MS = 50;

const expanded = Array.from({ length: EXPANDED }, (_, index) => projectId(index));

interface Measured {
  /** Milliseconds in which the event loop had work, which is the time others in the extension host had to wait. */
  readonly active: number;
  readonly parsing: Parsing;
}

interface Refresh extends Measured {
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
    const ours = await repeated(async (round) => {
      for (let project = 0; project < CHANGED; project += 1) {
        await canned.set(project, 1, { current_state: round % 2 === 0 ? 'active' : 'idle' });
      }
      return await refresh(model);
    });
    const { most } = model.traffic;
    model.dispose();
    return resultOf(what, ours, await repeated(() => bareFetch(canned)), most);
  } finally {
    await canned.stop();
  }
}

/** Means, so that each round bears its part of the garbage of all. None is collected by force: that made the next round pay. */
async function repeated<T>(measured: (round: number) => Promise<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for (let round = 0; round < ROUNDS + WARM_UP; round += 1) all.push(await measured(round));
  return all.slice(WARM_UP);
}

/** Less only what was parsed: a reply that needed no parsing has saved nothing but its own time. */
function resultOf(what: string, ours: readonly Refresh[], bare: readonly Measured[], most: number): Result {
  const beyond = mean(ours.map(beyondParsing));
  const isRight = ours.every(
    ({ requests, changes }) =>
      requests === EXPANDED && changes.length === CHANGED && changes.every(({ kind }) => kind === 'compute'),
  );
  const [one] = ours;
  return {
    what,
    ours: `${ms(beyond)} beyond its JSON.parse`,
    beside: `${ms(mean(bare.map(beyondParsing)))} bare fetch, ${ms(mean(bare.map(({ parsing }) => parsing.milliseconds)))} JSON.parse`,
    ratio: mean(ours.map(({ active }) => active)) / mean(bare.map(({ active }) => active)),
    goal: `< ${GOAL_MS} ms, ${EXPANDED} requests, ${AT_ONCE} at once`,
    met: isRight && most <= AT_ONCE && beyond < GOAL_MS,
    note: `mean of ${ROUNDS}; ${one?.requests} requests, at most ${most} at once; ${one?.changes.length} events for ${CHANGED} changed of ${EXPANDED * COMPUTES}; ${one?.parsing.texts} replies parsed, the others were byte for byte the last ones`,
  };
}

const beyondParsing = ({ active, parsing }: Measured): number => active - parsing.milliseconds;

async function activeTime(work: () => Promise<void>): Promise<number> {
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

async function bareFetch({ baseUrl }: Canned): Promise<Measured> {
  const left = [...expanded];
  const work = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      await bareGet(`${baseUrl}/projects/${id}/endpoints`);
    }
  };
  return await timed(async () => void (await Promise.all(Array.from({ length: AT_ONCE }, work))));
}

async function timed(work: () => Promise<void>): Promise<Measured> {
  let parsing: Parsing = { texts: 0, milliseconds: 0 };
  const active = await activeTime(async () => {
    parsing = await whileParsing(work);
  });
  return { active, parsing };
}
