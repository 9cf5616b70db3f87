import assert from 'node:assert/strict';
import { eventText } from '../../../helpers/eventText.ts';
import { connectModel, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { scriptService, type ScriptedService } from '../../../helpers/scriptedService.ts';

describe('ProjectList', () => {
  let service: ScriptedService;
  let store: ConnectedModel;
  let events: string[];

  const projects = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({ id: `p-${from + index}`, name: `${from + index}` }));

  beforeEach(async () => {
    service = await scriptService(() => ({ projects: projects(0, 3) }));
    store = await connectModel(service);
    events = [];
    store.inventory.onDidChange((changes) => events.push(...changes.map(eventText)));
  });

  const loadAll = async () => await store.inventory.projects?.load();
  const ids = () => [...(store.inventory.projects?.entries.keys() ?? [])];

  it('shows the first page and grows with the next ones', async () => {
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

  it('shows that a page is retried until that page arrives, not until the last one', async () => {
    const second = Promise.withResolvers<unknown>();
    service.script = () => {
      if (service.requests.length === 1) return 503;
      if (service.requests.length > 2) return second.promise;
      return { projects: projects(0, 400), pagination: { cursor: 'next' } };
    };
    const { inventory } = await connectModel(service, { client: { retries: 1, maxDelay: 0 } });
    const { retryStatus } = inventory;
    const shown: (typeof retryStatus.current)[] = [];
    retryStatus.onDidChange(() => shown.push(retryStatus.current));
    await inventory.ensureProjects();
    const [retry, ...after] = shown;
    assert.ok(typeof retry === 'object' && retry.status === 503);
    assert.deepEqual(after, [undefined]);
    second.resolve({ projects: [] });
    await inventory.projects?.load();
  });

  it('reports a project that a later page has changed, and keeps its position', async () => {
    service.script = () =>
      service.requests.length === 1
        ? { projects: projects(0, 400), pagination: { cursor: 'next' } }
        : { projects: [{ id: 'p-0', name: 'renamed' }, ...projects(1, 2)] };
    await loadAll();
    assert.deepEqual(events, ['projects', 'projects', 'project p-0', 'projects']);
    assert.equal(ids().length, 400);
    assert.equal(ids()[0], 'p-0');
    assert.equal(store.inventory.project('p-0')?.name, 'renamed');
  });

  it('keeps its pages when a later one fails, and starts again on the next load', async () => {
    const first = { projects: projects(0, 400), pagination: { cursor: 'next' } };
    service.script = () => (service.requests.length === 1 ? first : 500);
    await assert.rejects(loadAll(), /status 500/);
    assert.equal(ids().length, 400);
    assert.equal(store.inventory.projects?.isLoaded, false);
    assert.deepEqual(events, ['projects', 'projects']);
    service.script = () => (service.requests.length === 3 ? first : { projects: projects(400, 450) });
    await loadAll();
    assert.equal(ids().length, 450);
    assert.equal(store.inventory.projects?.failure, undefined);
    assert.equal(store.inventory.projects?.isLoaded, true);
  });

  it('reports the project that changed, and the list when projects are removed', async () => {
    await loadAll();
    events = [];
    await store.inventory.refreshProjects();
    assert.deepEqual(events, []);
    const other = store.inventory.project('p-1');
    service.script = () => ({ projects: [{ id: 'p-0', name: 'renamed' }, ...projects(1, 3)] });
    await store.inventory.refreshProjects();
    assert.deepEqual(events, ['project p-0']);
    assert.equal(store.inventory.project('p-1'), other, 'an equal project stays the same object');
    service.script = () => ({ projects: projects(1, 3) });
    await store.inventory.refreshProjects();
    assert.deepEqual(events, ['project p-0', 'projects']);
  });

  it('reports the list when projects are reordered', async () => {
    await loadAll();
    events = [];
    service.script = () => ({ projects: projects(0, 3).toReversed() });
    await store.inventory.refreshProjects();
    assert.deepEqual(events, ['projects']);
    assert.deepEqual(ids(), ['p-2', 'p-1', 'p-0']);
  });

  it('keeps a project that became unreadable, and is not empty with unreadable projects only', async () => {
    await loadAll();
    service.script = () => ({ endpoints: [] });
    await store.inventory.loadComputes('p-0');
    service.script = () => ({ projects: [{ id: 'p-0', name: 7 }, ...projects(1, 2)] });
    await store.inventory.refreshProjects();
    assert.equal(store.inventory.projects?.isEmpty, false);
    service.script = () => ({ projects: [{ id: 'p-0', name: 7 }] });
    await store.inventory.refreshProjects();
    assert.deepEqual(ids(), []);
    assert.equal(store.inventory.projects?.isEmpty, false);
    assert.equal(store.inventory.state.kind, 'ready');
    assert.ok(store.inventory.computesOf('p-0'));
  });

  it('shows the last known record of a project whose details are unavailable', async () => {
    await loadAll();
    service.script = () => ({ projects: projects(1, 3), unavailable_project_ids: ['p-0', 'p-new'] });
    await store.inventory.refreshProjects();
    assert.deepEqual(ids(), ['p-1', 'p-2', 'p-0', 'p-new']);
    assert.equal(store.inventory.project('p-0')?.name, '0');
    assert.deepEqual(store.inventory.projects?.entries.get('p-new'), { id: 'p-new', record: undefined });
  });
});
