/**
 * Random steps of git in three worktrees, with two windows on each and a real local service. After each step, every env file
 * points to the database of its checked-out branch or is untouched, and each window says which.
 * Set `STEPS` and `SEED` for longer and other runs.
 */
import assert from 'node:assert/strict';
import { median, ms, quantile } from '../../../../scripts/bench/result.ts';
import { startLocalService, temporaryFolder } from '../../../helpers/localService.ts';
import { RANDOM_SEED } from '../../../helpers/seed.ts';
import { GitWorld } from './gitWorld.ts';
import type { Worktree } from './worktree.ts';

const STEPS = Number(process.env['STEPS'] ?? 25);
/** The windows follow nothing in the first steps with some seeds. */
const MOST_STEPS = 5 * STEPS;

/** Milliseconds from a checkout to the changed file, for 95 % of the checkouts. A few of them are too few to judge. */
const MAX_SWITCH_TIME = 1_500;
const ENOUGH_TIMES = 50;

/** What the windows must show for a worktree, and the host in its env file. Without a host, the file must be untouched. */
interface Expected {
  readonly decision: string;
  readonly host?: string | undefined;
}

describe('Following checkouts', () => {
  it(`leaves each env file right or untouched (${STEPS} steps, seed ${RANDOM_SEED})`, async () => {
    const service = await startLocalService({ dataDir: temporaryFolder() });
    const world = await GitWorld.create(service, RANDOM_SEED);
    const counts = new Map<string, number>();
    try {
      const isDone = (step: number) => step >= (world.written > STEPS / 50 ? STEPS : MOST_STEPS);
      for (let step = 0; !isDone(step); step += 1) {
        const before = new Map(world.worktrees.map((worktree) => [worktree, worktree.value]));
        const name = await world.step();
        counts.set(name, (counts.get(name) ?? 0) + 1);
        for (const worktree of world.worktrees) {
          const wasEdited = world.edited.delete(worktree);
          const value = before.has(worktree) && !wasEdited ? before.get(worktree) : worktree.value;
          const { decision, host } = expected(world, worktree, value);
          const what = `step ${step} (${name}, seed ${RANDOM_SEED}), ${worktree.name}: ${decision} ${host ?? 'untouched'}`;
          await worktree.settle(
            what,
            (said) =>
              said === decision && (host === undefined ? worktree.value === value : worktree.host === host),
          );
        }
      }
      for (const worktree of world.worktrees) await world.requireConnects(worktree);
    } finally {
      if (world.errors.length > 0) console.error(world.errors);
      world.dispose();
      await world.databases.stopService();
    }
    console.log(`      ${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}`);
    console.log(`      seed ${RANDOM_SEED}: ${STEPS} steps; ${world.written} times, a window changed a file`);
    assert.ok(world.written > STEPS / 50, 'the windows followed nothing');
    requireQuick(world.switchTimes);
    assert.deepEqual(world.errors, []);
  });
});

/** @param times milliseconds from the end of a checkout to the changed env file */
function requireQuick(times: readonly number[]): void {
  if (times.length === 0) return;
  const p95 = quantile(times, 0.95);
  console.log(
    `      ${times.length} after a checkout: median ${ms(median(times))}, p95 ${ms(p95)}, max ${ms(Math.max(...times))}`,
  );
  if (times.length >= ENOUGH_TIMES) assert.ok(p95 <= MAX_SWITCH_TIME, `p95 is ${ms(p95)}`);
}

/** @param value the env file's value before the step, or after it if the step edited the file */
function expected(world: GitWorld, worktree: Worktree, value: string | undefined): Expected {
  const { branch, pause } = worktree.gitStatus();
  if (pause !== undefined) return { decision: `paused ${pause}` };
  if (branch === undefined) return { decision: 'paused detached' };
  const target = world.mapped.get(branch);
  if (target === 'none') return { decision: 'keep declined' };
  const pointsTo = (name: string) => value?.includes(`@${world.databases.hostOf(name)}/`) === true;
  const isOfOther = [...world.mapped.values()].some((name) => name !== 'none' && pointsTo(name));
  if (target === undefined)
    return { decision: branch === 'main' && !isOfOther ? 'keep defaultBranch' : 'ask' };
  const host = world.databases.hostOf(target);
  const gone = world.databases.gone.get(target);
  if (value?.includes(`@${host}/`) === true)
    return { decision: gone === undefined ? 'nothing' : `stopped ${gone}` };
  if (value === undefined) return { decision: 'stopped noValue' };
  if (value.includes('elsewhere')) return { decision: 'stopped foreignValue' };
  if (worktree.isTracked) return { decision: 'stopped tracked' };
  if (gone !== undefined) return { decision: `stopped ${gone}` };
  return world.isServiceUp ? { decision: 'nothing', host } : { decision: 'stopped offline' };
}
