/**
 * Deleted projects: how long they can be recovered, and what they are then.
 * Timers: service/controlPlane/branches/deletedProjects.ts.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { branchCalls, type Branch, type Created } from '../../../helpers/branchCalls.ts';
import { call } from '../../../helpers/call.ts';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { START_TIME, startInProcess, type InProcess } from '../inProcess.ts';

interface Listed {
  readonly id: string;
  readonly deleted_at?: string;
  readonly recoverable_until?: string;
}

const DAY = 86_400_000;
const timeAt = (time: number) => new Date(time).toISOString();

describe('A deleted project', () => {
  let test: InProcess;
  let folder: string;
  let created: Created;
  const api = () => branchCalls(test);
  const deleted = async () =>
    (await api().send<{ projects: Listed[] }>('GET', '?recoverable=true')).projects.map((each) => each);
  const recover = async (id: string, status = 200) =>
    api().send<{ project: Listed; branches: Branch[] }>('POST', `/${id}/recover`, undefined, status);
  const isRemoved = ({ branch }: Created) => test.engine.calls.includes(`deleteBranch ${branch.id}`);
  const restart = async () => {
    await test.stop();
    test = await startInProcess({ folder, clock: new FakeClock(test.clock.now()) });
  };

  beforeEach(async () => {
    folder = temporaryFolder();
    test = await startInProcess({ folder });
    created = await api().change('POST', '', { project: { name: 'shop' } });
    await api().send('DELETE', `/${created.project.id}`);
  });
  afterEach(async () => {
    await test.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is listed, and its computes are stopped, but its data stays', async () => {
    const { id } = created.project;
    const [first] = await deleted();
    assert.deepEqual(
      [first?.id, first?.deleted_at, first?.recoverable_until],
      [id, timeAt(START_TIME), timeAt(START_TIME + DAY)],
    );
    await api().send('GET', `/${id}`, undefined, 404);
    await until('its compute is stopped', async () =>
      test.engine.calls.includes(`remove ${created.endpoints[0]?.id}`),
    );
    assert(!isRemoved(created));
  });

  it('is recovered with its branches and the addresses of its computes, also after a restart', async () => {
    const { id } = created.project;
    const before = test.service;
    await restart();
    assert.notEqual(test.service, before);
    const { project, branches } = await recover(id);
    assert.deepEqual([project.id, branches.map((each) => each.id)], [id, [created.branch.id]]);
    const { endpoints } = await api().send<Created>('GET', `/${id}/endpoints`);
    assert.deepEqual(
      endpoints.map(({ host, id: compute }) => [compute, host]),
      created.endpoints.map(({ host, id: compute }) => [compute, host]),
    );
    assert(test.engine.calls.includes(`attach ${created.endpoints[0]?.id}`));
    assert.deepEqual(await deleted(), []);
    await recover(id, 404);
    await api().change('POST', `/${id}/endpoints/${created.endpoints[0]?.id}/start`);
  });

  it('keeps its ports, so that no other compute gets its address', async () => {
    const [host] = created.endpoints.map((each) => each.host);
    const other = await api().change('POST', '', { project: {} });
    assert.notEqual(other.endpoints[0]?.host, host);
  });

  it('is removed for good when its history would have ended, and not before', async () => {
    test.clock.advance(DAY - 10_000);
    assert(!isRemoved(created));
    assert.equal((await deleted()).length, 1);
    test.clock.advance(10_000);
    await until('its data is removed', async () => isRemoved(created));
    assert.deepEqual(await deleted(), []);
    await recover(created.project.id, 404);
  });

  it('is removed for good if its data is too much, the oldest first', async () => {
    const { project } = await api().change('POST', '', { project: {} });
    test.engine.canKeepUntil = 1;
    await api().send('DELETE', `/${project.id}`);
    await until('the data of the first is removed', async () => isRemoved(created));
    assert.deepEqual(
      (await deleted()).map(({ id }) => id),
      [project.id],
    );
  });

  it('is not listed if the disk has no space for it', async () => {
    const checked = Promise.withResolvers<boolean>();
    test.engine.canKeepDeleted = async (ids) => (ids.length === 0 ? true : checked.promise);
    const { project } = await api().change('POST', '', { project: {} });
    await api().send('DELETE', `/${project.id}`);
    const listed = deleted();
    await api().send('GET', '');
    checked.resolve(false);
    assert.deepEqual(await listed, []);
  });

  it('is unknown to a call with another id', async () => {
    const { status, text } = await call(test.baseUrl, {
      method: 'POST',
      path: '/projects/gone-1/recover',
      key: test.key,
    });
    assert.equal(status, 404);
    assert.match(text, /no deleted project that can be recovered, with the id/);
  });
});
