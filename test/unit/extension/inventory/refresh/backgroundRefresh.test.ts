import assert from 'node:assert/strict';
import { statusOf } from '../../../../../src/api/transport/errors.ts';
import { BackgroundRefresh } from '../../../../../src/extension/inventory/refresh/backgroundRefresh.ts';
import { RequestBudget } from '../../../../../src/extension/inventory/refresh/requestBudget.ts';
import { connectModel, type ConnectedModel } from '../../../../helpers/connectedModel.ts';
import { computeRecord, scriptService, type ScriptedService } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';

const MINUTE = 60_000;

describe('BackgroundRefresh', () => {
  let service: ScriptedService;
  let store: ConnectedModel;
  let refresh: BackgroundRefresh;
  let shown: string[];
  let followed: Set<string>;
  let interval: number;
  let isNear: boolean;
  let budget: RequestBudget;
  let state: string;
  let errors: unknown[];
  let refreshes: number;

  beforeEach(async () => {
    state = 'active';
    shown = ['shop'];
    followed = new Set();
    interval = MINUTE;
    isNear = false;
    errors = [];
    refreshes = 0;
    service = await scriptService((call) => {
      if (call.endsWith('/branches')) return { branches: [] };
      return call === 'GET /projects'
        ? { projects: [{ id: 'shop', name: 'shop' }] }
        : { endpoints: [computeRecord('ep-one', { current_state: state })] };
    });
    store = await connectModel(service);
    await store.inventory.ensureProjects();
    budget = new RequestBudget({ clock: store.clock, isUnlimited: () => isNear });
    refresh = new BackgroundRefresh({
      inventory: store.inventory,
      expanded: () => shown,
      polledElsewhere: () => followed,
      interval: () => interval,
      onError: (error) => errors.push(error),
      onRefreshed: () => (refreshes += 1),
      budget,
      clock: store.clock,
      random: () => 1,
    });
    await store.inventory.loadComputes('shop');
    service.requests.length = 0;
  });

  afterEach(() => refresh.dispose());

  it('stops while the view is hidden or the interval is 0', () => {
    assert.deepEqual(store.clock.waits, []);
    interval = 0;
    refresh.setVisible(true);
    assert.deepEqual(store.clock.waits, []);
  });

  it('refreshes expanded projects at each interval, the list of projects every fifth time', async () => {
    refresh.setVisible(true);
    for (let turns = 0; turns < 4; turns += 1) assert.equal(await store.clock.turn(), MINUTE);
    assert.ok(!service.requests.includes('GET /projects'));
    assert.equal(await store.clock.turn(), MINUTE);
    const counts = Map.groupBy(service.requests, (call) => call);
    assert.equal(counts.get('GET /projects/shop/branches')?.length, 5);
    assert.equal(counts.get('GET /projects/shop/endpoints')?.length, 5);
    assert.equal(counts.get('GET /projects')?.length, 1);
    await until('the end of the fifth', async () => refreshes === 5);
  });

  it('counts all its requests against the budget, also the list of projects', async () => {
    refresh.setVisible(true);
    const left: number[] = [];
    for (let turns = 0; turns < 5; turns += 1) {
      await store.clock.turn();
      left.push(budget.available);
    }
    assert.deepEqual(left, [38, 38, 38, 38, 37]);
  });

  it('refreshes expanded projects of a local service quickly, with their branches, and no others', async () => {
    isNear = true;
    shown = [];
    refresh.setVisible(true);
    assert.equal(await store.clock.turn(), 2000);
    shown = ['shop'];
    for (let turns = 0; turns < 5; turns += 1) assert.equal(await store.clock.turn(), 2000);
    await until('the fifth refresh', async () => service.requests.length === 10);
    assert.deepEqual(
      new Set(service.requests),
      new Set(['GET /projects/shop/branches', 'GET /projects/shop/endpoints']),
    );
  });

  it('runs an overdue refresh at once, and only one', () => {
    store.clock.pass(MINUTE * 10);
    refresh.setVisible(true);
    assert.deepEqual(store.clock.waits, [0]);
    refresh.setVisible(false);
    assert.deepEqual(store.clock.waits, []);
  });

  it('refreshes a project with a pending change quickly until it has settled', async () => {
    refresh.setVisible(true);
    state = 'init';
    assert.equal(await store.clock.turn(), MINUTE);
    assert.equal(await store.clock.turn(), 2000);
    state = 'active';
    service.requests.length = 0;
    assert.equal(await store.clock.turn(), 2000);
    assert.deepEqual(store.clock.waits, [MINUTE - 4000]);
    await until('the refresh', async () => service.requests.length > 0);
    assert.deepEqual(service.requests, ['GET /projects/shop/endpoints']);
  });

  it('sends the rest of a refresh as soon as the budget allows', async () => {
    store.clock.pass(MINUTE);
    budget.spend(39);
    refresh.setVisible(true);
    assert.equal(await store.clock.turn(), 0);
    assert.equal(await store.clock.turn(), 200);
    assert.deepEqual(service.requests, ['GET /projects/shop/endpoints', 'GET /projects/shop/branches']);
  });

  it('requests a project with a pending change only once if it is due anyway', async () => {
    store.inventory.put(computeRecord('ep-one', { pending_state: 'idle' }));
    store.clock.pass(MINUTE);
    budget.spend(38);
    refresh.setVisible(true);
    await store.clock.turn();
    assert.deepEqual(service.requests, ['GET /projects/shop/endpoints']);
    assert.equal(budget.available, 1);
  });

  it('does not wait longer because another change of the project is reported', async () => {
    refresh.setVisible(true);
    store.inventory.put(computeRecord('ep-one', { pending_state: 'idle' }));
    store.clock.pass(1500);
    store.inventory.put(computeRecord('ep-one', { pending_state: 'active' }));
    assert.deepEqual(store.clock.waits, [500]);
  });

  it('continues when the user connects again after several minutes', async () => {
    refresh.setVisible(true);
    await store.accounts.choose(undefined);
    await store.session.reread();
    for (let turns = 0; turns < 5; turns += 1) await store.clock.turn();
    await store.accounts.choose(store.account);
    await store.session.reread();
    await store.inventory.ensureProjects();
    service.requests.length = 0;
    await store.clock.turn();
    assert.ok(service.requests.includes('GET /projects/shop/endpoints'));
  });

  it('leaves out projects that are polled already', async () => {
    followed.add('shop');
    refresh.setVisible(true);
    state = 'init';
    await store.clock.turn();
    assert.deepEqual(store.clock.waits, [MINUTE]);
  });

  it('returns to the normal interval after two minutes', async () => {
    refresh.setVisible(true);
    state = 'init';
    await store.clock.turn();
    interval = 10 * MINUTE;
    const waitAfter = (milliseconds: number) => {
      refresh.setVisible(false);
      store.clock.pass(milliseconds);
      refresh.setVisible(true);
      return store.clock.waits;
    };
    assert.deepEqual(waitAfter(2 * MINUTE - 1), [2000]);
    assert.deepEqual(waitAfter(1), [8 * MINUTE]);
  });

  it('refreshes quickly as soon as another window or a command shows a pending change', async () => {
    refresh.setVisible(true);
    store.inventory.put(computeRecord('ep-one', { pending_state: 'idle' }));
    assert.deepEqual(store.clock.waits, [2000]);
    await store.accounts.choose(undefined);
    await until('the end of the session', async () => store.session.connection === undefined);
    assert.deepEqual(store.clock.waits, [MINUTE]);
  });

  it('requests the list of projects at the next interval if it failed', async () => {
    const { script } = service;
    service.script = (call) => (call === 'GET /projects' ? 500 : script(call));
    await store.inventory.refreshProjects().catch(() => undefined);
    service.script = script;
    service.requests.length = 0;
    refresh.setVisible(true);
    await store.clock.turn();
    assert.deepEqual(service.requests.toSorted(), [
      'GET /projects',
      'GET /projects/shop/branches',
      'GET /projects/shop/endpoints',
    ]);
  });

  it('waits at most ten minutes while the service fails', async () => {
    service.script = () => 500;
    refresh.setVisible(true);
    for (let turns = 0; turns < 8; turns += 1) await store.clock.turn();
    assert.deepEqual(store.clock.waits, [10 * MINUTE]);
  });

  it('waits longer each time although each refresh takes longer than the interval to fail', async () => {
    service.script = (call) => {
      if (call.endsWith('/endpoints')) store.clock.pass(2 * MINUTE);
      return 500;
    };
    refresh.setVisible(true);
    for (let turns = 0; turns < 3; turns += 1) await store.clock.turn();
    assert.deepEqual(store.clock.waits, [8 * MINUTE]);
  });

  for (const name of ['', 'other'])
    it(`uses the interval again after ${name === '' ? 'the key' : 'the account'} has changed`, async () => {
      await store.inventory.refreshProjects();
      service.script = () => 401;
      refresh.setVisible(true);
      for (let turns = 0; turns < 4; turns += 1) await store.clock.turn();
      assert.deepEqual(store.clock.waits, [10 * MINUTE]);
      await store.accounts.add({ ...store.account, name }, 'another-key');
      await store.session.reread();
      assert.deepEqual(store.clock.waits, [MINUTE]);
    });

  it('ignores changes of the inventory when disposed', () => {
    refresh.setVisible(true);
    refresh.dispose();
    store.inventory.put(computeRecord('ep-one', { pending_state: 'idle' }));
    assert.deepEqual(store.clock.waits, []);
  });

  it('backs off while the service fails, and recovers', async () => {
    const { script } = service;
    service.script = () => 500;
    refresh.setVisible(true);
    await store.clock.turn();
    assert.deepEqual(store.clock.waits, [2 * MINUTE]);
    assert.equal(errors.length, 1);
    service.script = script;
    await store.clock.turn();
    await until('the good news', async () => store.inventory.computesOf('shop')?.failure === undefined);
    assert.deepEqual(store.clock.waits, [MINUTE]);
  });

  it('refreshes the others at the same interval if a project was deleted, which leaves the list at once', async () => {
    const { script } = service;
    let projects = [
      { id: 'shop', name: 'shop' },
      { id: 'gone', name: 'gone' },
    ];
    service.script = (call) =>
      call.startsWith('GET /projects/gone/') ? 404 : call === 'GET /projects' ? { projects } : script(call);
    await store.inventory.refreshProjects();
    shown = ['gone', 'shop'];
    projects = projects.slice(0, 1);
    refresh.setVisible(true);
    for (let turns = 0; turns < 3; turns += 1) assert.equal(await store.clock.turn(), MINUTE);
    assert.deepEqual([...(store.inventory.projects?.entries.keys() ?? [])], ['shop']);
    assert.deepEqual(
      errors.map((error) => statusOf(error)),
      [404, 404, 404],
    );
  });

  it('refreshes the others at the same interval, and requests no list of projects, if a project is forbidden', async () => {
    const { script } = service;
    service.script = (call) => (call.startsWith('GET /projects/locked/') ? 403 : script(call));
    shown = ['locked', 'shop'];
    service.requests.length = 0;
    refresh.setVisible(true);
    for (let turns = 0; turns < 2; turns += 1) assert.equal(await store.clock.turn(), MINUTE);
    assert.ok(!service.requests.includes('GET /projects'));
  });

  it('leaves out projects that were collapsed since the refresh began', async () => {
    shown = Array.from({ length: 50 }, (_, index) => `shop-${index}`);
    refresh.setVisible(true);
    await store.clock.turn();
    const sent = service.requests.length;
    assert.ok(sent < shown.length);
    shown = [];
    await store.clock.turn();
    assert.equal(service.requests.length, sent);
  });
});
