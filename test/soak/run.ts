// Uses the product in all its ways at once, for five minutes or, in the full run, for half an hour, and counts again and again
// what its processes hold. Fails if a use fails or if something grows.
//   node test/soak/run.ts [minutes]
import { setTimeout as delay } from 'node:timers/promises';
import { isFullRun } from '../helpers/fullRun.ts';
import { growthIn, HEADER, line, measure, type Measures } from './measures.ts';
import { uses, type Use } from './uses.ts';
import { openWorld, type SoakWorld } from './world.ts';

const MINUTE = 60_000;
const minutes = Number(process.argv[2] ?? process.env['SOAK_MINUTES'] ?? (isFullRun ? '30' : '5'));
/** A third of them covers each use at least once, and moments at which little is in use and the memory has just been freed. */
const MEASUREMENTS = 90;
/** Every so many of them, one is printed. */
const PRINTED = 3;

const failures: string[] = [];
const counts = new Map<string, number>();
const all: Measures[] = [];
const world = await openWorld();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void world.close().finally(() => process.exit(130)));
const stop = new AbortController();
try {
  const running = uses.map((use) => repeat(use, world));
  console.log(HEADER);
  for (let count = 1; count <= MEASUREMENTS; count += 1) {
    await delay((minutes / MEASUREMENTS) * MINUTE);
    const measures = await measure([process.pid], world.dataFolders);
    all.push(measures);
    const actions = [...counts.values()].reduce((sum, each) => sum + each, 0);
    if (count % PRINTED === 0)
      console.log(line((count * minutes) / MEASUREMENTS, measures, actions, failures.length));
  }
  stop.abort();
  await Promise.all(running);
} finally {
  await world.close();
}
for (const [name, count] of counts) console.log(`${String(count).padStart(6)} × ${name}`);
const problems = [...(failures.length > 0 ? [`${failures.length} uses`] : []), ...growthIn(all)];
for (const { name } of uses) if (!counts.has(name)) problems.push(`${name}: never done`);
for (const problem of problems) console.log(`Failed: ${problem}`);
process.exit(problems.length > 0 ? 1 : 0);

async function repeat({ name, pause, run }: Use, target: SoakWorld): Promise<void> {
  while (!stop.signal.aborted) {
    try {
      await run(target);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    } catch (error) {
      const failure = `${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
      failures.push(failure);
      console.log(failure);
    }
    await delay(pause * 1000, undefined, { signal: stop.signal }).catch(() => undefined);
  }
}
