/** Timers: service/controlPlane/operations/operations.ts. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { isRejected } from '../../../../src/api/transport/errors.ts';
import type { Compute, Operation } from '../../../../src/api/records/records.ts';
import type { ComputePatch } from '../../../../src/api/records/requests.ts';
import { call } from '../../../helpers/call.ts';
import { startLocalService, temporaryFolder } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { startInProcess, type InProcess } from '../inProcess.ts';
import { CHECKOUT, CHECKOUT_PRIMARY, FREE, MAIN, MAIN_PRIMARY, PROJECT } from './sampleProject.ts';

const REPLICA = 'ep-steep-forest-654321';
const DELAY = 1_000;

describe('Operations', () => {
  let test: InProcess;
  const compute = async (id: string): Promise<Compute | undefined> => test.client.findCompute(PROJECT, id);
  const operation = async (id: string | undefined): Promise<Operation | undefined> =>
    test.client.findOperation(PROJECT, id ?? '');
  const states = async (operations: readonly Operation[]) =>
    Promise.all(operations.map(async ({ id }) => (await operation(id))?.status));
  const reach = (operations: readonly Operation[], ...expected: string[]) =>
    until(String(expected), async () => String(await states(operations)) === String(expected));
  /** Lets all operations end. */
  const settle = () =>
    until('everything settled', async () => {
      test.clock.advance(DELAY);
      const { items } = await test.client.listComputes(PROJECT);
      return items.every(({ pending_state }) => pending_state === undefined);
    });

  beforeEach(async () => {
    test = await startInProcess({ operationDelay: DELAY });
    await settle();
    test.engine.calls.length = 0;
  });

  it('run one after the other, and the compute shows each state', async () => {
    const { operations } = await test.client.restartCompute(PROJECT, MAIN_PRIMARY);
    await reach(operations, 'running', 'scheduling');
    test.clock.advance(DELAY - 1);
    assert.deepEqual(await states(operations), ['running', 'scheduling']);
    assert.deepEqual((await compute(MAIN_PRIMARY))?.pending_state, 'active');
    test.clock.advance(1);
    await reach(operations, 'finished', 'running');
    assert.deepEqual((await compute(MAIN_PRIMARY))?.current_state, 'idle');
    test.clock.advance(DELAY);
    await reach(operations, 'finished', 'finished');
    const after = await compute(MAIN_PRIMARY);
    assert.deepEqual([after?.current_state, after?.pending_state], ['active', undefined]);
    const [first, second] = await Promise.all(operations.map(({ id }) => operation(id)));
    assert.deepEqual([first?.['total_duration_ms'], second?.['total_duration_ms']], [DELAY, 2 * DELAY]);
    assert.deepEqual(test.engine.calls, [
      `suspend ${MAIN_PRIMARY}`,
      `attach ${MAIN_PRIMARY}`,
      `start ${MAIN_PRIMARY}`,
    ]);
  });

  it('lock only their compute: every change gets 423 with a message', async () => {
    const { operations } = await test.client.restartCompute(PROJECT, MAIN_PRIMARY);
    const id = operations[0]?.id ?? '';
    const changes: Record<string, () => Promise<unknown>> = {
      restart: () => test.client.restartCompute(PROJECT, MAIN_PRIMARY),
      update: () => test.client.updateCompute(PROJECT, MAIN_PRIMARY, { name: 'x' }),
      delete: () => test.client.deleteCompute(PROJECT, MAIN_PRIMARY),
    };
    for (const [what, change] of Object.entries(changes)) {
      await assert.rejects(change(), (error) => {
        assert(isRejected(error, 423), what);
        assert(String(error).includes(id) && String(error).includes('suspend_compute'), String(error));
        return true;
      });
    }
    const path = `/projects/${PROJECT}/endpoints/${MAIN_PRIMARY}/suspend`;
    const reply = await call(test.baseUrl, { method: 'POST', path, key: test.key });
    assert.deepEqual([reply.status, reply.headers['retry-after']], [423, '1']);
    await test.client.updateCompute(PROJECT, REPLICA, { name: 'free' });
    await settle();
    await test.client.updateCompute(PROJECT, MAIN_PRIMARY, { name: 'x' });
  });

  it('fail with the message of the engine if it rejects a change, and the old settings stay', async () => {
    const before = await compute(MAIN_PRIMARY);
    test.engine.fail('applyConfig', 'invalid value for parameter "work_mem": "lots"');
    const change = {
      settings: { pg_settings: { work_mem: 'lots' } },
      name: 'half made',
      autoscaling_limit_max_cu: 4,
    };
    const { operations } = await test.client.updateCompute(PROJECT, MAIN_PRIMARY, change);
    await settle();
    const failed = await operation(operations[0]?.id);
    assert.deepEqual(
      [failed?.status, failed?.error, failed?.failures_count],
      ['failed', 'invalid value for parameter "work_mem": "lots"', 1],
    );
    assert.deepEqual({ ...(await compute(MAIN_PRIMARY)), updated_at: '' }, { ...before, updated_at: '' });
  });

  it('after a failed one are skipped, and a failed move has no effect', async () => {
    test.engine.fail('applyConfig', 'disk full');
    const { operations } = await test.client.updateCompute(PROJECT, MAIN_PRIMARY, { branch_id: FREE });
    await settle();
    assert.deepEqual(await states(operations), ['failed', 'skipped']);
    const after = await compute(MAIN_PRIMARY);
    assert.deepEqual([after?.branch_id, after?.current_state], [MAIN, 'active']);
  });

  it('of a failed start leave the compute idle', async () => {
    test.engine.fail('start', 'port 5432 is taken');
    const { operations, compute: made } = await test.client.createCompute(PROJECT, {
      branch_id: FREE,
      type: 'read_only',
    });
    await settle();
    assert.equal((await operation(operations[0]?.id))?.error, 'port 5432 is taken');
    assert.equal((await compute(made?.id ?? ''))?.current_state, 'idle');
  });

  it('fail on an unexpected error too, which is logged, and stays with the compute until it starts', async () => {
    test.engine.faults.set('start', new TypeError('undefined is not a function'));
    const { operations } = await test.client.restartCompute(PROJECT, MAIN_PRIMARY);
    await settle();
    assert.deepEqual(await states(operations), ['finished', 'failed']);
    assert.match(test.log.join('\n'), /start_compute of ep-little-smoke-851426: TypeError/);
    const { items } = await test.client.listComputes(PROJECT);
    assert.equal(items.find(({ id }) => id === MAIN_PRIMARY)?.last_error, 'undefined is not a function');
    await test.client.startCompute(PROJECT, MAIN_PRIMARY);
    await settle();
    assert.equal((await compute(MAIN_PRIMARY))?.last_error, undefined);
  });

  it('of a deleted compute continue, are listed, and stop its process', async () => {
    const { operations } = await test.client.deleteCompute(PROJECT, MAIN_PRIMARY);
    assert.equal(await compute(MAIN_PRIMARY), undefined);
    await reach(operations, 'running');
    test.clock.advance(DELAY);
    await reach(operations, 'finished');
    assert.deepEqual(test.engine.calls, [`remove ${MAIN_PRIMARY}`]);
    const { json } = await call(test.baseUrl, {
      path: `/projects/${PROJECT}/operations`,
      key: test.key,
    });
    assert.equal((json as { operations: Operation[] }).operations[0]?.id, operations[0]?.id);
  });

  const rejected = async (change: () => Promise<unknown>, status: number) =>
    assert.rejects(change(), (error) => isRejected(error, status));
  const takeBranch = () =>
    test.client.updateCompute(PROJECT, CHECKOUT_PRIMARY, {
      branch_id: MAIN,
    } satisfies ComputePatch);

  it('of a deleted primary lock its branch for another primary until they end', async () => {
    await test.client.deleteCompute(PROJECT, MAIN_PRIMARY);
    await rejected(takeBranch, 423);
    await settle();
    await until('the end of the deletion', () =>
      takeBranch()
        .then(() => true)
        .catch(() => undefined),
    );
  });

  it('of a moving primary lock its old branch, since the move may fail', async () => {
    await test.client.updateCompute(PROJECT, MAIN_PRIMARY, { branch_id: FREE });
    await rejected(takeBranch, 423);
    await settle();
    await takeBranch();
  });

  it('that copy the schema of a branch lock it for a deletion until they end', async () => {
    const { branches } = test.client;
    const branch = { parent_id: FREE, init_source: 'schema-only' };
    const { operations } = await branches.create(PROJECT, { branch });
    await rejected(() => branches.delete(PROJECT, FREE), 423);
    test.clock.advance(DELAY);
    await reach(operations, 'finished');
    await branches.delete(PROJECT, FREE);
  });

  it('that restore a branch lock the expiry of its source, which becomes its parent', async () => {
    const { branches } = test.client;
    await branches.restore(PROJECT, CHECKOUT, { source_branch_id: FREE });
    const expires_at = new Date(test.clock.now() + 60_000).toISOString();
    await rejected(() => branches.update(PROJECT, FREE, { expires_at }), 423);
  });

  it('are listed in pages, newest first', async () => {
    for (const name of [MAIN_PRIMARY, CHECKOUT_PRIMARY, REPLICA]) {
      await test.client.restartCompute(PROJECT, name);
      await settle();
    }
    const page = async (query: string) => {
      const { json } = await call(test.baseUrl, {
        path: `/projects/${PROJECT}/operations${query}`,
        key: test.key,
      });
      return json as { operations: Operation[]; pagination: { cursor: string } };
    };
    const all = (await page('')).operations;
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { operations, pagination } = await page(`?limit=2${cursor}`);
      if (operations.length === 0) break;
      seen.push(...operations.map(({ id }) => id));
      cursor = `&cursor=${pagination.cursor}`;
    }
    assert.deepEqual(
      seen,
      all.map(({ id }) => id),
    );
    assert.equal(all[0]?.endpoint_id, REPLICA);
  });

  it('are kept up to 500 per project', async () => {
    const quick = await startInProcess();
    for (let restarts = 0; restarts < 260; restarts += 1) {
      await until('its turn', async () =>
        quick.client.restartCompute(PROJECT, MAIN_PRIMARY).catch(() => undefined),
      );
    }
    const path = `/projects/${PROJECT}/operations?limit=1000`;
    const { json } = await call(quick.service.baseUrl, { path, key: quick.key });
    const { operations } = json as { operations: Operation[] };
    assert(operations.length >= 500 && operations.length <= 502, String(operations.length));
  });
});

