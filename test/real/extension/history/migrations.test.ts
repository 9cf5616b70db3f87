/**
 * Random checkouts, resets and migrations: each offer takes the database back to exactly the migrations of the working tree. Set `STEPS` and `SEED` for longer and other runs.
 */
import assert from 'node:assert/strict';
import { roundsOf } from '../../../helpers/fullRun.ts';
import { startLocalService, temporaryFolder } from '../../../helpers/localService.ts';
import { RANDOM_SEED } from '../../../helpers/seed.ts';
import { MigrationWorld } from './migrationWorld.ts';

const STEPS = Number(process.env['STEPS'] ?? roundsOf(40, 400));

/** The first steps have nothing to offer with some seeds. */
const MOST_STEPS = 5 * STEPS;

describe('A database that follows git back before migrations', () => {
  it(`has the migrations of the commit (${STEPS} steps, seed ${RANDOM_SEED})`, async () => {
    const service = await startLocalService({ dataDir: temporaryFolder() });
    const world = await MigrationWorld.create(service, RANDOM_SEED);
    const steps: string[] = [];
    let [accepted, missed] = [0, 0];
    try {
      while (steps.length < STEPS || (accepted === 0 && steps.length < MOST_STEPS)) {
        steps.push(await world.step());
        const before = await world.applied();
        const { files } = world;
        const what = `step ${steps.length} (seed ${RANDOM_SEED}): ${steps.slice(-12).join(', ')}`;
        if (await world.acceptOffer()) {
          accepted += 1;
          assert.notDeepEqual(before, files, `offered without a reason at ${what}`);
          const after = await world.applied();
          assert.deepEqual(
            after,
            files.filter((name) => after.includes(name)),
            what,
          );
          await world.checkTables();
        } else if (before.length > files.length && files.every((name) => before.includes(name))) missed += 1;
      }
    } finally {
      if (world.errors.length > 0) console.error(world.errors);
      world.dispose();
      await service.stop();
    }
    console.log(
      `      seed ${RANDOM_SEED}: ${steps.length} steps, ${accepted} offers accepted, ${missed} times not known for sure`,
    );
    assert.ok(accepted > 0, 'nothing was offered');
    assert.deepEqual(world.errors, []);
  });
});
