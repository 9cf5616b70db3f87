import assert from 'node:assert/strict';
import type { ComputePatch } from '../../../../src/api/records/requests.ts';
import {
  actions,
  CHECKOUT,
  CHECKOUT_PRIMARY,
  FREE,
  isHttpError,
  MAIN,
  PROJECT,
  sampleProject,
} from './sampleProject.ts';
import { useQuietService } from '../useQuietService.ts';

describe('Compute changes', () => {
  const service = useQuietService();
  const { found, settled, create, change, raw } = sampleProject(service);

  describe('An update', () => {
    it('without effect on connections applies at once, without an operation', async () => {
      const { id } = await create();
      const outcome = await change(id, {
        suspend_timeout_seconds: 600,
        name: 'renamed',
        passwordless_access: true,
      });
      assert.deepEqual(actions(outcome), []);
      assert.equal(outcome.compute?.current_state, 'active');
      const now = await found(id);
      assert.deepEqual([now?.suspend_timeout_seconds, now?.name], [600, 'renamed']);
    });

    it('without attributes changes nothing', async () => {
      const { id } = await create();
      assert.deepEqual(actions(await change(id, {})), []);
      assert.deepEqual(actions(await change(id, { branch_id: FREE, autoscaling_limit_min_cu: 0.25 })), []);
    });

    for (const patch of [
      { autoscaling_limit_max_cu: 2 },
      { settings: { pg_settings: { work_mem: '5MB' } } },
      { pooler_enabled: true },
    ] satisfies ComputePatch[]) {
      it(`of ${Object.keys(patch).join()} keeps the compute active`, async () => {
        const { id } = await create();
        const outcome = await change(id, patch);
        assert.deepEqual(actions(outcome), ['apply_config running']);
        assert.equal(outcome.compute?.pending_state, 'active');
        const compute = await settled(id);
        assert.equal(compute.current_state, 'active');
        for (const [name, value] of Object.entries(patch))
          assert.deepEqual(Reflect.get(compute, name), value);
      });
    }

    it('of the branch moves the compute and suspends it', async () => {
      const { id, host } = await create();
      const outcome = await change(id, { branch_id: MAIN });
      assert.deepEqual(actions(outcome), ['apply_config running', 'suspend_compute scheduling']);
      assert.equal(outcome.compute?.pending_state, 'idle');
      const compute = await settled(id);
      assert.deepEqual([compute.branch_id, compute.current_state, compute.host], [MAIN, 'idle', host]);
    });

    it('that disables a compute suspends it and keeps it from starting until it is enabled', async () => {
      const { id } = await create();
      assert.deepEqual(actions(await change(id, { disabled: true })), [
        'apply_config running',
        'suspend_compute scheduling',
      ]);
      assert.equal((await settled(id)).current_state, 'idle');
      assert.equal((await raw('POST', `/endpoints/${id}/start`)).status, 409);
      await assert.rejects(service().client.restartCompute(PROJECT, id), isHttpError(409, /disabled/));
      await change(id, { disabled: false });
      await settled(id);
      assert.equal((await raw('POST', `/endpoints/${id}/start`)).status, 200);
      assert.equal((await settled(id)).current_state, 'active');
    });

    it('of one size limit keeps the other, and both must be valid', async () => {
      const { id } = await create({ autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 2 });
      await assert.rejects(change(id, { autoscaling_limit_min_cu: 4 }), isHttpError(422, /is above/));
      await change(id, { autoscaling_limit_max_cu: 4 });
      const compute = await settled(id);
      assert.deepEqual([compute.autoscaling_limit_min_cu, compute.autoscaling_limit_max_cu], [1, 4]);
    });

    it('that moves a primary to a branch with a primary is rejected and changes nothing', async () => {
      const id = CHECKOUT_PRIMARY;
      await assert.rejects(
        change(id, { branch_id: MAIN, name: 'moved' }),
        isHttpError(409, /already has a primary/),
      );
      const compute = await found(id);
      assert.equal(compute?.branch_id, CHECKOUT);
      assert.equal(compute?.name, undefined);
    });

    it('to an unknown branch is rejected', async () => {
      const { id } = await create();
      await assert.rejects(change(id, { branch_id: 'br-nowhere' }), isHttpError(404, /branch/));
    });
  });

  describe('Restarting and starting', () => {
    it('suspends and starts an active compute', async () => {
      const { id } = await create();
      const outcome = await service().client.restartCompute(PROJECT, id);
      assert.deepEqual(actions(outcome), ['suspend_compute running', 'start_compute scheduling']);
      assert.equal(outcome.compute?.pending_state, 'active');
      assert.equal((await settled(id)).current_state, 'active');
    });

    it('only starts an idle compute', async () => {
      const { id } = await create();
      await raw('POST', `/endpoints/${id}/suspend`);
      assert.equal((await settled(id)).current_state, 'idle');
      assert.deepEqual(actions(await service().client.restartCompute(PROJECT, id)), [
        'start_compute running',
      ]);
      assert.equal((await settled(id)).current_state, 'active');
    });

    it('changes nothing if start is called for an active compute', async () => {
      const { id } = await create();
      const { json } = await raw('POST', `/endpoints/${id}/start`);
      assert.deepEqual((json as { operations: unknown }).operations, []);
    });
  });

  describe('A deletion', () => {
    it('returns the record and a suspend_compute, and is permanent', async () => {
      const { id } = await create();
      const outcome = await service().client.deleteCompute(PROJECT, id);
      assert.equal(outcome.compute?.id, id);
      assert.deepEqual(actions(outcome), ['suspend_compute running']);
      assert.equal(await found(id), undefined);
      assert.equal((await raw('GET', `/endpoints/${id}`)).status, 404);
      assert.equal((await raw('PATCH', `/endpoints/${id}`, { endpoint: {} })).status, 404);
    });

    it('returns 204 without a body if there is no such compute, or no longer', async () => {
      const { id } = await create();
      await service().client.deleteCompute(PROJECT, id);
      for (const each of [id, 'ep-never-was-000000']) {
        const { status, text } = await raw('DELETE', `/endpoints/${each}`);
        assert.deepEqual([status, text], [204, '']);
      }
    });
  });
});
