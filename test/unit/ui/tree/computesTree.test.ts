import '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { TreeView } from 'vscode';
import type { TreeNode } from '../../../../src/ui/tree/nodes.ts';
import { connectModel, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, scriptService, type ScriptedService } from '../../../helpers/scriptedService.ts';

const { ComputesTree } = await import('../../../../src/ui/tree/computesTree.ts');
const { Log } = await import('../../../../src/ui/log/log.ts');

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

  it('loads the computes and the branches before VS Code reveals a row, which a later redraw would stop', async () => {
    const { session, inventory } = model;
    const known: unknown[] = [];
    const view = {
      onDidExpandElement: ignored,
      onDidCollapseElement: ignored,
      reveal: async () => {
        const { isLoaded } = inventory.branches.forProject('shop') ?? { isLoaded: false };
        known.push([inventory.compute('shop', 'ep-main')?.id, isLoaded]);
      },
    } as unknown as TreeView<TreeNode>;
    const localService = { postgresProblem: undefined, onDidChangePostgres: ignored };
    const guards = { accountMark: undefined, cachedMark: () => undefined };
    const config = { onDidChangeMarks: ignored };
    const tree = new ComputesTree({ session, inventory, log: new Log(), localService, guards, config }, view);
    await tree.reveal({ projectId: 'shop', computeId: 'ep-main' });
    tree.dispose();
    assert.deepEqual(known, [['ep-main', true]]);
  });
});
