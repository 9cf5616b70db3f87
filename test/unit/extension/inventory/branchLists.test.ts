import assert from 'node:assert/strict';
import { branchIdsOf, deletionProblem } from '../../../../src/extension/inventory/branchStatus.ts';
import { nameUnlessId } from '../../../../src/extension/inventory/names.ts';
import type { InventoryEvent } from '../../../../src/extension/inventory/nodes.ts';
import { connectScripted, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, holdReply } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

const BRANCHES = 'GET /projects/shop/branches';

describe('BranchLists', () => {
  let store: ScriptedModel;
  let branches: unknown[] | number;
  let changes: string[];

  const record = (id: string, fields: object = {}) => ({ id, name: id.slice(3), ...fields });
  const count = () => store.service.requests.filter((call) => call === BRANCHES).length;
  const text = (change: InventoryEvent) =>
    [change.kind, 'branchId' in change ? change.branchId : ''].join(' ').trim();

  beforeEach(async () => {
    branches = [record('br-a', { parent_id: 'br-main' }), record('br-main', { default: true })];
    store = await connectScripted((call) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'shop' }] };
      if (call.endsWith('/branches')) return Array.isArray(branches) ? { branches } : branches;
      return { endpoints: [computeRecord('ep-one', { branch_id: 'br-old' })] };
    });
    await store.inventory.ensureProjects();
    await store.inventory.loadComputes('shop');
    changes = [];
    store.inventory.onDidChange((all) => changes.push(...all.map(text)));
  });

  it('loads the branches of a project once, the default one first', async () => {
    await Promise.all([
      store.inventory.branches.ensureLoaded('shop'),
      store.inventory.branches.ensureLoaded('shop'),
    ]);
    await store.inventory.branches.ensureLoaded('shop');
    assert.equal(count(), 1);
    assert.deepEqual(branchIdsOf(store.inventory, 'shop'), ['br-main', 'br-a', 'br-old']);
    assert.deepEqual(changes, ['project', 'branch br-a', 'branch br-main']);
  });

  it('are as they are when the user refreshes all, also if an older list is on its way', async () => {
    const held = holdReply(store.service, '/branches');
    const earlier = store.inventory.branches.refresh('shop');
    const send = await held;
    branches = [record('br-new')];
    const refreshed = store.inventory.refreshAll(['shop']);
    send();
    await refreshed;
    assert.ok(store.inventory.branches.get('shop', 'br-new'));
    await earlier;
  });

  it('reports another name, mark or state, and no other fields', async () => {
    await store.inventory.branches.ensureLoaded('shop');
    let fields = { parent_id: 'br-main' };
    for (const change of [
      { name: 'new' },
      { protected: true },
      { current_state: 'resetting' },
      { expires_at: '2030' },
    ]) {
      changes = [];
      fields = { ...fields, ...change };
      branches = [record('br-a', fields), record('br-main', { default: true, active_time_seconds: 7 })];
      await store.inventory.branches.refresh('shop');
      // Another name may change the order.
      assert.deepEqual(changes, 'name' in change ? ['project', 'branch br-a'] : ['branch br-a']);
    }
    assert.equal(store.inventory.branches.get('shop', 'br-main')?.active_time_seconds, 7);
  });

  it('reports another default branch as another order', async () => {
    await store.inventory.branches.ensureLoaded('shop');
    changes = [];
    branches = [record('br-a', { parent_id: 'br-main', default: true }), record('br-main')];
    await store.inventory.branches.refresh('shop');
    assert.ok(changes.includes('project'));
    assert.deepEqual(branchIdsOf(store.inventory, 'shop')[0], 'br-a');
  });

  for (const status of [403, 404, 405])
    it(`does not call a service again that replies ${status}`, async () => {
      branches = status;
      assert.equal(await store.inventory.branches.ensureLoaded('shop'), undefined);
      assert.deepEqual(changes, ['project']);
      await store.inventory.branches.refresh('shop');
      await store.inventory.refreshAll(['shop']);
      assert.equal(count(), 1);
      assert.equal(store.inventory.branches.isOffered, false);
      assert.deepEqual(branchIdsOf(store.inventory, 'shop'), ['br-old']);
      assert.equal(store.inventory.state.kind, 'ready');
    });

  for (const status of [403, 404])
    it(`requests branches of other projects after a ${status} if the computes can't be read either`, async () => {
      const { script } = store.service;
      store.service.script = (call) => (call.startsWith('GET /projects/gone') ? status : script(call));
      await store.inventory.branches.ensureLoaded('gone');
      assert.equal(store.inventory.branches.isOffered, true);
      assert.ok(await store.inventory.branches.ensureLoaded('shop'));
    });

  it('takes a 404 for a deleted project if the service has listed branches before', async () => {
    await store.inventory.branches.ensureLoaded('shop');
    branches = 404;
    await store.inventory.branches.refresh('shop');
    assert.equal(store.inventory.branches.isOffered, true);
  });

  it('keeps the branches if a refresh fails, and tries again at the next one', async () => {
    await store.inventory.branches.ensureLoaded('shop');
    for (const status of [500, 401, 200]) {
      branches = status === 200 ? [record('br-b')] : status;
      await store.inventory.branches.refresh('shop');
      assert.equal(
        nameUnlessId(store.inventory.branches.get('shop', status === 200 ? 'br-b' : 'br-a')),
        status === 200 ? 'b' : 'a',
      );
    }
  });

  it('keeps the branches when the key of the account changes, but not for another account', async () => {
    const list = await store.inventory.branches.ensureLoaded('shop');
    branches = 401;
    await store.inventory.branches.refresh('shop');
    assert.ok(list?.failure !== undefined);
    await store.accounts.add(store.account, 'another-key');
    await until('the other key', async () => store.session.connection?.hasKey('another-key') === true);
    assert.ok(store.inventory.branches.get('shop', 'br-a'));
    assert.equal(list.failure, undefined);
    const account = { ...store.account, name: 'other' };
    await store.accounts.add(account, 'other-key');
    await until('the other account', async () => store.session.connection?.account.name === 'other');
    assert.equal(store.inventory.branches.get('shop', 'br-a'), undefined);
  });

  it('knows which branches the service does not delete', async () => {
    branches = [
      record('br-main', { default: true }),
      record('br-root'),
      record('br-a', { parent_id: 'br-root' }),
      record('br-b', { parent_id: 'br-a' }),
    ];
    const list = await store.inventory.branches.ensureLoaded('shop');
    assert.ok(list);
    const problems = [...list.branches.values()].map((branch) => deletionProblem(list, branch)?.kind);
    assert.deepEqual(problems, ['default', 'root', 'parent', undefined]);
  });
});
