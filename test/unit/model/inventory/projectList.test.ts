import assert from 'node:assert/strict';
import { wordsOf } from '../../../helpers/changeWords.ts';
import { connectStore, type ConnectedStore } from '../../../helpers/connectedStore.ts';
import { scriptService, type ScriptedService } from '../../../helpers/scriptedService.ts';

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

  const loadAll = async () => await store.inventory.projects?.load();
  const ids = () => [...(store.inventory.projects?.entries.keys() ?? [])];

  it('is there with the first page and grows with the next ones', async () => {
    const second = Promise.withResolvers<unknown>();
    service.script = () =>
      service.requests.length === 1
        ? { projects: projects(0, 400), pagination: { cursor: 'next' } }
        : second.promise;
    await store.inventory.ensureProjects();
    assert.equal(ids().length, 400);
    assert.equal(store.inventory.state.kind, 'ready');
    second.resolve({ projects: projects(400, 450) });
    await store.inventory.projects?.load();
    assert.equal(ids().length, 450);
  });

  it('tells of a project that a later page tells otherwise, which keeps its place', async () => {
    service.script = () =>
      service.requests.length === 1
        ? { projects: projects(0, 400), pagination: { cursor: 'next' } }
        : { projects: [{ id: 'p-0', name: 'renamed' }, ...projects(1, 2)] };
    await loadAll();
    assert.deepEqual(told, ['projects', 'projects', 'project p-0', 'projects']);
    assert.equal(ids().length, 400);
    assert.equal(ids()[0], 'p-0');
    assert.equal(store.inventory.project('p-0')?.name, 'renamed');
  });

  it('keeps the pages there were when a later one fails, and begins anew when asked again', async () => {
    const first = { projects: projects(0, 400), pagination: { cursor: 'next' } };
    service.script = () => (service.requests.length === 1 ? first : 500);
    await assert.rejects(loadAll(), /status 500/);
    assert.equal(ids().length, 400);
    assert.equal(store.inventory.projects?.isLoaded, false);
    assert.deepEqual(told, ['projects', 'projects']);
    service.script = () => (service.requests.length === 3 ? first : { projects: projects(400, 450) });
    await loadAll();
    assert.equal(ids().length, 450);
    assert.equal(store.inventory.projects?.failure, undefined);
    assert.equal(store.inventory.projects?.isLoaded, true);
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
    assert.equal(store.inventory.state.kind, 'ready');
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
