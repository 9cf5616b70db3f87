import { quickPicks } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';
import { commandContext, fakeView } from '../../../../helpers/commandContext.ts';

const { findCompute } = await import('../../../../../src/extension/browse/commands/findCompute.ts');

describe('Find Compute…', () => {
  let store: ScriptedModel;
  let count: number;
  let revealed: unknown[];

  beforeEach(async () => {
    quickPicks.length = 0;
    count = 2;
    revealed = [];
    store = await connectScripted((call) => {
      const project_id = call.split('/')[2] ?? '';
      if (call === 'GET /projects')
        return {
          projects: Array.from({ length: count }, (_, index) => ({
            id: `p${index}`,
            name: `checkout-${index}`,
          })),
        };
      if (call.endsWith('/branches'))
        return {
          branches: [
            { id: 'br-main', name: 'main' },
            { id: 'br-empty', name: 'empty' },
          ],
        };
      return { endpoints: [computeRecord(`ep-${project_id}`, { project_id, branch_id: 'br-main' })] };
    });
  });

  const find = async () => {
    const context = commandContext(store, { computesView: fakeView([], (row) => revealed.push(row)) });
    const run = { failureMessage: '', initialConnection: store.session.connection };
    const ended = findCompute(context, undefined, run);
    const question = await until('the question', async () => quickPicks[0]);
    await until('the items', async () => !question.busy);
    return { question, ended };
  };

  it('finds computes and branches of projects that were never opened, by the words of several fields', async () => {
    const { question, ended } = await find();
    const shown = () =>
      question.items
        .filter(({ alwaysShow }) => alwaysShow)
        .map(({ label, description = '' }) => `${label} ${description}`);
    question.type('checkout-1 main');
    assert.match(shown().join(), /^primary [^,]* ep-p1$/);
    question.type('empty Checkout-0');
    const [label = ''] = shown();
    assert.match(label, /empty/);
    question.type('empty');
    assert.deepEqual(shown(), [], 'VS Code finds a single word itself');
    question.type('empty checkout-0');
    question.activeItems = question.items.filter(({ alwaysShow }) => alwaysShow);
    question.accept();
    await ended;
    assert.deepEqual(revealed, [{ kind: 'branch', projectId: 'p0', branchId: 'br-empty' }]);
  });

  it('says in a large account which projects it searches, and searches another one that is selected', async () => {
    count = 51;
    await store.inventory.loadComputes('p3');
    const { question, ended } = await find();
    assert.equal(question.placeholder, 'Searches 1 of 51 projects. Select another one to search in it');
    question.activeItems = question.items.filter(({ label }) => label === 'checkout-7');
    question.accept();
    const next = await until('the next question', async () => quickPicks.find((each) => each !== question));
    await until('its items', async () => next.items.length > 0);
    assert.match(next.items[0]?.description ?? '', / ep-p7$/);
    next.accept();
    await ended;
    assert.deepEqual(revealed, [
      { kind: 'compute', projectId: 'p7', branchId: 'br-main', computeId: 'ep-p7' },
    ]);
  });
});
