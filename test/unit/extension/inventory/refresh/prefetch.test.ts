import assert from 'node:assert/strict';
import { Prefetch } from '../../../../../src/extension/inventory/refresh/prefetch.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { FakeClock } from '../../../../helpers/fakeClock.ts';
import { computeRecord, type Script } from '../../../../helpers/scriptedService.ts';

const PREFETCHED_PROJECTS = 50;
const noError = (error: unknown) => assert.fail(String(error));

/** More projects than are prefetched, each with one compute. */
const manyProjects: Script = (call) => {
  const [, project_id = ''] = /projects\/(.*)\/endpoints$/.exec(call) ?? [];
  if (project_id !== '') return { endpoints: [computeRecord(`ep-${project_id}`, { project_id })] };
  return {
    projects: Array.from({ length: PREFETCHED_PROJECTS + 10 }, (_, p) => ({ id: `p${p}`, name: '' })),
  };
};

describe('Prefetch', () => {
  let connected: ScriptedModel;

  beforeEach(async () => {
    connected = await connectScripted(manyProjects);
  });

  it('loads the first projects once, and is partial if there are others', async () => {
    const prefetch = new Prefetch(connected.inventory, noError);
    assert.equal(prefetch.isPartial, true);
    await Promise.all([prefetch.start(), prefetch.start()]);
    assert.equal([...connected.inventory.allComputes()].length, PREFETCHED_PROJECTS);
    assert.equal(connected.service.requests.length, 1 + PREFETCHED_PROJECTS);
    await prefetch.start();
    assert.equal(connected.service.requests.length, 1 + PREFETCHED_PROJECTS);
    assert.equal(prefetch.isPartial, true);
  });

  it('skips lists that were requested before', async () => {
    await connected.inventory.projects?.loadFirstPage();
    await connected.inventory.loadComputesOf(['p0', 'p1', 'p55']);
    const before = connected.service.requests.length;
    await new Prefetch(connected.inventory, noError).start();
    assert.equal(connected.service.requests.length, before + PREFETCHED_PROJECTS - 2);
  });

  it('does nothing without a connection, and starts again for the next one', async () => {
    const prefetch = new Prefetch(connected.inventory, noError);
    await connected.accounts.choose(undefined);
    await connected.session.reread();
    await prefetch.start();
    assert.equal(prefetch.isPartial, false);
    assert.deepEqual(connected.service.requests, []);
    await connected.accounts.choose(connected.account);
    await connected.session.reread();
    await prefetch.start();
    assert.equal([...connected.inventory.allComputes()].length, PREFETCHED_PROJECTS);
  });

  it('loads the only project of an account', async () => {
    const small = await connectScripted((call) =>
      call === 'GET /projects' ? { projects: [{ id: 'shop', name: '' }] } : { endpoints: [] },
    );
    await small.inventory.projects?.loadFirstPage();
    await new Prefetch(small.inventory, noError).start();
    assert.equal(small.inventory.computesOf('shop')?.isLoaded, true);
  });

  it('is complete when the computes of all projects are loaded', async () => {
    const prefetch = new Prefetch(connected.inventory, noError);
    await connected.inventory.projects?.load();
    await connected.inventory.loadComputesOf(connected.inventory.projects?.entries.keys() ?? []);
    assert.equal(prefetch.isPartial, false);
  });

  it('reports a project that fails, but not one that was deleted', async () => {
    for (const [status, expected] of [
      [404, 0],
      [500, 1],
    ] as const) {
      const failing = await connectScripted((call) =>
        call === 'GET /projects' ? { projects: [{ id: 'shop', name: 'shop' }] } : status,
      );
      const errors: unknown[] = [];
      await new Prefetch(failing.inventory, (error) => errors.push(error)).start();
      assert.equal(errors.length, expected);
    }
  });

  it('loads computes that failed again after a minute, and those of another account at once', async () => {
    const clock = new FakeClock();
    const prefetch = new Prefetch(connected.inventory, () => undefined, clock);
    const loaded = () => [...connected.inventory.allComputes()].length;
    connected.service.script = (call) => (call === 'GET /projects' ? manyProjects(call) : 500);
    await prefetch.start();
    connected.service.script = manyProjects;
    clock.pass(60_001);
    await prefetch.start();
    assert.equal(loaded(), PREFETCHED_PROJECTS);
    for (const name of ['another', 'a third']) {
      connected.service.script = name === 'another' ? () => 500 : manyProjects;
      await connected.accounts.add({ ...connected.account, name }, 'key');
      await connected.session.reread();
      await prefetch.start();
    }
    assert.equal(loaded(), PREFETCHED_PROJECTS);
  });

  it('reports a failure once and retries after a minute, not at every keystroke', async () => {
    const clock = new FakeClock();
    connected.service.script = () => 500;
    const errors: unknown[] = [];
    const prefetch = new Prefetch(connected.inventory, (error) => errors.push(error), clock);
    await prefetch.start();
    assert.equal(errors.length, 1);
    await prefetch.start();
    assert.equal(errors.length, 1);
    clock.pass(60_000);
    await prefetch.start();
    assert.equal(errors.length, 1);
    clock.pass(1);
    await prefetch.start();
    assert.equal(errors.length, 2);
  });
});
