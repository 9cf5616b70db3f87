/**
 * Random steps of git in three worktrees, with two windows on each and a real local service. After each step, every env file
 * points to the database of its checked-out branch or is untouched, and each window says which.
 * Set `STEPS` and `SEED` for longer and other runs.
 */
import assert from 'node:assert/strict';
import { startLocalService, temporaryFolder } from '../helpers/localService.ts';
import { GitWorld } from './gitWorld.ts';
import type { Worktree } from './worktree.ts';

const STEPS = Number(process.env['STEPS'] ?? 25);
/** The default has steps that the windows follow among the first 25. */
const SEED = Number(process.env['SEED'] ?? 5);

/** What the windows must show for a worktree, and the host in its env file. Without a host, the file must be untouched. */
interface Expected {
  readonly decision: string;
  readonly host?: string | undefined;
}

describe('Following checkouts', () => {
  it(`leaves each env file right or untouched (${STEPS} steps, seed ${SEED})`, async function () {
    this.timeout(60_000 + STEPS * 5_000);
    const service = await startLocalService({ dataDir: temporaryFolder() });
    const world = await GitWorld.create(service, SEED);
    const counts = new Map<string, number>();
    try {
      for (let step = 0; step < STEPS; step += 1) {
        const before = new Map(world.worktrees.map((worktree) => [worktree, worktree.value]));
        const name = await world.step();
        counts.set(name, (counts.get(name) ?? 0) + 1);
        for (const worktree of world.worktrees) {
          const wasEdited = world.edited.delete(worktree);
          const value = before.has(worktree) && !wasEdited ? before.get(worktree) : worktree.value;
          const { decision, host } = expected(world, worktree, value);
          const what = `step ${step} (${name}, seed ${SEED}), ${worktree.name}: ${decision} ${host ?? 'untouched'}`;
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
      await world.stopService();
    }
    console.log(`      ${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}`);
    console.log(`      ${world.written} times, a window changed a file`);
    assert.ok(world.written > STEPS / 50, 'the windows followed nothing');
    assert.deepEqual(world.errors, []);
  });
});

/** @param value the env file's value before the step, or after it if the step edited the file */
function expected(world: GitWorld, worktree: Worktree, value: string | undefined): Expected {
  const { branch, pause } = worktree.gitStatus();
  if (pause !== undefined) return { decision: `paused ${pause}` };
  if (branch === undefined) return { decision: 'paused detached' };
  const target = world.mapped.get(branch);
  if (target === 'none') return { decision: 'keep declined' };
  if (target === undefined) return { decision: branch === 'main' ? 'keep defaultBranch' : 'ask' };
  const host = world.hostOf(target);
  const isDeleted = world.deleted.has(target);
  if (value?.includes(`@${host}/`) === true) return { decision: isDeleted ? 'stopped deleted' : 'nothing' };
  if (value === undefined) return { decision: 'stopped noValue' };
  if (value.includes('elsewhere')) return { decision: 'stopped foreignValue' };
  if (worktree.isTracked) return { decision: 'stopped tracked' };
  if (isDeleted) return { decision: 'stopped deleted' };
  return world.isServiceUp ? { decision: 'nothing', host } : { decision: 'stopped offline' };
}
