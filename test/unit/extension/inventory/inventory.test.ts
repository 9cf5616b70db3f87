import assert from 'node:assert/strict';
import { eventText } from '../../../helpers/eventText.ts';
import { ComputeIndex } from '../../../../src/extension/connection/computeIndex.ts';
import { connectModel, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, scriptService, type ScriptedService } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

const COMPUTES = 'GET /projects/shop/endpoints';

describe('Inventory', () => {
  let service: ScriptedService;
  let store: ConnectedModel;
  let computes: unknown[];
  let events: string[];

  beforeEach(async () => {
    computes = [computeRecord('ep-one'), computeRecord('ep-two', { type: 'read_only' })];
    service = await scriptService(() => ({ projects: [], endpoints: computes }));
    store = await connectModel(service);
    events = [];
    store.inventory.onDidChange((changes) => events.push(...changes.map(eventText)));
  });

  const refreshed = async () => {
    events = [];
    await store.inventory.refreshComputes('shop');
    return events;
  };

  it('loads the computes of a project once for several callers', async () => {
    await Promise.all([store.inventory.loadComputes('shop'), store.inventory.loadComputes('shop')]);
    await store.inventory.loadComputes('shop');
    assert.deepEqual(service.requests, [COMPUTES]);
    assert.deepEqual(events, ['project shop', 'branch shop br-main']);
  });

  it('fires no event when nothing changed, and keeps the same objects', async () => {
    await store.inventory.loadComputes('shop');
    const before = store.inventory.compute('shop', 'ep-one');
    let fired = 0;
    store.inventory.onDidChange(() => (fired += 1));
    assert.deepEqual(await refreshed(), []);
    assert.equal(fired, 0);
    assert.equal(store.inventory.compute('shop', 'ep-one'), before);
  });

  it('reports the compute that changed', async () => {
    await store.inventory.loadComputes('shop');
    computes[1] = computeRecord('ep-two', { type: 'read_only', current_state: 'idle' });
    assert.deepEqual(await refreshed(), ['compute shop br-main ep-two']);
  });

  it('reports the branch whose computes came or went', async () => {
    await store.inventory.loadComputes('shop');
    computes.pop();
    assert.deepEqual(await refreshed(), ['branch shop br-main']);
  });

  it('reports the project when a branch gets its first compute', async () => {
    await store.inventory.loadComputes('shop');
    computes.push(computeRecord('ep-three', { branch_id: 'br-dev' }));
    assert.deepEqual(await refreshed(), ['project shop', 'branch shop br-dev']);
  });

  it('reports both branches when a compute moves', async () => {
    await store.inventory.loadComputes('shop');
    computes.push(computeRecord('ep-three', { branch_id: 'br-dev' }));
    await refreshed();
    computes[1] = computeRecord('ep-two', { type: 'read_only', branch_id: 'br-dev' });
    assert.deepEqual((await refreshed()).toSorted(), ['branch shop br-dev', 'branch shop br-main']);
  });

  it('keeps its data when a refresh fails, and the failure until one succeeds', async () => {
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

  it('reports a different failure, but not the same one again', async () => {
    await store.inventory.loadComputes('shop');
    const failed = async (status: number) => {
      service.script = () => status;
      events = [];
      await Promise.allSettled([store.inventory.refreshComputes('shop'), store.inventory.refreshProjects()]);
      return events;
    };
    assert.deepEqual(await failed(500), ['project shop', 'projects']);
    assert.deepEqual(await failed(500), []);
    assert.deepEqual(await failed(401), ['project shop', 'projects']);
    assert.equal(store.inventory.state.kind, 'failed', 'a new key can be offered');
  });

  it('does not request a failed list again for callers that only show it', async () => {
    service.script = () => 500;
    await store.inventory.ensureComputes('shop');
    await store.inventory.ensureComputes('shop');
    assert.equal(service.requests.length, 1);
  });

  it('keeps unreadable records next to the others, also after a refresh', async () => {
    computes.push({ id: 'ep-odd', host: 7 });
    await store.inventory.loadComputes('shop');
    const list = store.inventory.computesOf('shop');
    assert.equal(list?.computes.size, 2);
    assert.deepEqual(list?.unreadable, [{ id: 'ep-odd', field: 'host' }]);
    assert.deepEqual(await refreshed(), []);
    assert.equal(list?.unreadable.length, 1);
  });

  it("takes over the service's list even if it equals the one before a change", async () => {
    await store.inventory.loadComputes('shop');
    store.inventory.put(computeRecord('ep-one', { current_state: 'idle' }));
    assert.deepEqual(await refreshed(), ['compute shop br-main ep-one']);
    assert.equal(store.inventory.compute('shop', 'ep-one')?.current_state, 'active');
  });

  it('requests the list again if a change came during the request, and takes it over too', async () => {
    await store.inventory.loadComputes('shop');
    const early = Promise.withResolvers<unknown>();
    service.script = () => early.promise;
    const refreshing = store.inventory.refreshComputes('shop');
    await until('the request', async () => service.requests.length === 2);
    store.inventory.put(computeRecord('ep-one', { current_state: 'idle' }));
    early.resolve({ endpoints: computes });
    await refreshing;
    assert.equal(service.requests.length, 3);
    assert.equal(store.inventory.compute('shop', 'ep-one')?.current_state, 'active');
  });

  it('sends at most six requests at once', async () => {
    const gate = Promise.withResolvers<void>();
    service.script = async (call) => {
      if (call !== 'GET /projects') await gate.promise;
      return { projects: [], endpoints: [] };
    };
    const ids = Array.from({ length: 40 }, (_, index) => `p-${index}`);
    const refreshing = store.inventory.refreshComputesOf(ids);
    await until('six requests', async () => service.requests.length === 6);
    // A later request has a reply by now, so a seventh would have arrived.
    await store.inventory.refreshProjects();
    assert.equal(service.requests.length, 7);
    gate.resolve();
    await refreshing;
    assert.equal(service.requests.length, 41);
  });

  it('requests nothing of the next account for the projects of this one', async () => {
    service.script = () => new Promise(() => undefined);
    const ids = Array.from({ length: 40 }, (_, index) => `p-${index}`);
    const refreshing = store.inventory.refreshComputesOf(ids).catch(() => undefined);
    await until('six requests', async () => service.requests.length === 6);
    await store.accounts.add({ ...store.account, name: 'other' }, 'key');
    await refreshing;
    assert.equal(service.requests.filter((call) => call.includes('/p-')).length, 6);
  });

  it('refreshes the other projects when one fails, and throws its failure', async () => {
    service.script = (call) => (call.includes('/bad/') ? 500 : { endpoints: computes });
    await assert.rejects(store.inventory.refreshComputesOf(['bad', 'shop']));
    assert.equal(store.inventory.computesOf('shop')?.isLoaded, true);
  });

  it('starts with the known data when the key of the account changes', async () => {
    service.script = () => ({ projects: [{ id: 'shop', name: 'shop' }], endpoints: computes });
    await store.inventory.loadComputes('shop');
    await store.inventory.refreshProjects();
    const before = store.inventory.compute('shop', 'ep-one');
    events = [];
    await store.accounts.add(store.account, 'another-key');
    await until('the other key', async () => store.session.connection?.hasKey('another-key') === true);
    assert.deepEqual(events, ['key']);
    assert.equal(store.inventory.project('shop')?.name, 'shop');
    assert.equal(store.inventory.compute('shop', 'ep-one'), before);
    computes[1] = computeRecord('ep-two', { type: 'read_only', current_state: 'idle' });
    assert.deepEqual(await refreshed(), ['compute shop br-main ep-two']);
  });

  it('drops late replies to the previous key', async () => {
    await store.inventory.loadComputes('shop');
    await store.inventory.refreshProjects();
    const late = Promise.withResolvers<unknown>();
    service.script = () => late.promise;
    const refreshing = assert.rejects(store.inventory.refreshComputes('shop'));
    await until('the request', async () => service.requests.at(-1) === COMPUTES);
    await store.accounts.add(store.account, 'another-key');
    await until('the other key', async () => store.session.connection?.hasKey('another-key') === true);
    await refreshing;
    late.resolve({ endpoints: [] });
    assert.equal(store.inventory.computesOf('shop')?.failure, undefined, 'an ended call is no failure');
    service.script = () => ({ endpoints: computes });
    await store.inventory.refreshComputes('shop');
    assert.equal(store.inventory.computesOf('shop')?.computes.size, 2);
  });

  it('forgets computes and branches of a deleted project, not of one that was never listed', async () => {
    let listed = ['shop', 'blog'];
    service.script = (call) => ({
      projects: call.endsWith('/projects') ? listed.map((id) => ({ id, name: id })) : [],
      endpoints: computes,
      branches: [],
    });
    const index = new ComputeIndex(store.inventory);
    await store.inventory.refreshProjects();
    await store.inventory.loadComputesOf(['shop', 'blog', 'linked']);
    assert.equal(index.search('', 20).hosts.length, 12);
    for (const id of listed) assert.ok(await store.inventory.branches.ensureLoaded(id));
    listed = ['blog'];
    events = [];
    await store.inventory.refreshProjects();
    assert.deepEqual(events, ['projects', 'project shop']);
    assert.equal(store.inventory.branches.forProject('shop'), undefined);
    assert.ok(store.inventory.branches.forProject('blog'));
    assert.equal(store.inventory.computesOf('shop'), undefined);
    assert.ok(store.inventory.computesOf('blog') && store.inventory.computesOf('linked'));
    assert.equal(index.search('', 20).hosts.length, 8);
    index.dispose();
  });

  it('reloads computes that were not shown during a refresh', async () => {
    await store.inventory.loadComputesOf(['shop', 'blog']);
    service.requests.length = 0;
    events = [];
    await store.inventory.refreshAll(['shop']);
    assert.deepEqual(service.requests.toSorted(), ['GET /projects', 'GET /projects/shop/branches', COMPUTES]);
    assert.equal(store.inventory.computesOf('blog'), undefined);
    assert.ok(events.includes('project blog'));
  });

  it('keeps computes that were not shown during a refresh if the service fails', async () => {
    await store.inventory.loadComputesOf(['shop', 'blog']);
    service.script = () => 500;
    await assert.rejects(store.inventory.refreshAll(['shop']));
    assert.equal(store.inventory.computesOf('blog')?.isLoaded, true);
    assert.equal(store.inventory.computesOf('shop')?.isLoaded, true);
  });

  it('shows that it is loading while a failed list of projects is refreshed', async () => {
    const kind = () => store.inventory.state.kind;
    service.script = () => 500;
    await store.inventory.ensureProjects();
    await store.inventory.ensureProjects();
    assert.equal(service.requests.length, 1);
    assert.equal(kind(), 'failed');
    service.script = () => ({ projects: [] });
    const refreshing = store.inventory.refreshAll([]);
    assert.equal(kind(), 'loading');
    await refreshing;
    assert.equal(kind(), 'empty');
  });

  it('is failed if the key is rejected for computes, although the projects are known', async () => {
    service.script = () => ({ projects: [{ id: 'shop', name: 'Shop' }] });
    await store.inventory.ensureProjects();
    const kinds: string[] = [];
    for (const status of [500, 401]) {
      service.script = () => status;
      await store.inventory.refreshComputes('shop').catch(() => undefined);
      kinds.push(store.inventory.state.kind);
    }
    assert.deepEqual(kinds, ['ready', 'failed']);
  });

  it('is ready again once the key is accepted for any list, although other lists are not requested again', async () => {
    await store.inventory.ensureProjects();
    await store.inventory.loadComputes('shop');
    service.script = (call) =>
      call === 'GET /projects' ? { projects: [{ id: 'shop', name: 'Shop' }] } : 401;
    await assert.rejects(store.inventory.refreshComputes('shop'));
    await store.inventory.refreshProjects();
    assert.equal(store.inventory.state.kind, 'ready');
  });

  it('forgets that the previous key was rejected', async () => {
    service.script = () => ({ projects: [{ id: 'shop', name: 'Shop' }] });
    await store.inventory.projects?.load();
    service.script = () => 401;
    await assert.rejects(store.inventory.refreshProjects());
    assert.equal(store.inventory.state.kind, 'failed');
    await store.accounts.add(store.account, 'another-key');
    await until('the other key', async () => store.inventory.state.kind === 'ready');
  });

  it('shows computes in the order of display', async () => {
    computes = [
      computeRecord('ep-b', { type: 'read_only' }),
      computeRecord('ep-a', { type: 'read_only' }),
      computeRecord('ep-z'),
    ];
    const list = await store.inventory.loadComputes('shop');
    const shown = [...(list?.branches() ?? [])].map(([id, all]) => [id, ...all.map((each) => each.id)]);
    assert.deepEqual(shown, [['br-main', 'ep-z', 'ep-a', 'ep-b']]);
  });
});
