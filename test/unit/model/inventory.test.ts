import assert from 'node:assert/strict';
import type { InventoryChange } from '../../../src/model/inventory.ts';
import { connectStore, type ConnectedStore } from '../../helpers/connectedStore.ts';
import { computeRecord, scriptService, type ScriptedService } from '../../helpers/scriptedService.ts';
import { until } from '../../workbench/until.ts';

const COMPUTES = 'GET /projects/shop/endpoints';

/** Such as `compute shop br-main ep-one`. */
const wordsOf = (change: InventoryChange): string => {
  const { kind, ...rest } = change;
  return [kind, ...Object.values(rest)].join(' ');
};

describe('Inventory', () => {
  let service: ScriptedService;
  let store: ConnectedStore;
  let computes: unknown[];
  let told: string[];

  beforeEach(async () => {
    computes = [computeRecord('ep-one'), computeRecord('ep-two', { type: 'read_only' })];
    service = await scriptService(() => ({ endpoints: computes }));
    store = await connectStore(service);
    told = [];
    store.inventory.onDidChange((changes) => told.push(...changes.map(wordsOf)));
  });

  afterEach(async () => {
    store.dispose();
    await service.close();
  });

  const refreshed = async () => {
    told = [];
    await store.inventory.refreshComputes('shop');
    return told;
  };

  it('loads the computes of a project once, however many ask for them', async () => {
    await Promise.all([store.inventory.loadComputes('shop'), store.inventory.loadComputes('shop')]);
    await store.inventory.loadComputes('shop');
    assert.deepEqual(service.requests, [COMPUTES]);
    assert.deepEqual(told, ['project shop', 'branch shop br-main']);
  });

  it('tells nothing when a refresh brings the same, and keeps the very records', async () => {
    await store.inventory.loadComputes('shop');
    const before = store.inventory.compute('shop', 'ep-one');
    assert.deepEqual(await refreshed(), []);
    assert.equal(store.inventory.compute('shop', 'ep-one'), before);
  });

  it('tells of the one compute that changed', async () => {
    await store.inventory.loadComputes('shop');
    computes[1] = computeRecord('ep-two', { type: 'read_only', current_state: 'idle' });
    assert.deepEqual(await refreshed(), ['compute shop br-main ep-two']);
  });

  it('tells of the branch whose computes came or went', async () => {
    await store.inventory.loadComputes('shop');
    computes.pop();
    assert.deepEqual(await refreshed(), ['branch shop br-main']);
  });

  it('tells of the project when a branch appears with its first compute', async () => {
    await store.inventory.loadComputes('shop');
    computes.push(computeRecord('ep-three', { branch_id: 'br-dev' }));
    assert.deepEqual(await refreshed(), ['project shop', 'branch shop br-dev']);
  });

  it('tells of both branches when a compute moves', async () => {
    await store.inventory.loadComputes('shop');
    computes.push(computeRecord('ep-three', { branch_id: 'br-dev' }));
    await refreshed();
    computes[1] = computeRecord('ep-two', { type: 'read_only', branch_id: 'br-dev' });
    assert.deepEqual((await refreshed()).toSorted(), ['branch shop br-dev', 'branch shop br-main']);
  });

  it('keeps what it has when a refresh fails, and carries the failure until one succeeds', async () => {
    await store.inventory.loadComputes('shop');
    service.script = () => 500;
    await assert.rejects(store.inventory.refreshComputes('shop'), /status 500/);
    const list = store.inventory.computesOf('shop');
    assert.equal(list?.computes.size, 2);
    assert.match(String(list?.failure), /status 500/);
    service.script = () => ({ endpoints: computes });
    assert.deepEqual(await refreshed(), ['project shop']);
    assert.equal(list?.failure, undefined);
  });

  it('tells when it fails otherwise than before, and nothing when it fails again as before', async () => {
    await store.inventory.loadComputes('shop');
    const failed = async (status: number) => {
      service.script = () => status;
      told = [];
      await Promise.allSettled([store.inventory.refreshComputes('shop'), store.inventory.refreshProjects()]);
      return told;
    };
    assert.deepEqual(await failed(500), ['project shop', 'projects']);
    assert.deepEqual(await failed(500), []);
    assert.deepEqual(await failed(401), ['project shop', 'projects']);
    assert.equal(store.session.current.kind, 'failed', 'a new key can be offered');
  });

  it('does not ask again for those who only look, after it has failed', async () => {
    service.script = () => 500;
    await store.inventory.lookAtComputes('shop');
    await store.inventory.lookAtComputes('shop');
    assert.equal(service.requests.length, 1);
  });

  it('keeps a record that cannot be read beside those that can', async () => {
    computes.push({ id: 'ep-odd', host: 7 });
    await store.inventory.loadComputes('shop');
    const list = store.inventory.computesOf('shop');
    assert.equal(list?.computes.size, 2);
    assert.deepEqual(list?.unreadable, [{ id: 'ep-odd', field: 'host' }]);
  });

  it('does not let a list asked for earlier undo what a call of our own has answered', async () => {
    await store.inventory.loadComputes('shop');
    const early = Promise.withResolvers<unknown>();
    service.script = () => early.promise;
    const refreshing = store.inventory.refreshComputes('shop');
    await until('the request', async () => service.requests.length === 2);
    const stopped = computeRecord('ep-one', { current_state: 'idle' });
    store.inventory.put(stopped);
    service.script = () => ({ endpoints: [stopped] });
    early.resolve({ endpoints: computes });
    await refreshing;
    assert.equal(store.inventory.compute('shop', 'ep-one')?.current_state, 'idle');
    assert.equal(service.requests.length, 3);
  });

  it('asks for no more than six projects at once', async () => {
    let underway = 0;
    let most = 0;
    service.script = async () => {
      most = Math.max(most, ++underway);
      await new Promise((resolve) => setImmediate(resolve));
      underway -= 1;
      return { endpoints: [] };
    };
    await store.inventory.refreshComputesOf(Array.from({ length: 40 }, (_, index) => `p-${index}`));
    assert.equal(service.requests.length, 40);
    assert.ok(most > 1 && most <= 6, `${most} at once`);
  });

  it('refreshes the others when one project fails, and tells that it failed', async () => {
    service.script = (call) => (call.includes('/bad/') ? 500 : { endpoints: computes });
    await assert.rejects(store.inventory.refreshComputesOf(['bad', 'shop']));
    assert.equal(store.inventory.computesOf('shop')?.isLoaded, true);
  });

  it('begins empty with another account', async () => {
    await store.inventory.loadComputes('shop');
    await store.accounts.remove(store.account);
    await until('the end of the session', async () => store.session.current.kind === 'signedOut');
    assert.equal(told.at(-1), 'all');
    assert.equal(store.inventory.computesOf('shop'), undefined);
  });
});

