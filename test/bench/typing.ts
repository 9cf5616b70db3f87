/** What a keystroke and a hover cost in an account of 20,000 computes, all of them known. */
import { ComputeIndex } from '../../src/model/computeIndex.ts';
import { hostMention } from '../../src/model/hostMentions.ts';
import { hostPlace } from '../../src/model/hostPlaces.ts';
import { computeId, projectId } from './account.ts';
import { startCanned, startModel } from './canned.ts';
import { ms, type Result } from './result.ts';
import { median, quantile } from './stats.ts';

const PROJECTS = 200;
const COMPUTES = 100;
const ROUNDS = 2_000;
const SHOWN = 100;
const GOAL_MS = 5;

export async function measure(): Promise<readonly Result[]> {
  const canned = await startCanned({ projects: PROJECTS, computesPerProject: COMPUTES });
  const model = await startModel(canned);
  try {
    await model.inventory.projects?.allPages();
    await model.inventory.loadComputesOf(Array.from({ length: PROJECTS }, (_, index) => projectId(index)));
    const index = new ComputeIndex(model.inventory);
    const lines = [...model.inventory.allComputes()].map(({ host }) => host.toUpperCase());
    const results = [
      compare('completion', typings, lines, ({ line, column }) => {
        const place = hostPlace(line, column);
        return place === undefined ? -1 : index.search(place.typed, SHOWN).hosts.length;
      }),
      compare('hover', hovers, lines, ({ line, column }) => {
        const mention = hostMention(line, column);
        return mention === undefined || index.find(mention) === undefined ? 0 : 1;
      }),
    ];
    index.dispose();
    return results;
  } finally {
    model.dispose();
    await canned.stop();
  }
}

interface Asked {
  readonly line: string;
  readonly column: number;
  /** How many answers there must be at least; the cost of none is no cost. */
  readonly least: number;
}

const atEnd = (line: string, least: number): Asked => ({ line, column: line.length, least });

/** A host being typed, at its beginning and its end; a part of a name; what no compute is called. */
const typings = (round: number): Asked => {
  const host = computeId(round % PROJECTS, round % COMPUTES);
  const kinds: readonly Asked[] = [
    atEnd('DATABASE_URL=postgresql://app@', SHOWN),
    atEnd(`PGHOST=${host.slice(0, 4)}`, 1),
    atEnd(`PGHOST=${host}`, 1),
    atEnd(`PGHOST=compute-${round}`, 0),
    atEnd('PGHOST=nothing-like-it', 0),
  ];
  return kinds[round % kinds.length] ?? atEnd('', 0);
};

const hovers = (round: number): Asked => {
  const host = `${computeId(round % PROJECTS, round % COMPUTES)}.eu-central-1.aws.example.com`;
  const line = `  "url": "postgresql://app:secret@${host}:5432/app?sslmode=require",`;
  return { line, column: line.indexOf(host) + 3, least: 1 };
};

function compare(
  what: string,
  askedIn: (round: number) => Asked,
  texts: readonly string[],
  answer: (asked: Asked) => number,
): Result {
  const [ours, walks]: [number[], number[]] = [[], []];
  let isRight = true;
  for (let round = -100; round < ROUNDS; round += 1) {
    const asked = askedIn(Math.abs(round));
    const startedAt = performance.now();
    const answers = answer(asked);
    const between = performance.now();
    const found = texts.filter((text) => text.toLowerCase().includes('nothing-like-it'));
    const endedAt = performance.now();
    isRight &&= answers >= asked.least && found.length === 0;
    if (round < 0) continue;
    ours.push(between - startedAt);
    walks.push(endedAt - between);
  }
  const p99 = quantile(ours, 0.99);
  return {
    what: `typing, ${what}`,
    ours: `${ms(p99)} p99`,
    beside: `${ms(quantile(walks, 0.99))} walk over all hosts`,
    ratio: p99 / quantile(walks, 0.99),
    goal: `< ${GOAL_MS} ms p99`,
    met: isRight && p99 < GOAL_MS,
    note: `${PROJECTS * COMPUTES} computes known; median ${ms(median(ours))}${isRight ? '' : '; WRONG ANSWERS'}`,
  };
}
