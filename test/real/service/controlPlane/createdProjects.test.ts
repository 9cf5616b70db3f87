import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import type { ComputeAddress } from '../../../../src/service/core/computeEngine.ts';
import { branchCalls } from '../../../helpers/branchCalls.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { startInProcess, useInProcess } from '../inProcess.ts';
import { FREE, MAIN, PROJECT } from './sampleProject.ts';

const PRIMARY = { type: 'read_write' };

describe('Projects that clients create', () => {
  const test = useInProcess();
  const api = () => branchCalls(test());

  it('give their defaults to new computes', async () => {
    const settings = {
      autoscaling_limit_min_cu: 1,
      autoscaling_limit_max_cu: 2,
      suspend_timeout_seconds: 60,
    };
    const { project } = await api().change('POST', '', { project: { default_endpoint_settings: settings } });
    const sizes = async () =>
      (await test().client.listComputes(project.id)).items.map((each) => [
        each.autoscaling_limit_min_cu,
        each.autoscaling_limit_max_cu,
        each.suspend_timeout_seconds,
      ]);
    assert.deepEqual(await sizes(), [[1, 2, 60]]);
    await api().change('POST', `/${project.id}/branches`, {
      endpoints: [{ ...PRIMARY, autoscaling_limit_max_cu: 4 }],
    });
    assert.deepEqual((await sizes())[1], [0.25, 4, 60]);
  });

  it('count the time before a resize with the size of that time', async () => {
    const size = (cu: number) => ({ autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu });
    const { project, endpoints } = await api().change('POST', '', { project: size(1) });
    const used = async () =>
      (await api().send<{ project: { cpu_used_sec: number } }>('GET', `/${project.id}`)).project.cpu_used_sec;
    test().clock.advance(20_000);
    const before = await used();
    await api().change('PATCH', `/${project.id}/endpoints/${endpoints[0]?.id}`, { endpoint: size(10) });
    assert.deepEqual([before, await used()], [20, 20]);
  });

  it('count the time before a move of a compute for the branch of that time', async () => {
    const { project, branch, endpoints } = await api().change('POST', '', { project: {} });
    const address = `/${project.id}/branches`;
    const { branch: other } = await api().change('POST', address, {});
    test().clock.advance(20_000);
    const move = { endpoint: { branch_id: other.id } };
    await api().change('PATCH', `/${project.id}/endpoints/${endpoints[0]?.id}`, move);
    const branches = await api().send<{ branches: { id: string; active_time_seconds: number }[] }>(
      'GET',
      address,
    );
    const used = new Map(branches.branches.map(({ id, active_time_seconds }) => [id, active_time_seconds]));
    assert.deepEqual([used.get(branch.id), used.get(other.id)], [20, 0]);
  });

  it('reject numbers beyond their limits, and name the limit', async () => {
    for (const [seconds, limit] of [
      [-1, 'least 0'],
      [2_592_001, 'most 2592000'],
    ]) {
      const body = { project: { history_retention_seconds: seconds } };
      const { message } = await api().send<{ message: string }>('POST', '', body, 422);
      assert.equal(message, `project.history_retention_seconds: must be at ${limit}`);
    }
  });

  it('are not created without Postgres, and no branches are created or restored', async () => {
    const [main, other] = await api().branches(PROJECT);
    test().engine.postgresProblem = 'Install Postgres.';
    const calls = {
      '': { project: {} },
      [`/${PROJECT}/branches`]: {},
      [`/${PROJECT}/branches/${other?.id}/restore`]: { source_branch_id: main?.id },
    };
    for (const [address, body] of Object.entries(calls)) {
      const { code } = await api().send<{ code: string }>('POST', address, body, 409);
      assert.equal(code, 'POSTGRES_MISSING');
    }
  });

  it('reply with 404 to a change that began before they were deleted', async () => {
    const allocated = Promise.withResolvers<ComputeAddress>();
    test().engine.allocateAddress = () => allocated.promise;
    const address = `/${PROJECT}/branches`;
    const created = api().send('POST', address, { endpoints: [PRIMARY] }, 404);
    await api().send('DELETE', `/${PROJECT}`);
    allocated.resolve({ port: 1, poolerPort: 2 });
    await created;
    assert.deepEqual(test().log, []);
  });

  const names = { role_name: ['pg_x', '', 'x'.repeat(64), 'a\nb'], database_name: ['postgres', 'a\u0000'] };
  for (const [field, values] of Object.entries(names)) {
    it(`reject a ${field} that Postgres reserves or that is no name`, async () => {
      for (const value of values)
        await api().send('POST', '', { project: { branch: { [field]: value } } }, 422);
      const { projects } = await api().send<{ projects: object[] }>('GET', '');
      assert.equal(projects.length, 3);
    });
  }
});

describe('The size of a branch', () => {
  const test = useInProcess();

  it('is as of when its compute was last active, or that of its parent', async () => {
    const api = branchCalls(test());
    const find = async (id: string) => (await api.branches(PROJECT)).find((branch) => branch.id === id);
    const sizeOf = async (id: string) => (await find(id))?.logical_size;
    test().engine.branchSize = 20_000_000;
    test().clock.advance(29_999);
    assert.equal(await sizeOf(MAIN), undefined);
    for (const size of [30_000_000, 40_000_000]) {
      test().engine.branchSize = size;
      await until('the size is known', async () => {
        test().clock.advance(30_000);
        return (await sizeOf(MAIN)) === size;
      });
    }
    test().engine.historySize = 5_000_000;
    await until('what the history costs', async () => {
      test().clock.advance(30_000);
      return (await find(MAIN))?.history_size === 5_000_000;
    });
    assert.equal(await sizeOf(FREE), undefined);
    const { branch } = await api.send('POST', `/${PROJECT}/branches`, {});
    assert.deepEqual([branch.logical_size, branch.history_size], [40_000_000, undefined]);
  });
});

describe('A deleted project without history', () => {
  it('is removed at once, and its data when the engine can', async () => {
    const folder = temporaryFolder();
    let test = await startInProcess({ folder });
    const api = branchCalls(test);
    const { project, branch, endpoints } = await api.change('POST', '', { project: {} });
    assert.equal(project.name, project.id);
    assert.deepEqual([branch.name, branch.default], ['main', true]);
    await api.send('PATCH', `/${project.id}`, {
      project: { name: 'renamed', history_retention_seconds: 0 },
    });
    test.engine.fail('deleteBranch', 'the disk is on fire');
    const deleted = await api.send('DELETE', `/${project.id}`);
    assert.equal(deleted.project.name, 'renamed');
    await api.send('GET', `/${project.id}`, undefined, 404);
    await until('the data could not be removed', () =>
      Promise.resolve(test.log.some((line) => line.includes('fire'))),
    );
    await test.stop();
    test = await startInProcess({ folder });
    await until('the data is removed', () =>
      Promise.resolve(test.engine.calls.includes(`deleteBranch ${branch.id}`)),
    );
    assert(test.engine.calls.includes(`remove ${endpoints[0]?.id}`));
    await test.stop();
    rmSync(folder, { recursive: true, force: true });
  });
});
