import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { TreeNode } from '../../../../../src/extension/inventory/ui/treeNodes.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';
import { connectShop, type ShopInventory } from '../../../../helpers/shopInventory.ts';

const { nodeTooltip, treeItem, projectFields } =
  await import('../../../../../src/extension/inventory/ui/treeItems.ts');

describe('nodeTooltip', () => {
  let shop: ShopInventory;
  beforeEach(async () => {
    shop = await connectShop();
  });

  it('shows the names of branches in tooltips', async () => {
    const parent = { id: 'br-main', name: 'main' };
    shop.replies.branches = [
      parent,
      { id: 'br-dev', name: 'dev | *x*', parent_id: 'br-main', protected: true },
    ];
    await shop.load();
    await shop.store.inventory.branches.ensureLoaded('shop');
    const textFor = (node: TreeNode) =>
      nodeTooltip(shop.store.inventory, node)?.value.replaceAll('\\', '') ?? '';
    const ids = { projectId: 'shop', branchId: 'br-dev' };
    const [branch, compute] = [
      { kind: 'branch', ...ids },
      { kind: 'compute', ...ids, computeId: 'ep-dev' },
    ] as const;
    for (const row of ['| Id | br-dev |', '| Parent | main (br-main) |', '| Protected | yes |'])
      assert.ok(textFor(branch).includes(row), textFor(branch));
    assert.ok(textFor(compute).includes('| Branch | dev | *x* (br-dev) |'), textFor(compute));
  });

  it('compares only the visible fields of a project', async () => {
    const project = {
      id: 'shop',
      name: 'Shop',
      region_id: 'eu',
      pg_version: 17,
      created_at: '2026-01-01T00:00:00Z',
    };
    const node = { kind: 'project', projectId: 'shop' } as const;
    const look = async (change: object) => {
      shop.replies.projects = [{ ...project, ...change }];
      await shop.store.inventory.refreshProjects();
      const { value } = nodeTooltip(shop.store.inventory, node) ?? { value: '' };
      const item = JSON.stringify(treeItem(shop.store.inventory, node));
      return { looks: item + value, shown: projectFields(shop.store.inventory, 'shop') };
    };
    const before = await look({});
    const others = {
      name: 'Shop 2',
      region_id: 'us',
      pg_version: 18,
      created_at: '2026-01-02T00:00:00Z',
      cpu_used_sec: 7200,
      locked: true,
      branch_logical_size_limit: 512,
    };
    const hidden = { updated_at: '2026-01-02T00:00:00Z', provisioner: 'k8s' };
    for (const [name, value] of Object.entries({ ...others, ...hidden })) {
      const after = await look({ [name]: value });
      assert.equal(after.looks === before.looks, name in hidden, name);
      assert.equal(after.shown === before.shown, name in hidden, name);
    }
  });

  it('shows hosts and Postgres settings in the tooltip', async () => {
    const settings = { pg_settings: { work_mem: '8MB' } };
    shop.replies.computes = [
      computeRecord('ep-a', { host: 'ep-a.eu.example.com', pooler_enabled: true, settings }),
    ];
    await shop.load();
    const node = { kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-a' } as const;
    const text = nodeTooltip(shop.store.inventory, node)?.value.replaceAll('\\', '') ?? '';
    for (const row of ['| Host | ep-a.eu.example.com |', '| Pooled host | ep-a-pooler.eu.example.com |'])
      assert.ok(text.includes(row), text);
    assert.ok(text.includes('| Postgres settings | work_mem = 8MB |'), text);
  });

  it('says in the tooltip how pooled connections work', async () => {
    const kinds = { shared: 'on, in transaction mode (PgBouncer)', separate: 'on, a separate session' };
    shop.replies.computes = Object.keys(kinds).map((kind) =>
      computeRecord(`ep-${kind}`, { host: '127.0.0.1:1', pooler_enabled: true, pooled_sessions: kind }),
    );
    await shop.load();
    for (const [kind, expected] of Object.entries(kinds)) {
      const ids = { projectId: 'shop', branchId: 'br-main', computeId: `ep-${kind}` };
      const text = nodeTooltip(shop.store.inventory, { kind: 'compute', ...ids })?.value.replaceAll('\\', '');
      assert.ok(text?.includes(`| Pooled connections | ${expected}`), text);
    }
  });
});
