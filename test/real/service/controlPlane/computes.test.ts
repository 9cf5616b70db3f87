import assert from 'node:assert/strict';
import { isRejected } from '../../../../src/api/transport/errors.ts';
import type { Compute } from '../../../../src/api/records/records.ts';
import type { ComputeCreation } from '../../../../src/api/records/requests.ts';
import { call } from '../../../helpers/call.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { useQuietService } from '../useQuietService.ts';
import { FREE, PROJECT, isHttpError, replica, sampleProject, MAIN } from './sampleProject.ts';

describe('Computes', () => {
  const service = useQuietService();

  const { settled, create, raw } = sampleProject(service);

  describe('A new compute', () => {
    it('is returned with 201 in state init, pending active, and with a running start_compute', async () => {
      const { status, json } = await raw('POST', '/endpoints', { endpoint: replica });
      assert.equal(status, 201);
      const { endpoint, operations } = json as { endpoint: Compute; operations: Record<string, unknown>[] };
      assert.match(endpoint.id, /^ep-[a-z]+-[a-z]+-\d{6}$/);
      assert.match(endpoint.host, /^127\.0\.0\.1:\d+$/);
      assert.deepEqual([endpoint.current_state, endpoint.pending_state], ['init', 'active']);
      assert.deepEqual(endpoint.settings, { pg_settings: {} });
      assert.equal(operations.length, 1);
      const { id, created_at, updated_at, ...operation } = operations[0] ?? {};
      assert.match(String(id), /^[0-9a-f-]{36}$/);
      for (const time of [created_at, updated_at]) assert.match(String(time), /^\d{4}-.*Z$/);
      assert.deepEqual(operation, {
        project_id: PROJECT,
        branch_id: FREE,
        endpoint_id: endpoint.id,
        action: 'start_compute',
        status: 'running',
        failures_count: 0,
        total_duration_ms: 0,
      });
      const active = await settled(endpoint.id);
      assert.equal(active.current_state, 'active');
      assert(typeof active.last_active === 'string');
    });

    it('has the attributes of the request', async () => {
      const creation = {
        name: 'reports',
        autoscaling_limit_min_cu: 0.5,
        autoscaling_limit_max_cu: 3,
        suspend_timeout_seconds: 120,
        settings: { pg_settings: { work_mem: '8MB', max_parallel_workers: '2', jit: 'off' } },
        pooler_enabled: true,
        passwordless_access: true,
      } as const;
      const { json } = await raw('POST', '/endpoints', {
        endpoint: { ...replica, ...creation, pooler_mode: 'transaction' },
      });
      const { endpoint } = json as { endpoint: Compute };
      assert.deepEqual({ ...endpoint, ...creation }, endpoint);
      assert.match(endpoint.pooler_host ?? '', /^127\.0\.0\.1:\d+$/);
      assert.notEqual(endpoint.pooler_host, endpoint.host);
    });

    for (const provisioner of ['k8s-pod', 'k8s-neonvm', 'serverless-platform'])
      it(`accepts ${provisioner}, a provisioner of the public service`, async () => {
        await create({ provisioner });
      });

    it('stays idle if it is disabled', async () => {
      const compute = await create({ disabled: true });
      assert.equal(compute.current_state, 'idle');
    });

    const sizes: readonly (readonly [number | undefined, number | undefined, number, number])[] = [
      [undefined, undefined, 0.25, 0.25],
      [2, undefined, 2, 2],
      [undefined, 2, 0.25, 2],
      [1, 4, 1, 4],
      [10, 10, 10, 10],
    ];
    for (const [min, max, ...expected] of sizes) {
      it(`with min ${min} and max ${max} has ${expected.join(' to ')} CU`, async () => {
        const compute = await create({
          ...(min === undefined ? {} : { autoscaling_limit_min_cu: min }),
          ...(max === undefined ? {} : { autoscaling_limit_max_cu: max }),
        });
        assert.deepEqual([compute.autoscaling_limit_min_cu, compute.autoscaling_limit_max_cu], expected);
      });
    }

    const broken: readonly (readonly [string, Partial<ComputeCreation>, number, RegExp])[] = [
      ['a second primary', { branch_id: MAIN, type: 'read_write' }, 409, /already has a primary/],
      ['an unknown branch', { branch_id: 'br-nowhere' }, 404, /branch/],
      ['a size between the sizes', { autoscaling_limit_min_cu: 2.5 }, 422, /must each be one of/],
      ['min above max', { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 2 }, 422, /is above/],
      ['another region', { region_id: 'mars-1' }, 422, /region_id/],
      ['another provisioner', { provisioner: 'x' }, 422, /provisioner/],
    ];
    for (const [what, creation, status, message] of broken) {
      it(`with ${what} is rejected with ${status} and not created`, async () => {
        const before = (await raw('GET', '/endpoints')).text;
        await assert.rejects(
          service().client.createCompute(PROJECT, { ...replica, ...creation }),
          isHttpError(status, message),
        );
        assert.equal((await raw('GET', '/endpoints')).text, before);
      });
    }

    it('is the only primary of its branch, even if several are created at once', async () => {
      const creation = { branch_id: 'br-young-moon-279461', type: 'read_write' } as const;
      const tries = Array.from({ length: 10 }, () =>
        service().client.createCompute('calm-poetry-195246', creation),
      );
      const results = await Promise.allSettled(tries);
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    });
  });

  it('that do not exist get 404 for every call but their deletion', async () => {
    const calls: readonly (readonly [string, string, unknown?])[] = [
      ['GET', ''],
      ['PATCH', '', { endpoint: {} }],
      ['POST', '/restart'],
      ['POST', '/start'],
      ['POST', '/suspend'],
    ];
    for (const [method, path, body] of calls) {
      assert.equal(
        (await raw(method, `/endpoints/ep-never-was-000000${path}`, body)).status,
        404,
        method + path,
      );
    }
  });
});

