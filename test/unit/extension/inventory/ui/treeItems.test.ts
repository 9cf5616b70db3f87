import { executed } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { TreeItem } from 'vscode';
import type { TreeNode } from '../../../../../src/extension/inventory/ui/treeNodes.ts';
import { MemoryMap } from '../../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';
import { connectShop, type ShopInventory } from '../../../../helpers/shopInventory.ts';

const { NameOrder } = await import('../../../../../src/extension/window/ui/idAndName.ts');
const { branchLabel } = await import('../../../../../src/extension/inventory/ui/branchText.ts');
const {
  childNodes,
  nodeId: idOf,
  parentNode,
  roots,
} = await import('../../../../../src/extension/inventory/ui/treeNodes.ts');
const { nodeTooltip, treeItem } = await import('../../../../../src/extension/inventory/ui/treeItems.ts');

type Shape = readonly [text: string, children?: readonly Shape[]];

describe('treeItem', () => {
  let shop: ShopInventory;
  beforeEach(async () => {
    shop = await connectShop();
  });
  const textOf = ({ label, description }: TreeItem) =>
    [label, description].filter((part) => typeof part === 'string').join(' | ');
  const shape = (node: TreeNode): Shape => {
    const text = textOf(treeItem(shop.store.inventory, node));
    const children = childNodes(shop.store.inventory, node);
    return children.length === 0 ? [text] : [text, children.map(shape)];
  };
  const tree = (shown = 400) => roots(shop.store.inventory, shown).map(shape);
  const itemOf = (computeId: string, branchId = 'br-main') =>
    treeItem(shop.store.inventory, { kind: 'compute', projectId: 'shop', branchId, computeId });

  it('shows projects, branches by id, and the computes of each with their state', async () => {
    await shop.load();
    assert.deepEqual(tree(), [
      [
        'Shop | eu',
        [
          ['br-dev', [['primary | init · ep-dev']]],
          ['br-main', [['primary | 0.25 CU · active · ep-main'], ['reports | replica · idle · ep-read']]],
        ],
      ],
    ]);
  });

  it('shows the names and marks of branches, the default one first, then by name, and those without computes', async () => {
    shop.replies.branches = [
      { id: 'br-a', name: 'feature/10', parent_id: 'br-main' },
      { id: 'br-b', name: 'feature/9', parent_id: 'br-main' },
      { id: 'br-dev', name: 'dev', parent_id: 'br-main' },
      { id: 'br-main', name: 'main', default: true, protected: true },
      { id: 'br-new', name: 'br-new', parent_id: 'br-main', current_state: 'init' },
    ];
    await shop.load();
    await shop.store.inventory.branches.ensureLoaded('shop');
    const shown = tree()[0]?.[1]?.map(([text]) => text);
    assert.deepEqual(shown, [
      'main | default · protected · br-main',
      'br-new | init · no computes',
      'dev | br-dev',
      'feature/9 | no computes · br-b',
      'feature/10 | no computes · br-a',
    ]);
    const item = (branchId: string) =>
      treeItem(shop.store.inventory, { kind: 'branch', projectId: 'shop', branchId });
    assert.equal(item('br-main').accessibilityInformation?.label, 'Branch main, default, protected, br-main');
    assert.equal(item('br-main').contextValue, 'branch listed default protected root primary');
    assert.equal(item('br-new').contextValue, 'branch listed other unprotected child');
    assert.equal(item('br-new').collapsibleState, 0, 'no arrow');
  });

  it('shows ids before names if the user wants it, and has a lone id as the label', async () => {
    shop.replies.branches = [
      { id: 'br-main', name: 'main', default: true },
      { id: 'br-dev', name: 'br-dev' },
    ];
    await shop.load();
    await shop.store.inventory.branches.ensureLoaded('shop');
    const namesFirst = tree();
    const spoken = (node: TreeNode) =>
      treeItem(shop.store.inventory, node).accessibilityInformation?.label ?? '';
    const main = { kind: 'branch', projectId: 'shop', branchId: 'br-main' } as const;
    const compute = (computeId: string) => ({ ...main, kind: 'compute', computeId }) as const;
    const rows = () => [spoken(main), spoken(compute('ep-main')), spoken(compute('ep-read'))];
    assert.deepEqual(namesFirst[0]?.[1], [
      [
        'main | default · br-main',
        [['primary | 0.25 CU · active · ep-main'], ['reports | replica · idle · ep-read'], ['Databases']],
      ],
      ['br-dev', [['primary | init · ep-dev'], ['Databases']]],
    ]);
    assert.deepEqual(rows(), [
      'Branch main, default, br-main',
      'Compute primary, active, 0.25 CU, on main, ep-main',
      'Compute reports, idle, read replica, on main, ep-read',
    ]);
    const memory = new MemoryMap();
    await new NameOrder(memory).change(false);
    const reports = ['ep-read | replica · idle · reports'] as const;
    assert.deepEqual(tree()[0]?.[1], [
      ['br-main | main · default', [['ep-main | 0.25 CU · active'], reports, ['Databases']]],
      ['br-dev', [['ep-dev | init'], ['Databases']]],
    ]);
    assert.deepEqual(rows(), [
      'Branch br-main, main, default',
      'Compute ep-main, active, primary, 0.25 CU, on main',
      'Compute reports, idle, read replica, on main, ep-read',
    ]);
    const branch = shop.store.inventory.branches.get('shop', 'br-main');
    assert.equal(branchLabel('br-main', branch), 'br-main (main)');
    // A window in which names come first, and another one.
    new NameOrder(new MemoryMap());
    executed.length = 0;
    const later = new NameOrder(memory);
    assert.deepEqual(executed, [['setContext', 'hostedPostgres.namesFirst', false]]);
    await later.change(true);
    assert.deepEqual(tree(), namesFirst);
    assert.equal(branchLabel('br-main', branch), 'main (br-main)');
  });

  it('says of which branch an undo has kept the data, and when, but not of a branch made from a snapshot', async () => {
    const [time, earlier] = [new Date(), new Date(0)].map((date) => date.toISOString());
    const restored = { restored_as: 'br-main', parent_id: 'br-main' };
    shop.replies.branches = [
      { id: 'br-main', name: 'main', default: true, created_at: earlier },
      { id: 'br-kept', name: 'before-undo-14-03', ...restored, created_at: time },
      { id: 'br-look', name: 'look', ...restored, restore_status: 'restored', created_at: time },
      { id: 'br-old', name: 'dev (old)', restored_as: 'br-dev', created_at: earlier },
      { id: 'br-dev', name: 'dev', restored_as: 'br-old', restore_status: 'finalized', created_at: time },
    ];
    await shop.load();
    const { inventory } = shop.store;
    await inventory.branches.ensureLoaded('shop');
    const node = (branchId: string) => ({ kind: 'branch', projectId: 'shop', branchId }) as const;
    const keptBy = (branchId: string) =>
      /kept by Undo of .*? at [^·]*(?= ·)/.exec(String(treeItem(inventory, node(branchId)).description))?.[0];
    const clock = new Date(String(time)).toLocaleTimeString('en', { timeStyle: 'medium' });
    assert.deepEqual(['br-main', 'br-kept', 'br-look', 'br-old', 'br-dev'].map(keptBy), [
      undefined,
      `kept by Undo of main at ${clock}`,
      undefined,
      `kept by Undo of dev at ${clock}`,
      undefined,
    ]);
    assert.match(
      nodeTooltip(inventory, node('br-kept'))?.value ?? '',
      /\| Origin \| kept by Undo of main at /,
    );
  });

  it('says also to screen readers that the details of a project are not available', () => {
    const { description, accessibilityInformation } = treeItem(shop.store.inventory, {
      kind: 'project',
      projectId: 'unknown',
    });
    assert.equal(description, 'details not available');
    assert.equal(accessibilityInformation?.label, 'Project unknown, details not available');
  });

  it('has no menu for branches if the service does not list them', async () => {
    await shop.load();
    const project = () => treeItem(shop.store.inventory, { kind: 'project', projectId: 'shop' }).contextValue;
    assert.equal(project(), 'project branches');
    await shop.store.inventory.branches.ensureLoaded('shop');
    assert.equal(project(), 'project');
    const branch = treeItem(shop.store.inventory, { kind: 'branch', projectId: 'shop', branchId: 'br-main' });
    assert.equal(branch.contextValue, 'branch primary');
  });

  it('gives every node a unique id, and every child its parent', async () => {
    await shop.load();
    const all: TreeNode[] = [];
    const walk = (node: TreeNode) => {
      all.push(node);
      for (const child of childNodes(shop.store.inventory, node)) {
        assert.deepEqual(parentNode(child), node);
        walk(child);
      }
    };
    roots(shop.store.inventory, 400).forEach(walk);
    assert.equal(new Set(all.map(idOf)).size, all.length);
    assert.equal(all.length, 6);
  });

  it('shows who created a branch and the time left, in full words to screen readers', async () => {
    const hours = (count: number) => new Date(Date.now() + count * 3_600_000 + 60_000).toISOString();
    shop.replies.branches = [
      { id: 'br-a', name: 'agent/try', expires_at: hours(23) },
      { id: 'br-b', name: 'trial', expires_at: hours(6 * 24) },
      { id: 'br-main', name: 'main', default: true },
    ];
    await shop.load();
    await shop.store.inventory.branches.ensureLoaded('shop');
    const agent = {
      account: '',
      projectId: 'shop',
      branchId: 'br-a',
      name: 'agent/try',
      agent: 'claude-code',
      createdAt: '',
      expiresAt: hours(23),
    };
    const node = (branchId: string) => ({ kind: 'branch', projectId: 'shop', branchId }) as const;
    const [own, other] = [
      treeItem(shop.store.inventory, node('br-a'), { agent }),
      treeItem(shop.store.inventory, node('br-b')),
    ];
    assert.equal(textOf(own), 'agent/try | claude-code · 23 h · no computes · br-a');
    assert.equal(
      own.accessibilityInformation?.label,
      'Branch agent/try, created by claude-code, expires in 23 hours, no computes, br-a',
    );
    assert.match(
      nodeTooltip(shop.store.inventory, node('br-a'), { agent })?.value ?? '',
      /Created by \| claude/,
    );
    assert.equal(textOf(other), 'trial | expires in 6 d · no computes · br-b');
    assert.equal(other.accessibilityInformation?.label, 'Branch trial, expires in 6 days, no computes, br-b');
  });

  it('has an icon for the default and for protected branches', async () => {
    shop.replies.branches = [
      { id: 'br-main', name: 'main', default: true },
      { id: 'br-live', name: 'live', protected: true },
      { id: 'br-dev', name: 'dev' },
    ];
    await shop.load();
    await shop.store.inventory.branches.ensureLoaded('shop');
    const icons = ['br-main', 'br-live', 'br-dev'].map((branchId) => {
      const item = treeItem(shop.store.inventory, { kind: 'branch', projectId: 'shop', branchId });
      return (item.iconPath as { id: string }).id;
    });
    assert.deepEqual(icons, ['star-full', 'lock', 'git-branch']);
  });

  it('distinguishes states by icon and accessible label, not by color alone', async () => {
    shop.replies.computes = [
      computeRecord('ep-a'),
      computeRecord('ep-b', { current_state: 'idle' }),
      computeRecord('ep-c', { current_state: 'init' }),
      computeRecord('ep-d', { pending_state: 'idle' }),
      computeRecord('ep-e', { current_state: 'idle', disabled: true }),
      computeRecord('ep-f', { current_state: 'hibernating' }),
    ];
    await shop.load();
    const items = ['ep-a', 'ep-b', 'ep-c', 'ep-d', 'ep-e', 'ep-f'].map((id) => itemOf(id));
    const shapes = new Set(items.map(({ iconPath }) => (iconPath as { id: string }).id));
    assert.equal(shapes.size, items.length);
    const texts = ['active', 'idle', 'init', 'active → idle', 'disabled', 'hibernating'];
    // A state without an icon.
    assert.equal(items.at(-1)?.description, 'hibernating · ep-f');
    items.forEach((item, index) =>
      assert.ok(item.accessibilityInformation?.label.includes(texts[index] ?? '?')),
    );
  });

  it('has kind and flags as context value', async () => {
    shop.replies.computes = [
      computeRecord('ep-a', { type: 'read_only', current_state: 'idle', pooler_enabled: true }),
    ];
    await shop.load();
    assert.equal(itemOf('ep-a').contextValue, 'compute idle read_only pooled');
  });

  it('shows records that cannot be parsed next to the others', async () => {
    shop.replies.computes.push({ id: 'ep-odd', host: 5 });
    shop.replies.projects.push({ name: 'no id' });
    await shop.load();
    const shown = JSON.stringify(tree());
    assert.match(shown, /ep-odd \| unreadable \(field host\)/);
    assert.match(shown, /Project \| unreadable \(field id\)/);
    assert.match(shown, /ep-main/);
  });

  it('shows that a project has no computes, or why they could not be loaded', async () => {
    shop.replies.computes = [];
    await shop.load();
    assert.deepEqual(tree(), [['Shop | eu', [['No computes']]]]);
    shop = await connectShop();
    const { projects } = shop.replies;
    shop.store.service.script = (call) => (call === 'GET /projects' ? { projects } : 500);
    await shop.load();
    assert.match(JSON.stringify(tree()), /Couldn't load: status 500/);
  });

  it('shows the first projects and how many are left', async () => {
    const { service } = shop.store;
    const projects = Array.from({ length: 450 }, (_, index) => ({ id: `p-${index}`, name: `${index}` }));
    service.script = () => (service.requests.length === 1 ? { projects } : { projects: [] });
    await shop.store.inventory.ensureProjects();
    const shown = tree(400);
    assert.equal(shown.length, 401);
    assert.deepEqual(shown.at(-1), ['Load more… | 50 left']);
    assert.equal(tree(800).length, 450);
  });
});
