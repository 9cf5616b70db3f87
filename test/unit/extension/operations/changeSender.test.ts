import assert from 'node:assert/strict';
import { isCancelled } from '../../../../src/api/transport/errors.ts';
import type { ComputeNode } from '../../../../src/extension/inventory/nodes.ts';
import { connectScripted, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

const node: ComputeNode = { kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-one' };

describe('A change whose window switches accounts', () => {
  let store: ScriptedModel;

  beforeEach(async () => {
    store = await connectScripted(() => ({ endpoints: [computeRecord('ep-one')] }));
    await store.inventory.loadComputes('shop');
  });

  const replyToChanges = (reply: () => unknown) => {
    const { script } = store.service;
    store.service.script = (call) => (call.startsWith('GET') ? script(call) : reply());
  };

  it('is not sent if they were switched since the user began', async () => {
    const { options } = store;
    await store.accounts.add({ ...store.account, name: 'other' }, 'key');
    await until('the other account', async () => store.session.connection !== options.initialConnection);
    await assert.rejects(store.computeActions.restart(node, options), { name: 'AccountSwitchedError' });
    assert.deepEqual(
      store.service.requests.filter((call) => call.startsWith('POST')),
      [],
    );
  });

  it('says that nothing was changed if it waited for another operation', async () => {
    store = await connectScripted(() => 423, { client: { retries: 3 } });
    const waiting = Promise.withResolvers<void>();
    const options = { ...store.options, onRetry: () => waiting.resolve() };
    const restart = store.computeActions.restart(node, options);
    const failed = assert.rejects(restart, { name: 'ConnectionClosedError', mayHaveExecuted: false });
    await waiting.promise;
    await store.accounts.add({ ...store.account, name: 'other' }, 'key');
    await failed;
  });

  it('says that it may have been made if its reply was missing, and is not followed', async () => {
    const reply = Promise.withResolvers<unknown>();
    replyToChanges(() => reply.promise);
    const making = store.computeActions.restart(node, store.options);
    making.catch(() => undefined);
    await until('the request', async () => store.service.requests.some((call) => call.startsWith('POST')));
    await store.accounts.choose(undefined);
    await until('the end of the session', async () => store.session.connection === undefined);
    await assert.rejects(making, { name: 'ConnectionClosedError', mayHaveExecuted: true });
    assert.deepEqual(store.tracker.pending, []);
  });

  it('is just canceled if the user does that', async () => {
    const cancellation = new AbortController();
    replyToChanges(() => {
      cancellation.abort();
      return new Promise(() => undefined);
    });
    const restart = store.computeActions.restart(node, { ...store.options, signal: cancellation.signal });
    await assert.rejects(restart, (error) => isCancelled(error));
  });
});

describe('The lists after a change', () => {
  it('come from a request that began after it', async () => {
    let computes = [computeRecord('ep-one')];
    let holdReply: Promise<void> | undefined;
    const store = await connectScripted(async (call) => {
      const reply = { endpoints: computes };
      if (call.startsWith('GET')) await holdReply;
      else computes = [];
      return call.startsWith('GET') ? reply : { endpoint: computeRecord('ep-one'), operations: [] };
    });
    await store.inventory.loadComputes('shop');
    const earlier = Promise.withResolvers<void>();
    holdReply = earlier.promise;
    const refreshed = store.inventory.refreshComputes('shop');
    const sent = async (method: string, count: number) =>
      until(
        method,
        async () => store.service.requests.filter((call) => call.startsWith(method)).length === count,
      );
    await sent('GET', 2);
    const deleted = store.computeActions.delete(node, store.options);
    await sent('DELETE', 1);
    holdReply = undefined;
    earlier.resolve();
    await Promise.all([refreshed, deleted]);
    assert.equal(store.inventory.compute('shop', 'ep-one'), undefined);
  });
});
