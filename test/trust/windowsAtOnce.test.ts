/** Two windows that change one account at the same moment: each reports the truth, and neither undoes the other's change. */
import assert from 'node:assert/strict';
import { isRejected } from '../../src/api/errors.ts';
import type { Compute } from '../../src/api/records/records.ts';
import { ApiKeyList } from '../../src/model/account/apiKeyList.ts';
import type { ComputeNode } from '../../src/model/inventory/nodes.ts';
import { connectModel, type ConnectedModel } from '../helpers/connectedModel.ts';
import { FaultProxy } from '../helpers/faultProxy.ts';
import { startLocalService, type LocalService } from '../helpers/localService.ts';
import { SecretMap } from '../helpers/secretMap.ts';
import { until } from '../workbench/until.ts';

describe('Two windows at the same moment', () => {
  let service: LocalService;
  let proxy: FaultProxy;
  let secrets: SecretMap;
  let windows: readonly [ConnectedModel, ConnectedModel];
  let projectId: string;

  before(async () => {
    service = await startLocalService({ postgres: false });
    for await (const page of service.client.projectPages()) projectId = page.items[0]?.id ?? '';
  });
  after(() => service.stop());

  beforeEach(async () => {
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
    secrets = new SecretMap();
    const open = () => connectModel(proxy, { secrets, key: service.key });
    windows = [await open(), await open()];
    for (const { inventory } of windows) {
      await inventory.ensureProjects();
      await inventory.loadComputes(projectId);
    }
  });
  afterEach(async () => {
    for (const window of windows) window.dispose();
    await proxy.stop();
  });

  const computes = async (): Promise<readonly Compute[]> =>
    (await service.client.listComputes(projectId)).items;
  const node = ({ id, branch_id: branchId }: Compute): ComputeNode => ({
    kind: 'compute',
    projectId,
    branchId,
    computeId: id,
  });
  const newReplica = async (): Promise<Compute> => {
    const [first] = await computes();
    assert.ok(first);
    const creation = { branch_id: first.branch_id, type: 'read_only' } as const;
    const { compute } = await service.client.createCompute(projectId, creation);
    assert.ok(compute);
    await settled();
    for (const { inventory } of windows) await inventory.refreshComputes(projectId);
    return compute;
  };
  const settled = () =>
    until('an end of what runs', async () => (await computes()).every((one) => !one.pending_state));
  /** Lets time pass in both until nothing is followed any more. */
  const followed = () =>
    until('the ends of the changes', async () => {
      for (const { clock } of windows) if (clock.waits.length > 0) clock.next();
      return windows.every(({ tracker }) => tracker.pending.length === 0);
    });
  const both = <T>(run: (window: ConnectedModel, index: number) => Promise<T>) =>
    Promise.allSettled(windows.map(run));

  it('may edit different attributes of a compute', async () => {
    const replica = await newReplica();
    const changes = [{ name: 'new name' }, { suspend_timeout_seconds: 600 }];
    const results = await both(({ computeActions, options }, index) =>
      computeActions.update(node(replica), changes[index] ?? {}, options),
    );
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled'],
    );
    await followed();
    const compute = (await computes()).find(({ id }) => id === replica.id);
    assert.deepEqual([compute?.name, compute?.suspend_timeout_seconds], ['new name', 600]);
  });

  it('may restart a compute: each change has an end, or the reason why it was not made', async () => {
    const replica = await newReplica();
    const results = await both(({ computeActions, options }) =>
      computeActions.restart(node(replica), options),
    );
    assert.ok(results.some(({ status }) => status === 'fulfilled'));
    for (const each of results) if (each.status === 'rejected') assert.ok(isRejected(each.reason, 423));
    await followed();
    await settled();
  });

  it('may delete a compute: it is gone from both', async () => {
    const replica = await newReplica();
    const results = await both(({ computeActions, options }) =>
      computeActions.delete(node(replica), options),
    );
    for (const each of results) if (each.status === 'rejected') assert.ok(isRejected(each.reason, 404));
    await followed();
    await until('the compute to be gone', async () =>
      windows.every(({ inventory }) => inventory.compute(projectId, replica.id) === undefined),
    );
  });

  it('do not mistake a compute of the other for the one whose creation failed', async () => {
    const [first] = await computes();
    assert.ok(first);
    const creation = { branch_id: first.branch_id, type: 'read_only' } as const;
    const [one, other] = windows;
    await other.computeActions.create(projectId, creation, other.options);
    await settled();
    proxy.inject('unavailablePage', { method: 'POST' });
    await assert.rejects(one.computeActions.create(projectId, creation, one.options), (error) =>
      isRejected(error, 503),
    );
    await followed();
  });

  it('may revoke a key: it is gone from both', async () => {
    const { id } = await service.client.createApiKey('to revoke');
    const lists = windows.map(({ session }) => new ApiKeyList(session));
    try {
      // A list takes the connection from the next change of its session.
      await Promise.all(lists.map((list) => list.load()));
      const results = await Promise.allSettled(lists.map((list) => list.revoke(id)));
      for (const each of results) if (each.status === 'rejected') assert.ok(isRejected(each.reason, 404));
      for (const list of lists) assert.equal(list.key(id), undefined);
    } finally {
      for (const list of lists) list.dispose();
    }
  });
});
