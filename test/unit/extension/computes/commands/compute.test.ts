import { answers, fakeTerminals, questions, quickPicks } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';
import { commandContext } from '../../../../helpers/commandContext.ts';

const { window } = await import('vscode');
const { makeChange } = await import('../../../../../src/extension/commandSupport/change.ts');
const { rememberPsql } = await import('../../../../../src/extension/operations/ui/openPsql.ts');
const { editCompute } = await import('../../../../../src/extension/computes/commands/editCompute.ts');
const { deleteCompute, restartCompute, suspendCompute } =
  await import('../../../../../src/extension/computes/commands/compute.ts');

describe('Commands of a compute', () => {
  let store: ScriptedModel;
  const compute = computeRecord('ep-one', { connections: 2 });
  const node = { kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-one' };

  beforeEach(async () => {
    questions.length = fakeTerminals.opened.length = 0;
    store = await connectScripted((call) =>
      call.endsWith('/branches')
        ? 405
        : call.endsWith('/endpoints')
          ? { endpoints: [compute] }
          : { endpoint: compute },
    );
  });
  afterEach(() => void answers.splice(0));

  it('say how many connections a restart drops', async () => {
    await restartCompute(commandContext(store), node, {
      failureMessage: '',
      ...store.options,
    });
    assert.deepEqual(questions, [
      'Restart the primary of br-main (shop)? The compute restarts. 2 open connections are dropped. Clients can reconnect a moment later.',
    ]);
    assert.equal(
      store.service.requests.some((call) => call.startsWith('POST')),
      false,
    );
  });

  for (const [connections, psql] of [
    [
      2,
      ' The open psql loses its connection too. When psql reports the lost connection, enter your command again.',
    ],
    [0, ''],
  ] as const)
    it(`say that an open psql loses its connection, if any is dropped: ${connections}`, async () => {
      const { script } = store.service;
      store.service.script = (call) =>
        call.endsWith('/ep-one') ? { endpoint: { ...compute, connections } } : script(call);
      fakeTerminals.opened.length = 0;
      rememberPsql(window.createTerminal({}), 'ep-one');
      const move = {
        ...node,
        name: 'one',
        question: 'Move it?',
        button: 'Move',
        progress: 'Moving it',
        drops: [node],
        detail: () => 'It moves.',
        send: async () => assert.fail(),
      };
      await makeChange(store, { failureMessage: '', ...store.options }, move);
      assert.deepEqual(questions, [`Move it? It moves.${psql}`]);
    });

  it('show the steps of an edit from the first one', async () => {
    quickPicks.length = 0;
    store.service.script = (call) => (call.endsWith('/branches') ? 405 : { endpoints: [compute] });
    const edited = editCompute(commandContext(store), node, {
      failureMessage: '',
      ...store.options,
    });
    const [pick] = await until('the question', async () => quickPicks.length > 0 && quickPicks);
    assert.deepEqual([pick?.step, pick?.totalSteps], [1, 2]);
    pick?.cancel();
    await edited;
  });

  it('ask nothing before a restart that drops no connection', async () => {
    store.service.script = (call) =>
      call.endsWith('/restart')
        ? { endpoint: compute, operations: [] }
        : call.endsWith('/branches')
          ? 405
          : { endpoint: { ...compute, connections: 0 }, endpoints: [compute] };
    await restartCompute(commandContext(store), node, {
      failureMessage: '',
      ...store.options,
    });
    assert.deepEqual(questions, []);
    assert.ok(store.service.requests.includes('POST /projects/shop/endpoints/ep-one/restart'));
  });

  it('say what a deletion does before it is sent', async () => {
    await deleteCompute(commandContext(store), node, { failureMessage: '', ...store.options });
    assert.deepEqual(questions, [
      "Delete the primary of br-main (shop)? This can't be undone. Its connections are dropped and its host stops responding. " +
        'The data stays on the branch.',
    ]);
    assert.ok(!store.service.requests.some((call) => call.startsWith('DELETE')));
  });

  it('send nothing to an account that the window switches to before the question', async () => {
    const counted = Promise.withResolvers<unknown>();
    const { script } = store.service;
    store.service.script = (call) => (call.endsWith('/ep-one') ? counted.promise : script(call));
    const { connection: initialConnection } = store.session;
    answers.push('Suspend');
    const run = { failureMessage: '', initialConnection };
    const suspending = Promise.resolve(suspendCompute(commandContext(store), node, run));
    await until('the count', async () => store.service.requests.some((call) => call.endsWith('/ep-one')));
    await store.accounts.add({ ...store.account, name: 'other' }, 'key');
    await until('the other account', async () => store.session.connection !== initialConnection);
    counted.resolve({ endpoint: compute });
    await assert.rejects(suspending, /switched to another account. Nothing was changed/);
    assert.deepEqual(questions, []);
    assert.deepEqual(
      store.service.requests.filter((call) => call.startsWith('POST')),
      [],
    );
  });
});
