import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BaseUrl } from '../../../../src/api/baseUrl.ts';
import { Prefetch, PREFETCHED_PROJECTS } from '../../../../src/model/refresh/prefetch.ts';
import { connectInventory } from '../../../helpers/connectedInventory.ts';
import { scriptService } from '../../../helpers/scriptedService.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../../helpers/localService.ts';

const noError = (error: unknown) => assert.fail(String(error));

describe('Prefetch', () => {
  const folder = temporaryFolder();
  let service: LocalService;

  before(async () => {
    const file = path.join(folder, 'projects.json');
    const projects = Array.from({ length: PREFETCHED_PROJECTS + 10 }, (_, p) => ({
      id: `p${p}`,
      name: `project ${p}`,
      branches: [
        { id: `br-p${p}`, computes: [{ id: `ep-p${p}-c0`, type: 'read_write', current_state: 'idle' }] },
      ],
    }));
    writeFileSync(file, JSON.stringify({ projects }));
    service = await startLocalService({ postgres: false, args: ['--projects', file] });
  });
  after(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  it('loads the first projects once, and is partial if there are others', async () => {
    const connected = await connectInventory(service);
    const prefetch = new Prefetch(connected.inventory, noError);
    assert.equal(prefetch.isPartial, true);
    await Promise.all([prefetch.start(), prefetch.start()]);
    assert.equal([...connected.inventory.allComputes()].length, PREFETCHED_PROJECTS);
    assert.equal(connected.requests.length, 1 + PREFETCHED_PROJECTS);
    await prefetch.start();
    assert.equal(connected.requests.length, 1 + PREFETCHED_PROJECTS);
    assert.equal(prefetch.isPartial, true);
  });

  it('skips lists that were requested before', async () => {
    const connected = await connectInventory(service);
    await connected.inventory.projects?.firstPage();
    await connected.inventory.loadComputesOf(['p0', 'p1', 'p55']);
    const before = connected.requests.length;
    await new Prefetch(connected.inventory, noError).start();
    assert.equal(connected.requests.length, before + PREFETCHED_PROJECTS - 2);
  });

  it('does nothing without a connection, and starts again for the next one', async () => {
    const connected = await connectInventory(service);
    const prefetch = new Prefetch(connected.inventory, noError);
    await connected.signOut();
    await prefetch.start();
    assert.equal(prefetch.isPartial, false);
    assert.deepEqual(connected.requests, []);
    await connected.signIn();
    await prefetch.start();
    assert.equal([...connected.inventory.allComputes()].length, PREFETCHED_PROJECTS);
  });

  it('is complete when the computes of all projects are loaded', async () => {
    const connected = await connectInventory(service);
    const prefetch = new Prefetch(connected.inventory, noError);
    await connected.inventory.projects?.load();
    await connected.inventory.loadComputesOf(connected.inventory.projects?.entries.keys() ?? []);
    assert.equal(prefetch.isPartial, false);
  });

  it('reports a project that fails, but not one that was deleted', async () => {
    let status = 404;
    const scripted = await scriptService((call) =>
      call === 'GET /projects' ? { projects: [{ id: 'shop', name: 'shop' }] } : status,
    );
    for (const expected of [0, 1]) {
      const connected = await connectInventory({ baseUrl: scripted.baseUrl, key: 'key' });
      const errors: unknown[] = [];
      await new Prefetch(connected.inventory, (error) => errors.push(error)).start();
      assert.equal(errors.length, expected);
      status = 500;
    }
  });

  it('reports a failure once and retries after a minute, not at every keystroke', async () => {
    let now = 0;
    const clock = { now: () => now, after: () => ({ dispose() {} }) };
    const closed = { baseUrl: 'http://127.0.0.1:9/api/v2' as BaseUrl, key: 'k' };
    const connected = await connectInventory(closed);
    const errors: unknown[] = [];
    const prefetch = new Prefetch(connected.inventory, (error) => errors.push(error), clock);
    await prefetch.start();
    assert.equal(errors.length, 1);
    await prefetch.start();
    assert.equal(errors.length, 1);
    now = 61_000;
    await prefetch.start();
    assert.equal(errors.length, 2);
  });
});
