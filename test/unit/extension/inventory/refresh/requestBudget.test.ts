import assert from 'node:assert/strict';
import { BackgroundRefresh } from '../../../../../src/extension/inventory/refresh/backgroundRefresh.ts';
import { RequestBudget } from '../../../../../src/extension/inventory/refresh/requestBudget.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { FakeClock } from '../../../../helpers/fakeClock.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';

const MINUTE = 60_000;

describe('RequestBudget', () => {
  it('allows a burst, then a steady rate, and no second burst', () => {
    const clock = new FakeClock();
    const budget = new RequestBudget({ clock });
    assert.equal(budget.available, 40);
    budget.spend(40);
    assert.deepEqual([budget.available, budget.waitFor(1), budget.waitFor(20)], [0, 200, 4000]);
    clock.pass(4000);
    assert.deepEqual([budget.available, budget.waitFor(20), budget.waitFor(10)], [20, 0, 0]);
    clock.pass(10 * MINUTE);
    assert.equal(budget.available, 40);
    assert.equal(budget.waitFor(1000), 0);
  });

  it('makes later requests wait for those beyond what is available', () => {
    const budget = new RequestBudget({ clock: new FakeClock() });
    budget.spend(50);
    assert.deepEqual([budget.available, budget.waitFor(1)], [0, 2200]);
  });

  it('does not limit requests to a service on this machine', () => {
    const budget = new RequestBudget({ clock: new FakeClock(), isUnlimited: () => true });
    budget.spend(1000);
    assert.deepEqual([budget.available, budget.waitFor(1000)], [Infinity, 0]);
  });
});

describe('BackgroundRefresh of 200 expanded projects', () => {
  const ids = Array.from({ length: 200 }, (_, index) => `p-${index}`);
  let store: ScriptedModel;
  let refresh: BackgroundRefresh;
  let offersBranches: boolean;
  let isPending: (projectId: string) => boolean;
  /** When each request was sent. */
  let sent: { readonly call: string; readonly at: number }[];

  beforeEach(async () => {
    sent = [];
    offersBranches = true;
    isPending = () => false;
    store = await connectScripted((call) => {
      sent.push({ call, at: store.clock.now() });
      if (call === 'GET /projects') return { projects: ids.map((id) => ({ id, name: id })) };
      if (call.endsWith('/branches')) return offersBranches ? { branches: [] } : 404;
      const [, , project_id = ''] = call.split('/');
      if (!isPending(project_id)) return { endpoints: [] };
      return { endpoints: [computeRecord('ep-one', { project_id, current_state: 'init' })] };
    });
    await store.inventory.ensureProjects();
    refresh = new BackgroundRefresh({
      inventory: store.inventory,
      expanded: () => ids,
      polledElsewhere: () => new Set(),
      interval: () => MINUTE,
      onError: (error) => assert.fail(String(error)),
      budget: new RequestBudget({ clock: store.clock }),
      clock: store.clock,
      random: () => 1,
    });
    sent = [];
    refresh.setVisible(true);
  });
  afterEach(() => refresh.dispose());

  const runFor = async (minutes: number) => {
    const end = store.clock.now() + minutes * MINUTE;
    while (store.clock.now() < end) {
      await store.clock.turn();
    }
  };
  const mostInAMinute = () =>
    Math.max(
      ...sent.map(({ at }) => sent.filter((request) => request.at >= at && request.at < at + MINUTE).length),
    );
  const times = (call: string) => sent.filter((request) => request.call === call).map(({ at }) => at);

  it('sends at most 340 requests in any minute, and at most 2 for each project in a refresh', async () => {
    await runFor(2.5);
    assert.ok(mostInAMinute() <= 340, `${mostInAMinute()} requests`);
    const rounds = times('GET /projects/p-0/endpoints').length;
    for (const id of ids) {
      const count =
        times(`GET /projects/${id}/endpoints`).length + times(`GET /projects/${id}/branches`).length;
      assert.ok(count <= 2 * rounds, `${count} requests for ${id} in ${rounds} refreshes`);
    }
    assert.ok(rounds >= 2, `${rounds} refreshes`);
  });

  it('begins with the computes of the first rows, and ends with the branches', async () => {
    await runFor(1.5);
    const calls = sent
      .filter(({ call }) => call !== 'GET /projects')
      .slice(0, 400)
      .map(({ call }) => call);
    const isBranches = (call: string) => call.endsWith('/branches');
    assert.ok(!calls.slice(0, 200).some(isBranches) && calls.slice(200).every(isBranches));
    const first = times('GET /projects/p-0/endpoints')[0] ?? 0;
    assert.ok(first < (times('GET /projects/p-199/endpoints')[0] ?? 0));
  });

  it('keeps following a pending change', async () => {
    isPending = (id) => id === 'p-150';
    await store.inventory.loadComputes('p-150');
    sent = [];
    await runFor(1.5);
    const waits = times('GET /projects/p-150/endpoints').map((at, index, all) => at - (all[index - 1] ?? at));
    assert.ok(Math.max(...waits) <= 4000, `${Math.max(...waits)} ms`);
    assert.ok(mostInAMinute() <= 340, `${mostInAMinute()} requests`);
  });

  it('stays within the budget while every project has a pending change', async () => {
    isPending = () => true;
    await store.inventory.loadComputesOf(ids);
    sent = [];
    refresh.setVisible(false);
    store.clock.pass(MINUTE);
    refresh.setVisible(true);
    await store.clock.turn();
    assert.equal(sent.length, 40);
  });

  it('sends one request for each project if the service has no branches to list', async () => {
    offersBranches = false;
    await store.inventory.branches.ensureLoaded('p-0');
    sent = [];
    await runFor(1.5);
    assert.ok(sent.every(({ call }) => !call.endsWith('/branches')));
    assert.equal(times('GET /projects/p-7/endpoints').length, 1);
  });
});
