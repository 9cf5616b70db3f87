import { statusBarItems } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { Operation } from '../../../../../src/api/records/records.ts';
import type { ComputeNode } from '../../../../../src/extension/inventory/nodes.ts';
import { FakeClock } from '../../../../helpers/fakeClock.ts';
import { connectScripted } from '../../../../helpers/connectedModel.ts';
import { computeRecord, operationRecord } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';

const { showPendingChanges } = await import('../../../../../src/extension/operations/ui/statusBar.ts');

const node: ComputeNode = { kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-main' };

describe('The status bar', () => {
  it('counts a restart as one operation, although the service suspends and starts the compute', async () => {
    statusBarItems.clear();
    const endpoint = computeRecord('ep-main', { pending_state: 'idle' });
    const operations = [
      operationRecord(1, { action: 'suspend_compute' }),
      operationRecord(2, { action: 'start_compute', status: 'scheduling' }),
    ];
    const model = await connectScripted((call) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Shop' }] };
      if (call.includes('/operations/')) return { operation: operations[0] };
      return call.startsWith('GET') ? { endpoints: [endpoint] } : { endpoint, operations };
    });
    await model.inventory.loadComputes('shop');
    const shown = showPendingChanges(
      model.tracker,
      () => false,
      () => undefined,
    );
    await model.computeActions.restart(node, model.options);
    assert.deepEqual(model.tracker.pending[0]?.operations.length, 2);
    assert.match(statusBarItems.get('hostedPostgres.operations') ?? '', /\b1 operation$/);
    shown.dispose();
  });

  it('announces a change that takes longer than a second, and none that ends sooner', async () => {
    let pending = { id: 1, status: 'running' };
    const operation = () => operationRecord(pending.id, { action: 'start_compute', status: pending.status });
    const endpoint = computeRecord('ep-main');
    const model = await connectScripted((call) => {
      if (call.includes('/operations/')) return { operation: operation() };
      return call.startsWith('GET') ? { endpoints: [endpoint] } : { endpoint, operations: [operation()] };
    });
    await model.inventory.loadComputes('shop');
    const clock = new FakeClock();
    const shown = showPendingChanges(
      model.tracker,
      () => true,
      () => undefined,
      clock,
    );
    await model.computeActions.start(node, model.options);
    assert.deepEqual(clock.waits, [1000]);
    pending = { ...pending, status: 'finished' };
    await until('the end', async () => {
      model.clock.advance(1000);
      return model.tracker.pending.length === 0;
    });
    assert.deepEqual(clock.waits, []);
    pending = { id: 2, status: 'running' };
    await model.computeActions.start(node, model.options);
    statusBarItems.clear();
    clock.next();
    const announced = () => statusBarItems.get('hostedPostgres.announcement');
    // It waits for its turn behind those of other tests.
    if (announced() === undefined) clock.next();
    assert.equal(announced(), '$(sync) Starting the primary of br-main (shop)');
    // The beginning of another one isn't announced as long as this one is pending.
    statusBarItems.clear();
    model.tracker.follow('edit', { ...node, computeId: 'ep-other' }, [operationRecord(3) as Operation]);
    assert.ok((clock.waits as number[]).includes(1000));
    clock.advance(60_000);
    assert.equal(announced(), undefined);
    shown.dispose();
  });

  it('announces the beginning of an undo unless a notification shows it', async () => {
    const model = await connectScripted(() => ({ endpoints: [] }));
    const clock = new FakeClock();
    const shown = showPendingChanges(
      model.tracker,
      () => true,
      () => undefined,
      clock,
    );
    const branch = { projectId: 'shop', branchId: 'br-main', name: 'main' };
    const operation = operationRecord(1) as Operation;
    model.tracker.follow('undo', branch, [operation], { hasNotification: true });
    assert.deepEqual(clock.waits, []);
    statusBarItems.clear();
    model.tracker.follow('undo', branch, [{ ...operation, id: `${operation.id.slice(0, -1)}2` }]);
    clock.next();
    const announced = () => statusBarItems.get('hostedPostgres.announcement');
    // It waits for its turn behind those of other tests.
    if (announced() === undefined) clock.next();
    assert.equal(announced(), '$(sync) Undoing main (shop)');
    shown.dispose();
  });

  it('announces the end of changes, with what was edited, but not of a quiet one', async () => {
    statusBarItems.clear();
    const endpoint = computeRecord('ep-main');
    const model = await connectScripted((call) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Shop' }] };
      return call.includes('/operations/')
        ? { operation: operationRecord(1, { status: 'finished' }) }
        : { endpoints: [endpoint] };
    });
    await model.inventory.loadComputes('shop');
    const clock = new FakeClock();
    const shown = showPendingChanges(
      model.tracker,
      () => false,
      () => undefined,
      clock,
    );
    const change = async (options: { readonly isQuiet?: boolean; readonly edited?: string }) => {
      model.tracker.follow('edit', node, [operationRecord(1) as Operation], options);
      model.clock.next();
      await until('the end', async () => model.tracker.pending.length === 0);
    };
    await change({ isQuiet: true });
    await change({ edited: '1 CU' });
    // It waits for its turn behind those of other tests.
    if (clock.waits.length > 0) clock.next();
    const announced = statusBarItems.get('hostedPostgres.announcement') ?? '';
    assert.match(announced, /Changed the primary of br-main \(shop\): 1 CU$/);
    shown.dispose();
  });
});
