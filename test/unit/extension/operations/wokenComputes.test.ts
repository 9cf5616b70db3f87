import assert from 'node:assert/strict';
import type { Disposable } from '../../../../src/base/disposable.ts';
import { watchWokenComputes } from '../../../../src/extension/operations/wokenComputes.ts';
import { connectScripted, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../helpers/scriptedService.ts';

describe('watchWokenComputes', () => {
  let store: ScriptedModel;
  let watcher: Disposable;
  let computes: ReturnType<typeof computeRecord>[];
  let woken: string[][];
  const followed = new Set<string>();
  const refresh = () => store.inventory.refreshComputes('shop');

  beforeEach(async () => {
    computes = [computeRecord('ep-one', { current_state: 'idle' }), computeRecord('ep-two')];
    store = await connectScripted(() => ({ endpoints: computes }));
    woken = [];
    watcher = watchWokenComputes(
      store.inventory,
      ({ id }) => followed.has(id),
      (all) => woken.push(all.map(({ id }) => id)),
    );
    followed.clear();
    await refresh();
  });

  it('ignores computes that are active when first loaded', () => {
    assert.deepEqual(woken, []);
  });

  it('reports an idle compute once when a refresh finds it active', async () => {
    computes = [computeRecord('ep-one'), computeRecord('ep-two')];
    await refresh();
    await refresh();
    assert.deepEqual(woken, [['ep-one']]);
  });

  it('reports the computes of one refresh together, and again after they were idle', async () => {
    computes = computes.map(({ id }) => computeRecord(id, { current_state: 'idle' }));
    await refresh();
    computes = computes.map(({ id }) => computeRecord(id));
    await refresh();
    assert.deepEqual(woken, [['ep-one', 'ep-two']]);
  });

  it('ignores computes of another account, and everything when disposed', async () => {
    await store.accounts.add({ ...store.account, name: 'other' }, 'other-key');
    await store.session.reread();
    computes = [computeRecord('ep-one'), computeRecord('ep-two', { current_state: 'idle' })];
    await refresh();
    watcher.dispose();
    computes = [computeRecord('ep-one'), computeRecord('ep-two')];
    await refresh();
    assert.deepEqual(woken, []);
  });

  it('ignores computes with a pending change of the user', async () => {
    followed.add('ep-one');
    computes = [computeRecord('ep-one'), computeRecord('ep-two')];
    await refresh();
    assert.deepEqual(woken, []);
  });
});
