import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { TreeView } from 'vscode';
import type { TreeNode } from '../../../../../src/extension/inventory/ui/nodes.ts';
import { connectModel, type ConnectedModel } from '../../../../helpers/connectedModel.ts';
import { computeRecord, scriptService, type ScriptedService } from '../../../../helpers/scriptedService.ts';

const { ComputesTree } = await import('../../../../../src/extension/inventory/ui/computesTree.ts');
const { AwakeSentences } = await import('../../../../../src/extension/computes/ui/awakeSentences.ts');
const { Log } = await import('../../../../../src/extension/window/ui/log.ts');

const ignored = () => ({ dispose: () => undefined });

describe('ComputesTree', () => {
  let service: ScriptedService;
  let model: ConnectedModel;

  beforeEach(async () => {
    service = await scriptService((call) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop' }] };
      if (call.endsWith('/branches')) return { branches: [{ id: 'br-main', name: 'main' }] };
      return { endpoints: [computeRecord('ep-main')] };
    });
    model = await connectModel(service);
    await model.inventory.ensureProjects();
  });
  afterEach(async () => {
    model.dispose();
    await service.close();
  });

  const createTree = (view: TreeView<TreeNode>) => {
    const localService = { postgresProblem: undefined, onDidChangePostgres: ignored };
    const guards = { accountMark: undefined, cachedMark: () => undefined };
    const config = { onDidChangeMarks: ignored };
    const awakeSentences = new AwakeSentences(model.session);
    return new ComputesTree({ ...model, log: new Log(), localService, guards, config, awakeSentences }, view);
  };

  it('shows next to the title why the secret store could not be read', async () => {
    const view = {
      onDidExpandElement: ignored,
      onDidCollapseElement: ignored,
      description: '',
    } as unknown as TreeView<TreeNode>;
    const tree = createTree(view);
    // As when a window opens: without an earlier connection, the inventory doesn't change.
    await model.accounts.choose(undefined);
    await model.session.reread();
    model.secrets.isLocked = true;
    await model.session.reread();
    assert.equal(view.description, 'locked');
    model.secrets.isLocked = false;
    await model.session.reread();
    assert.equal(view.description, '');
    tree.dispose();
  });

  it('loads the computes and the branches before VS Code reveals a row, which a later redraw would stop', async () => {
    const { inventory } = model;
    const known: unknown[] = [];
    const view = {
      onDidExpandElement: ignored,
      onDidCollapseElement: ignored,
      reveal: async () => {
        const { isLoaded } = inventory.branches.forProject('shop') ?? { isLoaded: false };
        known.push([inventory.compute('shop', 'ep-main')?.id, isLoaded]);
      },
    } as unknown as TreeView<TreeNode>;
    const tree = createTree(view);
    await tree.reveal({ projectId: 'shop', computeId: 'ep-main' });
    tree.dispose();
    assert.deepEqual(known, [['ep-main', true]]);
  });
});