describe('The free plan', () => {
  let service: LocalService;
  before(async () => {
    service = await startLocalService({
      postgres: false,
      args: ['--plan', 'free', '--projects', 'test/real/service/small.json'],
    });
  });

  it('has a sample account within its limits', async () => {
    const sample = await startLocalService({ postgres: false, args: ['--plan', 'free'] });
    for await (const { items } of sample.client.projectPages()) {
      for (const { id } of items) {
        const computes = await sample.client.listComputes(id);
        const sizes = computes.items.map((compute) => compute.autoscaling_limit_max_cu);
        assert.deepEqual(new Set(sizes), new Set([0.25]));
      }
    }
  });

  it('lets a project be renamed whose default size is from a paid plan', async () => {
    const options = { postgres: false, key: 'key-of-both', dataDir: temporaryFolder() };
    const patch = async ({ baseUrl, key }: LocalService, project: object) => {
      const path = '/projects/shiny-wind-028834';
      return (await call(baseUrl, { method: 'PATCH', path, key, body: { project } })).status;
    };
    const paid = await startLocalService(options);
    const sizes = { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 };
    assert.equal(await patch(paid, { default_endpoint_settings: sizes }), 200);
    await paid.stop();
    const free = await startLocalService({ ...options, args: ['--plan', 'free'] });
    assert.equal(await patch(free, { name: 'renamed' }), 200);
    assert.equal(await patch(free, { default_endpoint_settings: sizes }), 422);
  });

  it('allows computes of 0.25 CU, and no larger ones', async () => {
    const { json } = await call(service.baseUrl, { path: '/users/me', key: service.key });
    const { plan, max_autoscaling_limit } = json as Record<string, unknown>;
    assert.deepEqual([plan, max_autoscaling_limit], ['free', 0.25]);
    const replica = { branch_id: 'br-main', type: 'read_only' } as const;
    const { compute } = await service.client.createCompute('small-one', { ...replica, disabled: true });
    assert.equal(compute?.autoscaling_limit_max_cu, 0.25);
    const message = /free plan allows computes up to 0.25 CU/;
    for (const larger of [{ autoscaling_limit_max_cu: 0.5 }, { autoscaling_limit_min_cu: 2 }]) {
      const creation = { ...replica, ...larger };
      await assert.rejects(service.client.createCompute('small-one', creation), message);
    }
    const update = () =>
      service.client.updateCompute('small-one', compute?.id ?? '', { autoscaling_limit_max_cu: 10 });
    const rejection = await until('the compute is not locked', () =>
      update().then(
        () => assert.fail('updated'),
        (error: unknown) => (isRejected(error, 423) ? undefined : error),
      ),
    );
    assert.match(String(rejection), message);
  });
});
