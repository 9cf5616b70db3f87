/** A restore of a branch that the service's end interrupts. Timers: service/state/store.ts. */
import assert from 'node:assert/strict';
import { mkdirSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { branchCalls } from '../../../helpers/branchCalls.ts';
import { until } from '../../../workbench/until.ts';
import { endOperations, FaultyEngine, settled, startInProcess, type InProcess } from '../inProcess.ts';
import { BRANCHES, CHECKOUT, MAIN, MAIN_PRIMARY, PROJECT } from './sampleProject.ts';

const restore = async (test: InProcess, branch: string, body: object) =>
  branchCalls(test).send('POST', `${BRANCHES}/${branch}/restore`, body, 200);

describe('A restore that is unfinished', () => {
  const withoutPostgres: readonly (readonly [string, (engine: FaultyEngine) => void])[] = [
    ['no Postgres', (engine) => (engine.postgresProblem = 'There is no Postgres')],
    ['an engine that fails', (engine) => engine.fail('open', 'a file is damaged')],
  ];
  for (const [what, spoil] of withoutPostgres)
    it(`waits at a start with ${what}, and is finished by the next one`, async () => {
      const engine = new FaultyEngine();
      engine.restoreBranch = () => new Promise(() => undefined);
      const first = await startInProcess({ engine });
      await settled(first, MAIN_PRIMARY, 'active');
      const body = { source_branch_id: MAIN, preserve_under_name: 'before' };
      const { operations } = await restore(first, CHECKOUT, body);
      const task = operations.find(({ action }) => action === 'create_branch');
      await first.stop();

      const useless = new FaultyEngine();
      spoil(useless);
      const second = await startInProcess({ folder: first.folder, engine: useless });
      const problem = await until('the reason', async () =>
        second.log.find((line) => /no Postgres|damaged/.test(line)),
      );
      assert(problem !== undefined);
      const status = async (test: InProcess) =>
        (await test.client.findOperation(PROJECT, task?.id ?? ''))?.status;
      assert.equal(await status(second), 'running');
      assert(!useless.calls.some((call) => call.startsWith('restoreBranch')));
      const preserved = (await branchCalls(second).branches(PROJECT)).find(({ name }) => name === 'before');
      await branchCalls(second).send('DELETE', `${BRANCHES}/${preserved?.id}`, undefined, 423);
      await second.stop();

      const third = await startInProcess({ folder: first.folder });
      await endOperations(third, PROJECT);
      assert.equal(await status(third), 'finished');
      const states = (await branchCalls(third).branches(PROJECT)).map((each) => each.current_state);
      assert.deepEqual(new Set(states), new Set(['ready']));
    });

  it('waits with --no-postgres, which finishes only what it has begun itself', async () => {
    const hanging = new FaultyEngine();
    hanging.restoreBranch = () => new Promise(() => undefined);
    const first = await startInProcess({ engine: hanging });
    await settled(first, MAIN_PRIMARY, 'active');
    const { operations } = await restore(first, CHECKOUT, { source_branch_id: MAIN });
    const task = operations.find(({ action }) => action === 'create_branch');
    await first.stop();

    const simulated = async (change: (engine: FaultyEngine) => void = () => undefined) => {
      const engine = new FaultyEngine();
      engine.pgVersion = undefined;
      change(engine);
      return startInProcess({ folder: first.folder, engine, postgres: false });
    };
    const second = await simulated((engine) => (engine.createBranch = () => new Promise(() => undefined)));
    const branch = { branch: { name: 'simulated', parent_id: MAIN } };
    const created = await branchCalls(second).send('POST', BRANCHES, branch);
    await second.stop();

    const third = await simulated();
    await branchCalls(third).finish(PROJECT, created.operations);
    assert.equal((await third.client.findOperation(PROJECT, task?.id ?? ''))?.status, 'running');
    assert(!third.engine.calls.some((call) => call.startsWith('restoreBranch')));
  });
});

describe('A restore', () => {
  it('is on disk before the compute starts, so that no restart repeats it', async () => {
    const test = await startInProcess();
    await settled(test, MAIN_PRIMARY, 'active');
    const unfinished = path.join(test.folder, 'account.json.new');
    test.engine.restoreBranch = async () => {
      test.engine.calls.length = 0;
      mkdirSync(unfinished);
    };
    await restore(test, MAIN, { source_branch_id: CHECKOUT, preserve_under_name: 'before' });
    const isStarted = () => test.engine.calls.includes(`start ${MAIN_PRIMARY}`);
    await until('the failed write', async () => test.log.some((line) => line.includes('Cannot write to')));
    assert(!isStarted());
    rmdirSync(unfinished);
    await until('the start', async () => {
      test.clock.advance(10_000);
      return isStarted();
    });
    await settled(test, MAIN_PRIMARY, 'active');
  });
});
