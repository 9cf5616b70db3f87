import assert from 'node:assert/strict';
import type { BranchNode } from '../../../../src/extension/inventory/nodes.ts';
import { BranchActions } from '../../../../src/extension/branches/branchActions.ts';
import { connectScripted, RecoveryRecordMap, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { operationRecord } from '../../../helpers/scriptedService.ts';

const dev: BranchNode = { kind: 'branch', projectId: 'shop', branchId: 'br-dev' };

describe('BranchActions after a lost reply', () => {
  let store: ScriptedModel;
  let changes: BranchActions;
  let branches: Record<string, unknown>[];
  let projects: unknown[];
  let computes: unknown[];
  let operations: unknown[];
  /** The status of the reply to a change, after the change was made. */
  let status: number;

  const record = (id: string, fields: object = {}) => ({
    id,
    name: id.slice(3),
    current_state: 'ready',
    ...fields,
  });
  /** Makes the change that the next call asks for. */
  let change: () => unknown;
  const sent = () => store.service.requests.filter((call) => !call.startsWith('GET'));

  beforeEach(async () => {
    branches = [record('br-main', { default: true }), record('br-dev', { parent_id: 'br-main' })];
    projects = [{ id: 'shop', name: 'shop' }];
    computes = [];
    operations = [];
    status = 502;
    change = () => ({ branch: branches[1], operations });
    store = await connectScripted((call) => {
      if (call === 'GET /projects') return { projects };
      if (call.startsWith('GET') && call.endsWith('/branches')) return { branches };
      if (call.startsWith('GET') && call.includes('/operations/')) return { operation: operations[0] };
      if (call.startsWith('GET')) return { endpoints: computes };
      change();
      return status;
    });
    const { session, inventory, sender } = store;
    changes = new BranchActions(session, inventory, sender, new RecoveryRecordMap());
    await store.inventory.ensureProjects();
    await store.inventory.loadComputes('shop');
    await store.inventory.branches.ensureLoaded('shop');
  });
  it('finds a change in the list after a lost reply, and sends nothing twice', async () => {
    status = 502;
    const made: readonly (readonly [() => unknown, () => Promise<unknown>])[] = [
      [
        () => (branches[1] = record('br-dev', { name: 'qa' })),
        () => changes.update(dev, { name: 'qa' }, store.options),
      ],
      [
        () => (branches[1] = record('br-dev', { default: true })),
        () => changes.setDefault(dev, store.options),
      ],
      [
        () => (branches[1] = record('br-dev', { current_state: 'resetting' })),
        () => changes.reset(dev, 'br-main', store.options),
      ],
      [
        () => (branches[1] = record('br-dev', { expires_at: '2026-01-01T00:00:00.000Z' })),
        () => changes.update(dev, { expires_at: '2026-01-01T00:00:00Z' }, store.options),
      ],
      [
        () => (branches[1] = record('br-dev', { last_reset_at: '2026-01-01T00:00:00Z' })),
        () => changes.reset(dev, 'br-main', store.options),
      ],
      [
        () => (branches = [record('br-main')]),
        () => changes.delete(dev, { unprotect: false }, store.options),
      ],
    ];
    for (const [make, call] of made) {
      if (branches[0]?.['default'] === true) branches[0] = record('br-main');
      change = make;
      await call();
    }
    assert.equal(sent().length, made.length);
  });

  it('throws if the list shows no change after a lost reply', async () => {
    status = 502;
    change = () => undefined;
    await assert.rejects(changes.update(dev, { name: 'qa' }, store.options), /status 502/);
    await assert.rejects(changes.delete(dev, { unprotect: false }, store.options), /status 502/);
    assert.equal(sent().length, 2);
  });

  it("doesn't take an earlier reset for the one whose reply was lost", async () => {
    status = 502;
    branches[1] = record('br-dev', { last_reset_at: '2026-01-01T00:00:00Z', current_state: 'resetting' });
    await store.inventory.branches.refresh('shop');
    change = () => undefined;
    await assert.rejects(changes.reset(dev, 'br-main', store.options), /status 502/);
  });

  it('follows a change that continues after a lost reply', async () => {
    status = 502;
    const answer = store.service.script;
    const running = [
      operationRecord(1, { branch_id: 'br-dev' }),
      operationRecord(2, { branch_id: 'br-main' }),
    ];
    store.service.script = (call) => (call.endsWith('/operations') ? { operations: running } : answer(call));
    change = () => (branches[1] = record('br-dev', { current_state: 'resetting' }));
    const { pendingId } = await changes.reset(dev, 'br-main', store.options);
    const [pending] = store.tracker.pending;
    assert.equal(pending?.id, pendingId ?? assert.fail());
    assert.deepEqual([pending.verb, pending.branchId, pending.operations.length], ['reset', 'br-dev', 1]);
  });
});
