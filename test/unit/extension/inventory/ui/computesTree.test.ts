import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { TreeView } from 'vscode';
import { Emitter, type Event } from '../../../../../src/base/event.ts';
import type { BranchRef } from '../../../../../src/extension/account/refs.ts';
import type {
  DatabaseObjects,
  DatabaseReader,
} from '../../../../../src/extension/inventory/databaseTreeRows.ts';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import { ExpandedProjects } from '../../../../../src/extension/inventory/expandedProjects.ts';
import type { TreeNode } from '../../../../../src/extension/inventory/ui/treeNodes.ts';
import { atEndOfTest } from '../../../../helpers/atEndOfTest.ts';
import { connectScripted, MemoryMap, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';

const { ComputesTree } = await import('../../../../../src/extension/inventory/ui/computesTree.ts');
const { WhyActiveSentences } = await import('../../../../../src/extension/computes/ui/whyActiveSentences.ts');
const { ThemeIcon, TreeItemCollapsibleState } = await import('vscode');
const { Log } = await import('../../../../../src/extension/window/ui/log.ts');

const ignored = () => ({ dispose: () => undefined });

const column = { name: 'id', type: 'integer', isNullable: false, isKey: true };

describe('ComputesTree', () => {
  let model: ScriptedModel;

  let memory: MemoryMap;
  let databaseReader: DatabaseReader;
  let workFolders: { states: { current: BranchRef | undefined }[]; onDidChange: Event<void> };
  let main: { id: string; name: string; expires_at?: string };

  beforeEach(async () => {
    memory = new MemoryMap();
    databaseReader = { objects: async () => undefined, columns: async () => [column] };
    workFolders = { states: [], onDidChange: ignored };
    main = { id: 'br-main', name: 'main' };
    model = await connectScripted((call) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Shop' }] };
      if (call.endsWith('/branches')) return { branches: [main] };
      if (call.endsWith('/databases')) return { databases: [{ name: 'app', owner_name: 'me' }] };
      return { endpoints: [computeRecord('ep-main')] };
    });
    await model.inventory.ensureProjects();
  });

  const createTree = (view: TreeView<TreeNode>) => {
    const localService = { postgresProblem: undefined, onDidChangePostgres: ignored };
    const guards = { accountMark: undefined, cachedMark: () => undefined };
    const config = { onDidChangeMarks: ignored };
    const whyActiveSentences = new WhyActiveSentences(model.session);
    const deps = {
      ...model,
      log: new Log(),
      localService,
      guards,
      config,
      whyActiveSentences,
      databaseReader,
      expandedProjects: new ExpandedProjects(model.session, memory),
      workFolders,
    };
    const tree = new ComputesTree(deps, view);
    atEndOfTest(() => tree.dispose());
    return tree;
  };

  it('shows next to the title why the secret store could not be read', async () => {
    const view = {
      onDidExpandElement: ignored,
      onDidCollapseElement: ignored,
      description: '',
    } as unknown as TreeView<TreeNode>;
    createTree(view);
    // As when a window opens: without an earlier connection, the inventory doesn't change.
    await model.accounts.choose(undefined);
    await model.session.reread();
    model.secrets.isLocked = true;
    await model.session.reread();
    assert.equal(view.description, 'locked');
    model.secrets.isLocked = false;
    await model.session.reread();
    assert.equal(view.description, '');
  });

  it('expands the first project of a new account by itself, until the account changes', async () => {
    const revealed: unknown[] = [];
    const view = {
      onDidExpandElement: ignored,
      onDidCollapseElement: ignored,
      reveal: async (...args: unknown[]) => void revealed.push(args),
    } as unknown as TreeView<TreeNode>;
    const tree = createTree(view);
    const row = async () => {
      const [project] = await tree.getChildren();
      assert.ok(project);
      const { collapsibleState, id } = tree.getTreeItem(project);
      return { collapsibleState, id };
    };
    const { Collapsed, Expanded } = TreeItemCollapsibleState;
    const collapsed = await row();
    assert.equal(collapsed.collapsibleState, Collapsed);
    await tree.revealFirst();
    const expanded = await row();
    assert.equal(expanded.collapsibleState, Expanded);
    assert.notEqual(expanded.id, collapsed.id, 'VS Code expands only a row that it does not know yet');
    assert.deepEqual(revealed, [
      [
        { kind: 'project', projectId: 'shop' },
        { select: false, focus: false },
      ],
    ]);
    const account = model.session.connection?.account;
    await model.accounts.choose(undefined);
    await model.session.reread();
    await model.accounts.choose(account);
    await model.session.reread();
    assert.deepEqual(await row(), collapsed);
  });

  it('expands after a reload the projects that were expanded', async () => {
    const expand = new Emitter<unknown>();
    const collapse = new Emitter<unknown>();
    const events = { onDidExpandElement: expand.event, onDidCollapseElement: collapse.event };
    const view = { ...events, selection: [] } as never;
    const shownBy = async (tree: ReturnType<typeof createTree>) => {
      const [project] = await tree.getChildren();
      assert.ok(project);
      return tree.getTreeItem(project).collapsibleState;
    };
    const { Collapsed, Expanded } = TreeItemCollapsibleState;
    const first = createTree(view);
    assert.equal(await shownBy(first), Collapsed);
    const element = { kind: 'project', projectId: 'shop' };
    expand.fire({ element });
    first.dispose();
    const second = createTree(view);
    assert.equal(await shownBy(second), Expanded);
    assert.deepEqual([...second.expandedProjects], []);
    collapse.fire({ element });
    second.dispose();
    assert.equal(await shownBy(createTree(view)), Collapsed);
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
    assert.deepEqual(known, [['ep-main', true]]);
  });

  it('marks the branch that an env file points to, and is drawn again only when that changes', async () => {
    const changed = new Emitter<void>();
    workFolders.onDidChange = changed.event;
    const tree = createTree({ onDidExpandElement: ignored, onDidCollapseElement: ignored } as never);
    const drawn: unknown[] = [];
    tree.onDidChangeTreeData((nodes) => drawn.push(nodes));
    const [project] = await tree.getChildren();
    await model.inventory.branches.ensureLoaded('shop');
    await tree.getChildren(project);
    const row = () => {
      const item = tree.getTreeItem({ kind: 'branch', projectId: 'shop', branchId: 'br-main' });
      return [item.iconPath, item.accessibilityInformation?.label];
    };
    const names = () => [row()[1], drawn.length];
    const branches = () => drawn.flat().map((node) => (node as BranchRef).branchId);
    drawn.length = 0;
    assert.deepEqual(names(), ['Branch main, br-main', 0]);
    const current = { account: accountId(model.account), projectId: 'shop', branchId: 'br-main' };
    for (const states of [[{ current }], [{ current }, { current: undefined }]]) {
      workFolders.states = states;
      changed.fire();
      assert.deepEqual(names(), ['Branch main, in use here, br-main', 1]);
      assert.deepEqual(row()[0], new ThemeIcon('target'));
    }
    workFolders.states = [{ current: { ...current, account: 'another' } }];
    changed.fire();
    assert.deepEqual(names(), ['Branch main, br-main', 2]);
    assert.deepEqual(branches(), ['br-main', 'br-main']);
  });

  it('loads the tables of a database when it is expanded, and again only when it is reloaded', async () => {
    const loaded: string[] = [];
    let result: DatabaseObjects | undefined;
    databaseReader = {
      ...databaseReader,
      objects: async (branch, database) => (loaded.push(`${branch.branchId}/${database}`), result),
    };
    const tree = createTree({ onDidExpandElement: ignored, onDidCollapseElement: ignored } as never);
    const [project] = await tree.getChildren();
    await model.inventory.branches.ensureLoaded('shop');
    const [branch] = await tree.getChildren(project);
    const databases = (await tree.getChildren(branch)).at(-1);
    assert.equal(databases?.kind, 'databases');
    await model.inventory.snapshots.ensureLoaded('shop');
    const count = model.service.requests.length;
    assert.ok(databases);
    const { accessibilityInformation, iconPath } = tree.getTreeItem(databases);
    assert.equal(accessibilityInformation?.label, 'Databases of main');
    assert.ok(iconPath, 'without one, its rows would begin left of the name of the branch');
    const [database] = await tree.getChildren(databases);
    assert.deepEqual(model.service.requests.slice(count), ['GET /projects/shop/branches/br-main/databases']);
    assert.ok(database?.kind === 'database');
    const labels = async () => (await tree.getChildren(database)).map((node) => tree.getTreeItem(node).label);
    assert.deepEqual(await labels(), ['Not read. Click to read it']);
    // As for a branch that is redrawn.
    await tree.getChildren(databases);
    await labels();
    assert.deepEqual(loaded, ['br-main/app']);
    result = {
      tables: [
        { schema: 'public', name: 'a', isView: false },
        { schema: 'b', name: 'c', isView: true },
      ],
      functions: [{ schema: 'b', name: 'add', parameters: 'x integer', result: 'text' }],
    };
    const redrawn: unknown[] = [];
    tree.onDidChangeTreeData((nodes) => redrawn.push(nodes));
    tree.reload({ ...database });
    assert.deepEqual(redrawn, [[database]]);
    assert.deepEqual(await labels(), ['a', 'b.c', 'b.add(x integer)']);
    const [table] = await tree.getChildren(database);
    assert.ok(table);
    assert.equal(tree.getParent(table), database);
    assert.deepEqual(tree.getTreeItem(table).command?.arguments, [table]);
    assert.equal(loaded.length, 2);
    const [columnRow] = await tree.getChildren(table);
    assert.ok(columnRow);
    assert.equal(tree.getParent(columnRow), table);
    const { label, description, accessibilityInformation: spoken } = tree.getTreeItem(columnRow);
    assert.deepEqual(
      [label, description, spoken?.label],
      ['id', 'integer not null', 'Primary key column id, integer not null'],
    );
  });

  it('redraws branches whose remaining time has changed, or whose agent becomes known', async () => {
    main.expires_at = new Date(Date.now() + 60_000 * 59.9).toISOString();
    const tree = createTree({ onDidExpandElement: ignored, onDidCollapseElement: ignored } as never);
    const [project] = await tree.getChildren();
    await model.inventory.branches.ensureLoaded('shop');
    const [branch] = await tree.getChildren(project);
    assert.ok(branch);
    const redrawn: unknown[] = [];
    tree.onDidChangeTreeData((nodes) => redrawn.push(nodes));
    assert.equal(tree.getTreeItem(branch).description, 'expires in 59 min · br-main');
    tree.redrawTimes();
    assert.deepEqual(redrawn, []);
    const ref = { account: accountId(model.account), projectId: 'shop', branchId: 'br-main' };
    const times = { createdAt: '', expiresAt: main.expires_at };
    model.agentBranches.add({ ...ref, ...times, name: 'main', agent: 'codex' });
    assert.deepEqual(redrawn.splice(0), [[branch]]);
    assert.equal(tree.getTreeItem(branch).description, 'codex · 59 min · br-main');
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 120_000 });
    tree.redrawTimes();
    assert.deepEqual(redrawn, [[branch]]);
    mock.timers.reset();
  });
});
