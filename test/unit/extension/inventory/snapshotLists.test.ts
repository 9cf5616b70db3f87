import '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { TreeView } from 'vscode';
import { BackgroundRefresh } from '../../../../src/extension/inventory/refresh/backgroundRefresh.ts';
import { RequestBudget } from '../../../../src/extension/inventory/refresh/requestBudget.ts';
import type { InventoryEvent } from '../../../../src/extension/inventory/nodes.ts';
import type { TreeNode } from '../../../../src/extension/inventory/ui/treeNodes.ts';
import { connectScripted, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

const { childNodes, nodeId, parentNode } =
  await import('../../../../src/extension/inventory/ui/treeNodes.ts');
const { deletionText } = await import('../../../../src/extension/inventory/ui/branchText.ts');
const { nodeTooltip, treeItem } = await import('../../../../src/extension/inventory/ui/treeItems.ts');

const SNAPSHOTS = 'GET /projects/shop/snapshots';
const MAIN = { projectId: 'shop', branchId: 'br-main' };
const at = (hour: number) => new Date(Date.UTC(2026, 0, 31, hour)).toISOString();

describe('SnapshotLists', () => {
  let model: ScriptedModel;
  let snapshots: object[] | number;
  let branches: object[] | number;
  let computes: object[] | number;
  let changes: InventoryEvent[];

  beforeEach(async () => {
    snapshots = [
      { id: 'snap-1', name: 'before', source_branch_id: 'br-main', created_at: at(1) },
      { id: 'snap-2', name: 'later', source_branch_id: 'br-main', created_at: at(2), full_size: 31e6 },
      { id: 'snap-3', name: 'of a deleted branch', source_branch_id: 'br-gone', created_at: at(3) },
    ];
    branches = [
      { id: 'br-main', name: 'main', default: true, created_at: at(0) },
      { id: 'br-empty', name: 'empty', created_at: at(0) },
    ];
    computes = [computeRecord('ep-main')];
    model = await connectScripted((call) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Shop' }] };
      if (call === SNAPSHOTS) return Array.isArray(snapshots) ? { snapshots } : snapshots;
      if (call.endsWith('/branches')) return Array.isArray(branches) ? { branches } : branches;
      return Array.isArray(computes) ? { endpoints: computes } : computes;
    });
    const { inventory } = model;
    await inventory.ensureProjects();
    await inventory.loadComputes('shop');
    await inventory.branches.ensureLoaded('shop');
    changes = [];
    inventory.onDidChange((all) => changes.push(...all));
  });

  const requests = () => model.service.requests.filter((call) => call === SNAPSHOTS).length;
  const lists = () => model.inventory.snapshots;
  const labels = (node: TreeNode) =>
    childNodes(model.inventory, node).map((child) => treeItem(model.inventory, child).label);
  const branch = (branchId: string) => ({ kind: 'branch', projectId: 'shop', branchId }) as const;

  it('shows the snapshots of a branch below it, the newest first, and no row without any', async () => {
    assert.deepEqual(labels(branch('br-main')), ['primary', 'Databases']);
    await lists().ensureLoaded('shop');
    assert.deepEqual(changes, [branch('br-main')], 'only what has snapshots is drawn again');
    assert.deepEqual(labels(branch('br-main')), ['primary', 'Databases', 'Snapshots']);
    assert.deepEqual(labels(branch('br-empty')), []);
    assert.match(deletionText(model.inventory, MAIN), /deleted.* Its snapshots \(2\) stay: Undo… on another/);
    assert.equal(deletionText(model.inventory, branch('br-empty')), 'Its data is deleted.');
    const kept = { id: 'br-kept', name: 'before-undo-14-32', restored_as: 'br-empty', created_at: at(1) };
    branches = [...(branches as object[]), kept];
    await model.inventory.branches.refresh('shop');
    assert.equal(
      deletionText(model.inventory, branch('br-empty')),
      "Its data is deleted. Earlier data that Undo has kept isn't deleted: before-undo-14-32.",
    );
    assert.equal(deletionText(model.inventory, branch('br-kept')), 'Its data is deleted.');
    const group = childNodes(model.inventory, branch('br-main')).at(-1);
    assert.ok(group);
    assert.deepEqual(labels(group), ['later', 'before']);
    const [later] = childNodes(model.inventory, group);
    assert.ok(later);
    assert.deepEqual(later, { ...branch('br-main'), kind: 'snapshot', snapshotId: 'snap-2' });
    assert.equal(nodeId(parentNode(later) as TreeNode), nodeId(group));
    const row = treeItem(model.inventory, later);
    const date = new Date(at(2)).toLocaleString('en');
    assert.equal(row.description, date);
    assert.equal(row.accessibilityInformation?.label, `Snapshot later, ${date}`);
    assert.equal(treeItem(model.inventory, group).accessibilityInformation?.label, 'Snapshots of main, 2');
    const text = nodeTooltip(model.inventory, later)?.value ?? '';
    for (const part of ['**later**', '| snap\\-2 |', '1\\/31\\/2026', '| Size | 31 MB |'])
      assert.ok(text.includes(part), `${part}: ${text}`);
  });

  it('shows a hostile name as harmless text, and one without a name by its id', async () => {
    const hostile = { source_branch_id: 'br-main', name: `\u202E[x](command:y)\n${'a'.repeat(500)}` };
    snapshots = [
      { id: 'snap-1', ...hostile },
      { id: 'snap-2', ...hostile, name: '' },
    ];
    await lists().ensureLoaded('shop');
    const nodes = childNodes(model.inventory, { ...MAIN, kind: 'snapshots' });
    const [label = '', other] = labels({ ...MAIN, kind: 'snapshots' }).map(String);
    assert.doesNotMatch(label, /[\u202E\n]/);
    assert.ok(label.length <= 81, label);
    assert.equal(other, 'snap-2');
    const [node] = nodes;
    assert.ok(node);
    assert.doesNotMatch(nodeTooltip(model.inventory, node)?.value ?? '', /[^\\]\]\(command/);
  });

  it('has computes for a branch with nothing but snapshots to be missed', async () => {
    computes = [];
    await model.inventory.refreshComputes('shop');
    await lists().ensureLoaded('shop');
    const { description, collapsibleState } = treeItem(model.inventory, branch('br-main'));
    assert.equal(description, 'default · no computes · br-main');
    assert.equal(collapsibleState, 2, 'expanded');
    assert.deepEqual(labels(branch('br-main')), ['Snapshots']);
  });

  it('requests them once for a project, and again when it is refreshed or has changed', async () => {
    await Promise.all([lists().ensureLoaded('shop'), lists().ensureLoaded('shop')]);
    await lists().ensureLoaded('shop');
    assert.equal(requests(), 1);
    snapshots = [{ id: 'snap-1', name: 'renamed', source_branch_id: 'br-main', created_at: at(1) }];
    changes = [];
    await model.inventory.refreshAll(['shop']);
    assert.equal(requests(), 2);
    assert.deepEqual(
      lists()
        .ofBranch(MAIN)
        .map(({ name }) => name),
      ['renamed'],
    );
    assert.ok(changes.some((change) => change.kind === 'branch' && change.branchId === 'br-main'));
    changes = [];
    await lists().refreshChanged('shop');
    assert.equal(requests(), 3);
    assert.deepEqual(changes, [], 'nothing is drawn again if nothing has changed');
  });

  it('requests them with every fifth refresh in the background', async () => {
    const { inventory, clock } = model;
    await lists().ensureLoaded('shop');
    let refreshes = 0;
    const refresh = new BackgroundRefresh({
      inventory,
      expanded: () => ['shop'],
      polledElsewhere: () => new Set<string>(),
      interval: () => 60_000,
      onError: (error) => assert.fail(String(error)),
      onRefreshed: () => (refreshes += 1),
      budget: new RequestBudget({ clock }),
      clock,
    });
    refresh.setVisible(true);
    for (let turns = 0; turns < 5; turns += 1) await clock.turn();
    await until('the end of the fifth', async () => refreshes === 5);
    assert.equal(requests(), 2);
    refresh.dispose();
  });

  it('requests nothing for a project whose rows were never shown, nor where branches are unknown', async () => {
    await model.inventory.refreshAll(['shop']);
    await lists().refreshChanged('shop');
    await lists().ensureLoaded('another');
    assert.equal(requests(), 0);
  });

  for (const status of [403, 404, 405])
    it(`shows nothing and asks no more if the service replies ${status}`, async () => {
      snapshots = status;
      await lists().ensureLoaded('shop');
      assert.equal(lists().isOffered, false);
      assert.deepEqual(labels(branch('br-main')), ['primary', 'Databases']);
      assert.deepEqual(changes, []);
      assert.deepEqual(await lists().refresh('shop'), []);
      await model.inventory.refreshAll(['shop']);
      assert.equal(requests(), 1);
    });

  it('asks again after another failure, and keeps what it has', async () => {
    await lists().ensureLoaded('shop');
    snapshots = 500;
    await model.inventory.refreshAll(['shop']);
    assert.equal(lists().ofBranch(MAIN).length, 2);
    assert.equal(lists().isOffered, true);
    assert.equal(requests(), 2);
  });

  it("doesn't take a project that the key can't read for a service without snapshots", async () => {
    snapshots = 404;
    computes = 404;
    await lists().ensureLoaded('shop');
    assert.equal(lists().isOffered, true);
  });

  it('shows those of the past below the branch that went back to one, and not below its former data', async () => {
    await lists().ensureLoaded('shop');
    branches = [
      { id: 'br-main', name: 'main (old)', created_at: at(0), restored_as: 'br-2' },
      { id: 'br-2', name: 'main', created_at: at(4), restored_as: 'br-main', restore_status: 'finalized' },
      // One that was only created from a snapshot, and one that an undo has kept.
      { id: 'br-look', name: 'look', created_at: at(5), restored_as: 'br-2', restore_status: 'restored' },
      { id: 'br-kept', name: 'before-undo', created_at: at(5), restored_as: 'br-2' },
    ];
    await model.inventory.branches.refresh('shop');
    const owned = (branchId: string) => lists().ofBranch({ projectId: 'shop', branchId }).length;
    assert.deepEqual(['br-main', 'br-2', 'br-look', 'br-kept'].map(owned), [0, 2, 0, 0]);
    // The former data is deleted.
    branches = branches.slice(1);
    await model.inventory.branches.refresh('shop');
    assert.equal(owned('br-2'), 2);
  });

  it('is requested when the tree shows a branch, without the rows waiting for it', async () => {
    const { ComputesTree } = await import('../../../../src/extension/inventory/ui/computesTree.ts');
    const ignored = () => ({ dispose: () => undefined });
    const tree = new ComputesTree(
      {
        ...model,
        config: { onDidChangeMarks: ignored },
        localService: { postgresProblem: undefined, onDidChangePostgres: ignored },
        workFolders: { states: [], onDidChange: ignored },
        guards: { cachedMark: () => undefined },
        expandedProjects: { add: () => true, ids: new Set(['shop']), wasExpanded: () => false },
      } as never,
      {
        onDidExpandElement: ignored,
        onDidCollapseElement: ignored,
        selection: [],
      } as unknown as TreeView<TreeNode>,
    );
    const [project] = await tree.getChildren();
    const [row] = await tree.getChildren(project);
    assert.equal(requests(), 0);
    const redrawn: unknown[] = [];
    const drawn = new Promise((resolve) => {
      tree.onDidChangeTreeData((nodes) => resolve(redrawn.push(...(nodes ?? []))));
    });
    assert.equal((await tree.getChildren(row)).length, 2);
    await drawn;
    assert.deepEqual(redrawn, [row]);
    const group = (await tree.getChildren(row)).at(-1);
    assert.ok(group?.kind === 'snapshots');
    assert.equal((await tree.getChildren(group)).length, 2);
    assert.equal(requests(), 1);
    tree.dispose();
  });
});