describe('Operations that are unfinished when the service is killed', () => {
  it('are resumed at the next start', async () => {
    const dataDir = temporaryFolder();
    const options = { postgres: false, dataDir, key: 'k', args: ['--operation-delay', '60000'] };
    const first = await startLocalService(options);
    const restarted = await first.client.restartCompute(PROJECT, MAIN_PRIMARY);
    const deleted = await first.client.deleteCompute(PROJECT, REPLICA);
    const moved = await first.client.updateCompute(PROJECT, CHECKOUT_PRIMARY, { branch_id: FREE });
    await first.kill();
    const second = await startLocalService({ ...options, args: [] });
    try {
      for (const { id } of [restarted, deleted, moved].flatMap(({ operations }) => operations)) {
        await until(
          `${id} finished`,
          async () => (await second.client.findOperation(PROJECT, id))?.status === 'finished',
        );
      }
      const { items } = await second.client.listComputes(PROJECT);
      assert.deepEqual(
        items.map(({ id, branch_id, current_state }) => [id, branch_id, current_state]),
        [
          [MAIN_PRIMARY, MAIN, 'active'],
          [CHECKOUT_PRIMARY, FREE, 'idle'],
        ],
      );
      assert(items.every(({ pending_state }) => pending_state === undefined));
    } finally {
      await second.stop();
      rmSync(dataDir, { recursive: true });
    }
  });

  it('of a compute that never suspends are followed by its start', async () => {
    const folder = temporaryFolder();
    const first = await startInProcess({ folder });
    const find = async ({ client }: InProcess) => client.findCompute(PROJECT, MAIN_PRIMARY);
    await until('the start', async () => (await find(first))?.current_state === 'active');
    first.engine.applyConfig = () => new Promise(() => undefined);
    const change = { suspend_timeout_seconds: -1, autoscaling_limit_max_cu: 2 };
    await first.client.updateCompute(PROJECT, MAIN_PRIMARY, change);
    await first.stop();
    const second = await startInProcess({ folder });
    await until('the start after the change', async () => {
      const { current_state, pending_state } = (await find(second)) ?? {};
      return current_state === 'active' && pending_state === undefined;
    });
    const calls = second.engine.calls.filter(
      (each) => /^(applyConfig|start) /.test(each) && each.endsWith(MAIN_PRIMARY),
    );
    assert.deepEqual(calls, [`applyConfig ${MAIN_PRIMARY}`, `start ${MAIN_PRIMARY}`]);
  });

  it('leave the address of a compute open that was being suspended', async () => {
    const folder = temporaryFolder();
    const first = await startInProcess({ folder });
    const state = async ({ client }: InProcess) =>
      (await client.findCompute(PROJECT, MAIN_PRIMARY))?.current_state;
    await first.client.startCompute(PROJECT, MAIN_PRIMARY);
    await until('the start', async () => (await state(first)) === 'active');
    first.engine.suspend = () => new Promise(() => undefined);
    await first.client.suspendCompute(PROJECT, MAIN_PRIMARY);
    await first.stop();
    const second = await startInProcess({ folder });
    await until('the suspension', async () => (await state(second)) === 'idle');
    await until('the address', async () => second.engine.calls.includes(`attach ${MAIN_PRIMARY}`));
  });
});
