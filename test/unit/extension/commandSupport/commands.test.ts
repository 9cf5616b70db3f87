import { copied, quickPicks } from '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { connectScripted, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../helpers/scriptedService.ts';
import { commandContext, fakeView } from '../../../helpers/commandContext.ts';

const { handleCommand } = await import('../../../../src/extension/commandHandlers.ts');

describe('Refresh', () => {
  it('requests the list of projects also with a project, such as the focused row', async () => {
    const model = await connectScripted((call) =>
      call.includes('/shop/')
        ? { endpoints: [], branches: [] }
        : { projects: [{ id: 'shop', name: 'shop' }] },
    );
    const context = commandContext(model, {
      apiKeys: { wasRequested: false },
      computesView: { expandedProjects: new Set() },
    });
    const project = { kind: 'project', projectId: 'shop' };
    await handleCommand(context, 'hostedPostgres.view.refresh', project);
    const paths = model.service.requests.map((call) => call.replace(/\?.*/, ''));
    assert.deepEqual(paths.toSorted(), [
      'GET /projects',
      'GET /projects/shop/branches',
      'GET /projects/shop/endpoints',
    ]);
  });
});

describe('A keybinding', () => {
  let model: ScriptedModel;

  beforeEach(async () => {
    model = await connectScripted(() => ({
      endpoints: [computeRecord('ep-one', { host: '127.0.0.1:5432' })],
    }));
    await model.inventory.loadComputes('shop');
    quickPicks.length = 0;
    copied.length = 0;
  });

  const pressOn = async (row: unknown) => {
    const context = commandContext(model, { computesView: fakeView([row]) });
    await handleCommand(context, 'hostedPostgres.row.copy', 'selectedInComputes');
  };

  it('acts on the selected row by its kind', async () => {
    await pressOn({ kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-one' });
    await pressOn({ kind: 'branch', projectId: 'shop', branchId: 'br-main' });
    await pressOn({ kind: 'project', projectId: 'shop' });
    assert.deepEqual(copied, ['127.0.0.1:5432', 'br-main', 'shop']);
  });

  it('does nothing on another row, such as an error', async () => {
    await pressOn({ kind: 'failure', projectId: 'shop' });
    assert.deepEqual([copied, quickPicks], [[], []]);
  });
});
