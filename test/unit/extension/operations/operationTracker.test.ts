import assert from 'node:assert/strict';
import type { Operation } from '../../../../src/api/records/records.ts';
import {
  PENDING_ENTRY,
  parsePending,
  type ChangeEnd,
} from '../../../../src/extension/operations/pendingChange.ts';
import { RequestBudget } from '../../../../src/extension/inventory/refresh/requestBudget.ts';
import { connectModel, MemoryMap, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import {
  computeRecord,
  operationRecord,
  scriptService,
  TextReply,
  type ScriptedService,
} from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

const LIST = 'GET /projects/shop/endpoints';
/** Milliseconds until a change is given up. */
const GIVE_UP_AFTER = 15 * 60_000;

describe('OperationTracker', () => {
  let service: ScriptedService;
  let store: ConnectedModel;
  let memory: MemoryMap;
  let ends: ChangeEnd[];
  let computes: ReturnType<typeof computeRecord>[];
  /** The reply to the operations call: a status, or 404 if it is not offered. */
  let operation: Record<string, unknown> | 404;

  beforeEach(async () => {
    computes = [computeRecord('ep-one', { current_state: 'init', pending_state: 'active' })];
    operation = operationRecord(1);
    service = await scriptService((call) => {
      if (call.includes('/operations/')) return operation === 404 ? 404 : { operation };
      return { endpoints: computes };
    });
    memory = new MemoryMap();
    store = await connectModel(service, { memory });
    ends = [];
    store.tracker.onDidEnd((end) => ends.push(end));
  });

  const follow = (number = 1, computeId = 'ep-one', projectId = 'shop') =>
    store.tracker.follow('create', { computeId, projectId }, [
      operationRecord(number, { project_id: projectId, endpoint_id: computeId }) as Operation,
    ]);
  const settle = () => {
    computes = computes.map(({ id }) => computeRecord(id));
  };
  const end = () => until('the end of the change', async () => ends[0]);

  it('has no timer and sends no request while nothing is pending', () => {
    assert.deepEqual(store.clock.waits, []);
    assert.deepEqual(service.requests, []);
  });

  it('ignores operations that have ended already', () => {
    const finished = operationRecord(1, { status: 'finished' }) as Operation;
    assert.equal(
      store.tracker.follow('edit', { computeId: 'ep-one', projectId: 'shop' }, [finished]),
      undefined,
    );
    assert.deepEqual(store.clock.waits, []);
  });

  it('requests only the list while the compute is unsettled', async () => {
    store.clock.pass(GIVE_UP_AFTER);
    follow();
    await store.clock.turn();
    await store.clock.turn();
    assert.deepEqual(service.requests, [LIST, LIST]);
    assert.equal(store.tracker.pending.length, 1);
  });

  it('requests the operation of a settled compute, reports the end and stops', async () => {
    follow();
    await store.clock.turn();
    settle();
    operation = operationRecord(1, { status: 'finished' });
    store.clock.next();
    assert.equal((await end()).outcome, 'finished');
    assert.deepEqual(store.tracker.pending, []);
    await until('the poller to stop', async () => store.clock.waits.length === 0);
  });

  it('keeps the name of the compute, which may be deleted in the end', async () => {
    const named = { computeId: 'ep-one', projectId: 'shop', name: 'reports' };
    store.tracker.follow('delete', named, [operationRecord(1) as Operation]);
    store.dispose();
    store = await connectModel(service, { memory });
    assert.equal(store.tracker.pending[0]?.name, 'reports');
  });

  it('treats a settled compute as the end if the service does not offer operations', async () => {
    operation = 404;
    settle();
    follow();
    store.clock.next();
    assert.equal((await end()).outcome, 'finished');
  });

  it('treats a settled compute as the end if the operation has another kind of id', async () => {
    const odd = operationRecord(1, { id: 'operation/1' }) as Operation;
    store.tracker.follow('create', { computeId: 'ep-one', projectId: 'shop' }, [odd]);
    await store.clock.turn();
    assert.deepEqual(parsePending(memory.get(PENDING_ENTRY), store.clock.now()), store.tracker.pending);
    settle();
    store.clock.next();
    assert.equal((await end()).outcome, 'finished');
    assert.deepEqual(new Set(service.requests), new Set([LIST]));
  });

  it("reports the service's reason for a failure", async () => {
    settle();
    operation = operationRecord(1, { status: 'failed', error: 'out of compute hours' });
    follow();
    store.clock.next();
    const { outcome, reason } = await end();
    assert.deepEqual({ outcome, reason }, { outcome: 'failed', reason: 'out of compute hours' });
  });

  it('notices a failed operation although its compute never settles', async () => {
    operation = operationRecord(1, { status: 'error', error: 'no capacity' });
    follow();
    for (let turns = 0; turns < 15; turns += 1) await store.clock.turn();
    store.clock.next();
    assert.equal((await end()).reason, 'no capacity');
  });

  for (const [state, settlesAfter, times] of [
    ['is settled', 0, [0, 1, 3, 7, 15, 30, 45]],
    ['settles after 20 seconds', 20, [15, 20, 21, 23, 27, 35]],
    ['never settles', Infinity, [15, 30, 45]],
  ] as const)
    it(`polls the operation of a compute that ${state} after ${times.join(', ')} seconds`, async () => {
      follow();
      const { script } = service;
      const requestedAt: number[] = [];
      service.script = (call) => {
        if (call.includes('/operations/')) requestedAt.push(store.clock.now() / 1000);
        return script(call);
      };
      for (let turns = 0; turns < 50; turns += 1) {
        if (turns === settlesAfter) settle();
        await store.clock.turn();
      }
      assert.equal(service.requests.filter((call) => call === LIST).length, 50);
      assert.deepEqual(requestedAt, times);
      assert.deepEqual(ends, []);
    });

  it('sends one request per project and tick, however many operations are pending', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `ep-${index}`);
    computes = [...ids, 'ep-other'].map((id) => computeRecord(id, { current_state: 'init' }));
    ids.forEach((id, index) => follow(index + 1, id));
    follow(200, 'ep-other', 'blog');
    await store.clock.turn();
    assert.deepEqual(service.requests.toSorted(), ['GET /projects/blog/endpoints', LIST]);
  });

  it('spends the budget for each request', async () => {
    const clock = new FakeClock();
    const budget = new RequestBudget({ clock });
    store = await connectModel(service, { clock, budget });
    const before = budget.available;
    settle();
    follow();
    await clock.turn();
    assert.equal(service.requests.length, 2);
    assert.equal(budget.available, before - 2);
  });

  it('polls one project while another fails', async () => {
    service.script = (call) => (call.includes('/blog/') ? 500 : { endpoints: computes });
    follow(1);
    follow(2, 'ep-other', 'blog');
    await store.clock.turn();
    assert.equal(store.inventory.computesOf('shop')?.isLoaded, true);
    assert.equal(store.errors.length, 1);
    assert.ok((store.clock.waits[0] ?? 0) > 1000, 'backs off');
  });

  it('ends when the project is deleted', async () => {
    service.script = () => 404;
    follow();
    store.clock.next();
    assert.equal((await end()).outcome, 'lost');
  });

  it('gives up on a change that does not end, and reports it', async () => {
    follow();
    await store.clock.turn();
    store.clock.pass(GIVE_UP_AFTER);
    store.clock.next();
    assert.equal((await end()).outcome, 'stuck');
    await until('the poller to stop', async () => store.clock.waits.length === 0);
  });

  it('continues after a reload of the window', async () => {
    follow();
    store.dispose();
    const next = await connectModel(service, { memory });
    const ended = new Promise<ChangeEnd>((resolve) => next.tracker.onDidEnd(resolve));
    assert.equal(next.tracker.pending[0]?.computeId, 'ep-one');
    assert.deepEqual(next.clock.waits, [0]);
    settle();
    operation = operationRecord(1, { status: 'finished' });
    next.clock.next();
    assert.equal((await ended).outcome, 'finished');
  });

  it('stops polling for another account until it is the current one again', async () => {
    follow();
    await store.clock.turn();
    const other = await scriptService(() => ({ endpoints: [] }));
    await store.accounts.add({ baseUrl: other.baseUrl, name: '' }, 'other-key');
    await until('the other account', async () => store.session.connection?.account.baseUrl === other.baseUrl);
    assert.deepEqual(store.tracker.pending, []);
    assert.deepEqual(store.clock.waits, []);
    await store.accounts.choose(store.account);
    await until('the first account', async () => store.tracker.pending.length === 1);
    assert.deepEqual(other.requests, []);
  });

  it('polls a recent change every second, then less often', async () => {
    operation = 404;
    store.clock.pass(GIVE_UP_AFTER);
    follow();
    store.clock.next();
    const waitAfter = async (age: number) => {
      await until('the next tick', async () => store.clock.waits.length === 1);
      store.clock.pass(GIVE_UP_AFTER + age - store.clock.now());
      await store.clock.turn();
      return store.clock.waits;
    };
    assert.deepEqual(await waitAfter(30_000), [1000]);
    assert.deepEqual(await waitAfter(60_000), [2000]);
    assert.deepEqual(await waitAfter(4 * 60_000), [2000]);
    assert.deepEqual(await waitAfter(5 * 60_000), [5000]);
  });

  for (const [what, reply, outcome] of [
    ['nothing', undefined, undefined],
    ["a proxy's page", new TextReply('<html>'), undefined],
    ['broken JSON', new TextReply('{'), 'stuck'],
    ['an error', 500, 'stuck'],
  ] as const)
    it(`${outcome ? 'gives up on' : 'keeps'} an old change if the service replies with ${what}`, async () => {
      follow();
      service.script = () => reply;
      if (reply === undefined) await service.close();
      store.clock.pass(GIVE_UP_AFTER);
      store.clock.next();
      await until('the result', async () => ends.length + store.errors.length > 0);
      assert.equal(ends[0]?.outcome, outcome);
      assert.equal(store.tracker.pending.length, outcome ? 0 : 1);
    });

  it('ends when all operations of the change have ended', async () => {
    settle();
    const both = [operationRecord(1), operationRecord(2)] as Operation[];
    const ended = operationRecord(3, { status: 'finished' }) as Operation;
    service.script = (call) => {
      if (!call.includes('/operations/')) return { endpoints: computes };
      return { operation: call.endsWith('2') ? operation : operationRecord(1, { status: 'finished' }) };
    };
    operation = operationRecord(2);
    const compute = { computeId: 'ep-one', projectId: 'shop' };
    assert.equal(store.tracker.follow('edit', compute, [...both, ended]), both[0]?.id);
    assert.equal(store.tracker.pending[0]?.operations.length, 2);
    await store.clock.turn();
    const statuses = () => store.tracker.pending[0]?.operations.map(({ status }) => status);
    assert.deepEqual(statuses(), ['finished', 'running']);
    operation = operationRecord(2, { status: 'finished' });
    service.requests.length = 0;
    store.clock.next();
    assert.equal((await end()).outcome, 'finished');
    assert.equal(service.requests.filter((call) => call.includes('/operations/')).length, 1);
  });

  it('follows a change once, and reports its start and its end', async () => {
    let told = 0;
    store.tracker.onDidChange(() => (told += 1));
    follow();
    follow();
    assert.equal(store.tracker.pending.length, 1);
    assert.equal(told, 2);
    assert.deepEqual(store.tracker.projects, new Set(['shop']));
    settle();
    operation = operationRecord(1, { status: 'finished' });
    store.clock.next();
    await end();
    assert.equal(told, 3);
    assert.deepEqual(parsePending(memory.get(PENDING_ENTRY), store.clock.now()), []);
  });
});
