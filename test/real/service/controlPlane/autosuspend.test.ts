/** Timers: service/controlPlane/computes/autosuspend.ts, service/controlPlane/records/countUsage.ts. */
import assert from 'node:assert/strict';
import { until } from '../../../workbench/until.ts';
import {
  computeOf,
  events,
  operationsOf,
  settled,
  START_TIME,
  useInProcess,
  type InProcess,
} from '../inProcess.ts';
import { PROJECT } from './sampleProject.ts';

const ACTIVE = 'ep-little-smoke-851426';
const minutes = (count: number) => count * 60_000;

describe('Autosuspend', () => {
  let test: InProcess;
  const started = useInProcess();
  beforeEach(async () => {
    test = started();
    await settled(test, ACTIVE, 'active');
  });

  it('suspends a compute after five minutes without connections, and records it', async () => {
    test.clock.advance(minutes(5) - 1_000);
    assert.equal((await computeOf(test, ACTIVE)).current_state, 'active');
    test.clock.advance(2_000);
    await settled(test, ACTIVE, 'idle');
    const [last] = (await operationsOf(test)).filter(({ endpoint_id }) => endpoint_id === ACTIVE);
    assert.deepEqual([last?.action, last?.status], ['suspend_compute', 'finished']);
  });

  it('waits for open connections and counts from the end of the last one', async () => {
    events(test).activity(ACTIVE, 1);
    test.clock.advance(minutes(30));
    assert.equal((await computeOf(test, ACTIVE)).current_state, 'active');
    events(test).activity(ACTIVE, 0);
    const closed = test.clock.now();
    test.clock.advance(minutes(5) - 1_000);
    assert.equal((await computeOf(test, ACTIVE)).current_state, 'active');
    test.clock.advance(2_000);
    await settled(test, ACTIVE, 'idle');
    assert.equal(Date.parse((await computeOf(test, ACTIVE)).last_active ?? ''), closed);
  });

  it('records the use of open connections every ten seconds', async () => {
    const lastActive = async () => Date.parse((await computeOf(test, ACTIVE)).last_active ?? '');
    events(test).activity(ACTIVE, 1);
    const before = await lastActive();
    test.clock.set(before);
    test.clock.advance(10_000);
    assert.equal(await lastActive(), before);
    test.clock.advance(1_000);
    assert.equal(await lastActive(), before + 11_000);
  });

  it('uses the delay of the compute, and a new one at once', async () => {
    await test.client.updateCompute(PROJECT, ACTIVE, { suspend_timeout_seconds: 3600 });
    test.clock.advance(minutes(59));
    assert.equal((await computeOf(test, ACTIVE)).current_state, 'active');
    await test.client.updateCompute(PROJECT, ACTIVE, { suspend_timeout_seconds: 60 });
    test.clock.advance(1_000);
    await settled(test, ACTIVE, 'idle');
  });

  it('does not count an hour when the clock is set an hour forward or back', async () => {
    const used = async (): Promise<number> => {
      const { value } = await test.client.projectPages().next();
      return value?.items.find(({ id }) => id === PROJECT)?.cpu_used_sec ?? Number.NaN;
    };
    await test.client.updateCompute(PROJECT, ACTIVE, { suspend_timeout_seconds: -1 });
    await settled(test, ACTIVE, 'active');
    const before = await used();
    for (const hours of [1, -1, 1]) {
      test.clock.advance(minutes(1));
      test.clock.set(test.clock.now() + minutes(60 * hours));
    }
    const { items } = await test.client.listComputes(PROJECT);
    const size = items.reduce((sum, compute) => sum + (compute.autoscaling_limit_min_cu ?? 0), 0);
    const seconds = ((await used()) - before) / size;
    assert(seconds > 0 && seconds <= 6 * 60, `${seconds} s at ${size} CU`);
  });

  it('restarts the delay when the clock is set back', async () => {
    events(test).activity(ACTIVE, 1);
    events(test).activity(ACTIVE, 0);
    test.clock.set(START_TIME - minutes(60));
    test.clock.advance(minutes(5) - 2_000);
    assert.equal((await computeOf(test, ACTIVE)).current_state, 'active');
    test.clock.advance(4_000);
    await settled(test, ACTIVE, 'idle');
  });

  it('never suspends a compute with -1', async () => {
    await test.client.updateCompute(PROJECT, ACTIVE, { suspend_timeout_seconds: -1 });
    test.clock.advance(minutes(60 * 24));
    assert.equal((await computeOf(test, ACTIVE)).current_state, 'active');
  });

  it('waits for the end of a copy of the branch, which would delay the suspension until clients are connected', async () => {
    const copied = Promise.withResolvers<undefined>();
    test.engine.createBranch = () => copied.promise;
    await test.client.branches.create(PROJECT, { branch: { parent_id: 'br-aged-salad-637688' } });
    test.clock.advance(minutes(10));
    assert.equal((await computeOf(test, ACTIVE)).pending_state, undefined);
    assert.equal((await computeOf(test, ACTIVE)).current_state, 'active');
    copied.resolve(undefined);
    await until('the branch', async () => {
      test.clock.advance(1_000);
      return (await computeOf(test, ACTIVE)).current_state === 'idle';
    });
  });
});
