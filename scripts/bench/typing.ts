/** The time for a completion and for a hover with 20,000 known computes. */
import { ComputeIndex } from '../../src/extension/connection/computeIndex.ts';
import { hostAtPosition } from '../../src/extension/connection/hostAtPosition.ts';
import { completionContext } from '../../src/extension/connection/completionContext.ts';
import { median, ms, quantile, type Result } from './result.ts';
import { computeId, projectId } from './sampleAccount.ts';
import { connectModel, startStubService } from './stubService.ts';

const PROJECTS = 200;
const COMPUTES = 100;
const ROUNDS = 2_000;
const SHOWN = 100;
const GOAL_MS = 5;

export async function measure(): Promise<readonly Result[]> {
  const service = await startStubService({ projects: PROJECTS, computesPerProject: COMPUTES });
  const model = await connectModel(service);
  try {
    await model.inventory.projects?.load();
    await model.inventory.loadComputesOf(Array.from({ length: PROJECTS }, (_, index) => projectId(index)));
    const index = new ComputeIndex(model.inventory);
    const lines = [...model.inventory.allComputes()].map(({ host }) => host.toUpperCase());
    const results = [
      compare('completion', typings, lines, ({ line, column }) => {
        const place = completionContext(line, column);
        return place === undefined ? -1 : index.search(place.typed, SHOWN).hosts.length;
      }),
      compare('hover', hovers, lines, ({ line, column }) => {
        const mention = hostAtPosition(line, column);
        return mention === undefined || index.find(mention) === undefined ? 0 : 1;
      }),
    ];
    index.dispose();
    return results;
  } finally {
    model.dispose();
    await service.stop();
  }
}

interface Query {
  readonly line: string;
  readonly column: number;
  /** The minimum number of results. */
  readonly minimum: number;
}

const atEnd = (line: string, minimum: number): Query => ({ line, column: line.length, minimum });

/** A host with no, few or all characters typed; the name of a compute; and text that matches no compute. */
const typings = (round: number): Query => {
  const host = computeId(round % PROJECTS, round % COMPUTES);
  const kinds: readonly Query[] = [
    atEnd('DATABASE_URL=postgresql://app@', SHOWN),
    atEnd(`PGHOST=${host.slice(0, 4)}`, 1),
    atEnd(`PGHOST=${host}`, 1),
    atEnd(`PGHOST=compute-${round}`, 0),
    atEnd('PGHOST=nothing-like-it', 0),
  ];
  return kinds[round % kinds.length] ?? atEnd('', 0);
};

const hovers = (round: number): Query => {
  const host = `${computeId(round % PROJECTS, round % COMPUTES)}.eu-central-1.aws.example.com`;
  const line = `  "url": "postgresql://app:secret@${host}:5432/app?sslmode=require",`;
  return { line, column: line.indexOf(host) + 3, minimum: 1 };
};

function compare(
  what: string,
  queryOf: (round: number) => Query,
  texts: readonly string[],
  run: (query: Query) => number,
): Result {
  const [ours, scans]: [number[], number[]] = [[], []];
  let isRight = true;
  for (let round = -100; round < ROUNDS; round += 1) {
    const query = queryOf(Math.abs(round));
    const startedAt = performance.now();
    const results = run(query);
    const between = performance.now();
    const found = texts.filter((text) => text.toLowerCase().includes('nothing-like-it'));
    const endedAt = performance.now();
    isRight &&= results >= query.minimum && found.length === 0;
    if (round < 0) continue;
    ours.push(between - startedAt);
    scans.push(endedAt - between);
  }
  const p99 = quantile(ours, 0.99);
  return {
    what: `typing, ${what}`,
    ours: `${ms(p99)} p99`,
    baseline: `${ms(quantile(scans, 0.99))} a scan of all hosts`,
    ratio: p99 / quantile(scans, 0.99),
    goal: `< ${GOAL_MS} ms p99`,
    met: isRight && p99 < GOAL_MS,
    note: `${PROJECTS * COMPUTES} computes known; median ${ms(median(ours))}${isRight ? '' : '; WRONG RESULTS'}`,
  };
}
