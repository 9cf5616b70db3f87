import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { ComputePatch } from '../../../../src/api/records/requests.ts';
import type { ComputeNode } from '../../../../src/extension/inventory/nodes.ts';
import { omitUnchanged } from '../../../../src/extension/computes/computeActions.ts';
import { connectScripted, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, holdReply, operationRecord } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

const node: ComputeNode = { kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-one' };

describe('ComputeActions', () => {
  let store: ScriptedModel;
  let computes: unknown[];

  beforeEach(async () => {
    computes = [computeRecord('ep-one')];
    store = await connectScripted(() => ({ endpoints: computes }));
    await store.inventory.loadComputes('shop');
  });

  /** Replies to changes; the lists stay as they are. */
  const replyToChanges = (reply: () => unknown) => {
    store.service.script = (call) => (call.startsWith('GET') ? { endpoints: computes } : reply());
  };

  it('shows the reply at once and follows its operations', async () => {
    const endpoint = computeRecord('ep-one', { pending_state: 'idle' });
    replyToChanges(() => ({ endpoint, operations: [operationRecord(1)] }));
    const { pendingId } = await store.computeActions.restart(node, store.options);
    assert(pendingId !== undefined);
    assert.equal(store.inventory.compute('shop', 'ep-one')?.pending_state, 'idle');
    assert.equal(store.tracker.pending[0]?.verb, 'restart');
  });

  it('refreshes the list when there is nothing to follow', async () => {
    replyToChanges(() => ({ endpoint: computeRecord('ep-one'), operations: [] }));
    computes = [];
    const { pendingId } = await store.computeActions.delete(node, store.options);
    assert.equal(pendingId, undefined);
    assert.equal(store.inventory.compute('shop', 'ep-one'), undefined);
  });

  it("throws the service's error and changes nothing", async () => {
    replyToChanges(() => 422);
    const creation = { branch_id: 'br-main', type: 'read_write' } as const;
    await assert.rejects(store.computeActions.create('shop', creation, store.options), /status 422/);
    assert.deepEqual(store.tracker.pending, []);
    assert.equal(store.inventory.computesOf('shop')?.computes.size, 1);
  });

  for (const status of [404, 409, 422])
    it(`refreshes the list, which is out of date, after a ${status}`, async () => {
      replyToChanges(() => {
        computes.push(computeRecord('ep-other', { type: 'read_write' }));
        return status;
      });
      const creation = { branch_id: 'br-main', type: 'read_write' } as const;
      const creating = store.computeActions.create('shop', creation, store.options);
      await assert.rejects(creating, new RegExp(`status ${status}`));
      await until('the other compute', async () => store.inventory.compute('shop', 'ep-other'));
    });

  for (const status of [502, 503, 504]) {
    it(`finds a created compute in the list after status ${status} from a gateway, and sends nothing twice`, async () => {
      replyToChanges(() => {
        computes.push(computeRecord('ep-new', { type: 'read_only', current_state: 'init' }));
        return status;
      });
      const creation = { branch_id: 'br-main', type: 'read_only' } as const;
      const made = await store.computeActions.create('shop', creation, store.options);
      assert.equal(made.compute?.id, 'ep-new');
      assert.equal(store.service.requests.filter((call) => call.startsWith('POST')).length, 1);
    });
  }

  it('does not mistake a compute that another window created before for the new one', async () => {
    replyToChanges(() => 502);
    computes.push(computeRecord('ep-early', { type: 'read_only' }));
    const creation = { branch_id: 'br-main', type: 'read_only' } as const;
    await assert.rejects(store.computeActions.create('shop', creation, store.options), /status 502/);
  });

  it('does not mistake such a compute for the new one either if an older list is on its way', async () => {
    replyToChanges(() => 502);
    const held = holdReply(store.service, '/endpoints');
    const earlier = store.inventory.refreshComputes('shop');
    const send = await held;
    computes.push(computeRecord('ep-early', { type: 'read_only' }));
    const creation = { branch_id: 'br-main', type: 'read_only' } as const;
    const creating = store.computeActions.create('shop', creation, store.options);
    send();
    await assert.rejects(creating, /status 502/);
    await earlier;
  });

  it('throws if more than one compute is new after a lost reply', async () => {
    replyToChanges(() => {
      for (const id of ['ep-new', 'ep-other']) computes.push(computeRecord(id, { type: 'read_only' }));
      return 502;
    });
    const creation = { branch_id: 'br-main', type: 'read_only' } as const;
    await assert.rejects(store.computeActions.create('shop', creation, store.options), /status 502/);
  });

  for (const fields of [{ name: 'other' }, { branch_id: 'br-dev' }, { type: 'read_write' }])
    it(`ignores a new compute with ${JSON.stringify(fields)} after a lost reply`, async () => {
      replyToChanges(() => {
        computes.push(computeRecord('ep-other', { type: 'read_only', name: 'mine', ...fields }));
        return 502;
      });
      const creation = { branch_id: 'br-main', type: 'read_only', name: 'mine' } as const;
      await assert.rejects(store.computeActions.create('shop', creation, store.options), /status 502/);
      assert.equal(store.service.requests.filter((call) => call.startsWith('POST')).length, 1);
    });

  it('finds the edit in the list after a lost reply', async () => {
    const change = { name: 'new', settings: { pg_settings: { work_mem: '8MB' } } };
    replyToChanges(() => {
      // The service may have further settings.
      const settings = { pg_settings: { work_mem: '8MB' }, other_settings: {} };
      computes = [computeRecord('ep-one', { name: 'new', settings })];
      return 504;
    });
    await store.computeActions.update(node, change, store.options);
    assert.equal(store.inventory.compute('shop', 'ep-one')?.name, 'new');
    replyToChanges(() => 504);
    await assert.rejects(
      store.computeActions.update(node, { ...change, name: 'newer' }, store.options),
      /status 504/,
    );
  });

  it('rejects a change without a connection', async () => {
    await store.accounts.choose(undefined);
    await until('the end of the session', async () => store.session.connection === undefined);
    await assert.rejects(store.computeActions.restart(node, store.options), /Not connected/);
  });

  it('follows each kind of change under its own name, and hides a compute that is being deleted', async () => {
    let number = 0;
    replyToChanges(() => ({ endpoint: computeRecord('ep-one'), operations: [operationRecord(++number)] }));
    computes = [];
    await store.inventory.refreshComputes('shop');
    await store.computeActions.delete(node, store.options);
    assert.equal(store.inventory.compute('shop', 'ep-one'), undefined);
    await store.computeActions.create('shop', { branch_id: 'br-main', type: 'read_write' }, store.options);
    assert.ok(store.inventory.compute('shop', 'ep-one'));
    await store.computeActions.update(node, { name: 'new' }, store.options);
    const verbs = store.tracker.pending.map(({ verb }) => verb);
    assert.deepEqual(verbs, ['delete', 'create', 'edit']);
  });

  for (const [verb, state] of [
    ['restart', 'active'],
    ['start', 'active'],
    ['suspend', 'idle'],
  ] as const) {
    const other = state === 'active' ? 'idle' : 'active';

    it(`follows the operations of a ${verb}`, async () => {
      replyToChanges(() => ({ endpoint: computeRecord('ep-one'), operations: [operationRecord(1)] }));
      assert((await store.computeActions[verb](node, store.options))?.pendingId !== undefined);
      assert.equal(store.tracker.pending[0]?.verb, verb);
    });

    it(`finds the ${verb} in the list after a lost reply`, async () => {
      replyToChanges(() => {
        computes = [computeRecord('ep-one', { current_state: other, pending_state: state })];
        return 504;
      });
      const { compute, pendingId } = await store.computeActions[verb](node, store.options);
      assert.deepEqual([compute?.pending_state, pendingId], [state, 'unread-ep-one']);
      computes = [computeRecord('ep-one', { current_state: other })];
      replyToChanges(() => 504);
      await assert.rejects(store.computeActions[verb](node, store.options), /status 504/);
    });
  }

  for (const verb of ['start', 'suspend'] as const) {
    for (const status of [403, 404, 405]) {
      it(`says that the service does not offer it if it replies ${status} to a ${verb}`, async () => {
        replyToChanges(() => status);
        const features: string[] = [];
        store.sender.onNotOffered((feature) => features.push(feature));
        await assert.rejects(store.computeActions[verb](node, store.options), { name: 'NotOfferedError' });
        assert.deepEqual(features, ['startAndSuspend']);
      });
    }

    it(`throws if the compute to ${verb} was deleted`, async () => {
      replyToChanges(() => 404);
      computes = [];
      await assert.rejects(store.computeActions[verb](node, store.options), /status 404/);
    });

    it(`throws if the key can't read the compute to ${verb}`, async () => {
      await store.inventory.loadComputes('shop');
      store.service.script = () => 403;
      await assert.rejects(store.computeActions[verb](node, store.options), /status 403/);
    });
  }

  it('returns the number of connections only if the service does', async () => {
    let one: unknown = { endpoint: computeRecord('ep-one', { connections: 2 }) };
    store.service.script = () => one;
    assert.equal(await store.computeActions.countOpenConnections(node), 2);
    for (const none of [{}, { connections: null }]) {
      one = { endpoint: computeRecord('ep-one', none) };
      assert.equal(await store.computeActions.countOpenConnections(node), undefined);
    }
    one = { endpoint: computeRecord('ep-one', { current_state: 'idle', connections: 0 }) };
    assert.equal(await store.computeActions.countOpenConnections(node), 'idle');
    one = { endpoint: computeRecord('ep-one', { current_state: 'idle', pending_state: 'active' }) };
    assert.equal(await store.computeActions.countOpenConnections(node), undefined);
    one = 404;
    assert.equal(await store.computeActions.countOpenConnections(node), undefined);
    one = 500;
    assert.equal(await store.computeActions.countOpenConnections(node), undefined);
  });

  it('waits at most five seconds for the number of connections', async () => {
    const reply = Promise.withResolvers<unknown>();
    store.service.script = () => reply.promise;
    const limits: number[] = [];
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const mocked = mock.method(AbortSignal, 'timeout', (limit: number) => {
      limits.push(limit);
      return limits.length === 1 ? AbortSignal.abort() : timeout(limit);
    });
    try {
      assert.equal(await store.computeActions.countOpenConnections(node), undefined);
    } finally {
      mocked.mock.restore();
      reply.resolve(404);
    }
    assert.equal(limits[0], 5000);
  });

  it('throws if the list cannot be requested after a lost reply', async () => {
    store.service.script = () => 504;
    await assert.rejects(store.computeActions.delete(node, store.options), /status 504/);
  });

  it('finds the deletion in the list after a lost reply', async () => {
    replyToChanges(() => {
      computes = [];
      return 504;
    });
    await store.computeActions.delete(node, store.options);
    assert.equal(store.inventory.compute('shop', 'ep-one'), undefined);
  });
});

describe('omitUnchanged', () => {
  const size = { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 4 };
  const sizeless = computeRecord('ep-one');
  const plain = { ...sizeless, ...size };
  const full = {
    ...size,
    branch_id: 'br-main',
    name: 'orders',
    suspend_timeout_seconds: 300,
    pooler_enabled: true,
    disabled: true,
    settings: { pg_settings: { work_mem: '8MB' } },
  };
  const defaults: ComputePatch = {
    name: '',
    suspend_timeout_seconds: 0,
    pooler_enabled: false,
    disabled: false,
    settings: { pg_settings: {} },
  };
  const named = computeRecord('ep-one', full);
  const { name } = full;

  it('returns only the attributes that differ, or undefined', () => {
    assert.deepEqual(omitUnchanged(plain, { ...size, name }), { name });
    assert.deepEqual(omitUnchanged({ ...named, name: 'sales' }, full), { name });
    assert.equal(omitUnchanged(named, full), undefined);
  });

  it('assumes the default for attributes that the record lacks, but no size', () => {
    assert.equal(omitUnchanged(plain, { ...defaults, ...size }), undefined);
    for (const [field, value] of Object.entries({ ...full, branch_id: 'br-dev' }))
      assert.deepEqual(omitUnchanged(sizeless, { [field]: value }), { [field]: value }, field);
    assert.deepEqual(omitUnchanged(named, defaults), defaults);
  });
});
