/**
 * Timers: service/controlPlane/branches/branches.ts, service/controlPlane/records/branchRecord.ts,
 * service/core/clockWatch.ts, npm/library/index.ts.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { branchCalls, type Api } from '../../../helpers/branchCalls.ts';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { endOperations, startInProcess, type InProcess, type InProcessOptions } from '../inProcess.ts';
import { BRANCHES, FREE, PROJECT } from './sampleProject.ts';

const DELAY = 1_000;

describe('Branches that expire', () => {
  let test: InProcess;
  let api: Api;
  const settle = () => endOperations(test, PROJECT, DELAY);
  const start = async (options: InProcessOptions = {}) => {
    test = await startInProcess({ operationDelay: DELAY, ...options });
    api = branchCalls(test);
    await settle();
  };
  const find = async (id: string) => (await api.branches(PROJECT)).find((each) => each.id === id);
  const create = async (branch: object = {}) => {
    const created = await api.send('POST', BRANCHES, { branch, endpoints: [] });
    await settle();
    return created;
  };
  const inSeconds = (seconds: number) => new Date(test.clock.now() + seconds * 1000).toISOString();

  beforeEach(() => start());

  it('are deleted then, unless that was revoked', async () => {
    const [kept, expiring] = [await create(), await create({ expires_at: inSeconds(3_600) })];
    await api.send('PATCH', `${BRANCHES}/${kept.branch.id}`, { branch: { expires_at: inSeconds(60) } });
    await api.send('PATCH', `${BRANCHES}/${kept.branch.id}`, { branch: { expires_at: null } });
    await api.send('POST', BRANCHES, { branch: { parent_id: expiring.branch.id } }, 422);
    await api.send('POST', `${BRANCHES}/${FREE}/restore`, { source_branch_id: expiring.branch.id }, 422);
    test.clock.advance(3_500_000);
    assert.notEqual(await find(expiring.branch.id), undefined);
    test.clock.advance(106_000);
    assert.equal(await find(expiring.branch.id), undefined);
    assert.notEqual(await find(kept.branch.id), undefined);
    await settle();
    assert(test.engine.calls.includes(`deleteBranch ${expiring.branch.id}`));
  });

  it('are deleted a minute after the start if they expired while the service was down', async () => {
    const folder = temporaryFolder();
    await test.stop();
    await start({ folder });
    const { branch } = await create({ expires_at: inSeconds(60) });
    const now = test.clock.now() + 61_000;
    await test.stop();
    await start({ folder, clock: new FakeClock(now) });
    test.clock.advance(50_000);
    assert.notEqual(await find(branch.id), undefined);
    test.clock.advance(10_000);
    assert.equal(await find(branch.id), undefined);
    await test.stop();
    rmSync(folder, { recursive: true, force: true });
    await start();
  });

  it('do not expire by a clock that was wrong for a while, but ten minutes after it was set', async () => {
    const expiring = await create({ expires_at: inSeconds(3_600) });
    const isThere = async () => (await find(expiring.branch.id)) !== undefined;
    const wrong = 2 * 3_600_000;
    test.clock.advance(120_000);
    test.clock.set(test.clock.now() + wrong);
    test.clock.advance(7_000);
    assert(await isThere());
    test.clock.set(test.clock.now() - wrong);
    test.clock.advance(600_000);
    assert(await isThere());
    test.clock.set(test.clock.now() + wrong);
    test.clock.advance(600_000);
    assert(await isThere());
    test.clock.advance(5_000);
    assert(!(await isThere()));
  });

  it('expire although the machine is so busy that timers are late, but not right after it has slept', async () => {
    test.clock.advance(60_000);
    const isExpired = async (late: number) => {
      const expiring = await create({ expires_at: inSeconds(20) });
      test.clock.pass(late);
      test.clock.advance(0);
      return (await find(expiring.branch.id)) === undefined;
    };
    assert.ok(await isExpired(50_000));
    assert.ok(!(await isExpired(70_000)));
  });
});