describe('The list of projects', () => {
  let service: ScriptedService;
  let store: ConnectedStore;
  let told: string[];

  const projects = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({ id: `p-${from + index}`, name: `${from + index}` }));

  beforeEach(async () => {
    service = await scriptService(() => ({ projects: projects(0, 3) }));
    store = await connectStore(service);
    told = [];
    store.inventory.onDidChange((changes) => told.push(...changes.map(wordsOf)));
  });

  afterEach(async () => {
    store.dispose();
    await service.close();
  });

  const loadAll = async () => await store.inventory.projects?.allPages();
  const ids = () => [...(store.inventory.projects?.entries.keys() ?? [])];

  it('is there with the first page and grows with the next ones', async () => {
    const second = Promise.withResolvers<unknown>();
    service.script = () =>
      service.requests.length === 1
        ? { projects: projects(0, 400), pagination: { cursor: 'next' } }
        : second.promise;
    await store.inventory.lookAtProjects();
    assert.equal(ids().length, 400);
    assert.equal(store.session.current.kind, 'ready');
    second.resolve({ projects: projects(400, 450) });
    await store.inventory.projects?.allPages();
    assert.equal(ids().length, 450);
  });

  it('tells of the one project that changed, and of the list when projects come or go', async () => {
    await loadAll();
    told = [];
    await store.inventory.refreshProjects();
    assert.deepEqual(told, []);
    service.script = () => ({ projects: [{ id: 'p-0', name: 'renamed' }, ...projects(1, 3)] });
    await store.inventory.refreshProjects();
    assert.deepEqual(told, ['project p-0']);
    service.script = () => ({ projects: projects(1, 3) });
    await store.inventory.refreshProjects();
    assert.deepEqual(told, ['project p-0', 'projects']);
  });

  it('keeps what it has when a refresh breaks off', async () => {
    await loadAll();
    service.script = () => 500;
    await assert.rejects(store.inventory.refreshProjects());
    assert.deepEqual(ids(), ['p-0', 'p-1', 'p-2']);
    assert.equal(store.session.current.kind, 'ready');
  });

  it('shows projects whose details are missing, with those last known', async () => {
    await loadAll();
    service.script = () => ({ projects: projects(1, 3), unavailable_project_ids: ['p-0', 'p-new'] });
    await store.inventory.refreshProjects();
    assert.deepEqual(ids(), ['p-1', 'p-2', 'p-0', 'p-new']);
    assert.equal(store.inventory.project('p-0')?.name, '0');
    assert.equal(store.inventory.project('p-new'), undefined);
  });
});
