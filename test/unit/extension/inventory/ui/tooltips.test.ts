import assert from 'node:assert/strict';
import type { TreeNode } from '../../../../../src/extension/inventory/ui/nodes.ts';
import { connectModel, type ConnectedModel } from '../../../../helpers/connectedModel.ts';
import { computeRecord, scriptService, type ScriptedService } from '../../../../helpers/scriptedService.ts';

const { tooltip, treeItem, visibleFields } =
  await import('../../../../../src/extension/inventory/ui/treeItems.ts');

describe('tooltip', () => {
  let service: ScriptedService;
  let store: ConnectedModel;
  let projects: unknown[];
  let computes: unknown[];
  let branches: unknown[] | undefined;

  beforeEach(async () => {
    projects = [{ id: 'shop', name: 'Shop', region_id: 'eu' }];
    computes = [
      computeRecord('ep-main', { autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 0.25 }),
      computeRecord('ep-read', { type: 'read_only', current_state: 'idle', name: 'reports' }),
      computeRecord('ep-dev', { branch_id: 'br-dev', current_state: 'init', pending_state: 'active' }),
    ];
    branches = undefined;
    service = await scriptService((call) => {
      if (call.endsWith('/branches')) return branches === undefined ? 404 : { branches };
      return call === 'GET /projects' ? { projects } : { endpoints: computes };
    });
    store = await connectModel(service);
  });

  afterEach(async () => {
    store.dispose();
    await service.close();
  });

  const load = async () => {
    await store.inventory.ensureProjects();
    await store.inventory.ensureComputes('shop');
  };

  it('shows the names of branches in tooltips', async () => {
    const parent = { id: 'br-main', name: 'main' };
    branches = [parent, { id: 'br-dev', name: 'dev | *x*', parent_id: 'br-main', protected: true }];
    await load();
    await store.inventory.branches.ensureLoaded('shop');
    const textFor = (node: TreeNode) => tooltip(store.inventory, node)?.value.replaceAll('\\', '') ?? '';
    const ids = { projectId: 'shop', branchId: 'br-dev' };
    const [branch, compute] = [
      { kind: 'branch', ...ids },
      { kind: 'compute', ...ids, computeId: 'ep-dev' },
    ] as const;
    for (const row of ['| Id | br-dev |', '| Parent | br-main (main) |', '| Protected | yes |'])
      assert.ok(textFor(branch).includes(row), textFor(branch));
    assert.ok(textFor(compute).includes('| Branch | br-dev (dev | *x*) |'), textFor(compute));
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
      projects = [{ ...project, ...change }];
      await store.inventory.refreshProjects();
      const { value } = tooltip(store.inventory, node) ?? { value: '' };
      const item = JSON.stringify(treeItem(store.inventory, node));
      return { looks: item + value, shown: visibleFields(store.inventory, 'shop') };
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
    computes = [computeRecord('ep-a', { host: 'ep-a.eu.example.com', pooler_enabled: true, settings })];
    await load();
    const node = { kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-a' } as const;
    const text = tooltip(store.inventory, node)?.value.replaceAll('\\', '') ?? '';
    for (const row of ['| Host | ep-a.eu.example.com |', '| Pooled host | ep-a-pooler.eu.example.com |'])
      assert.ok(text.includes(row), text);
    assert.ok(text.includes('| Postgres settings | work_mem = 8MB |'), text);
  });

  it('says in the tooltip how pooled connections work', async () => {
    const kinds = { shared: 'on, in transaction mode (PgBouncer)', separate: 'on, a separate session' };
    computes = Object.keys(kinds).map((kind) =>
      computeRecord(`ep-${kind}`, { host: '127.0.0.1:1', pooler_enabled: true, pooled_sessions: kind }),
    );
    await load();
    for (const [kind, expected] of Object.entries(kinds)) {
      const ids = { projectId: 'shop', branchId: 'br-main', computeId: `ep-${kind}` };
      const text = tooltip(store.inventory, { kind: 'compute', ...ids })?.value.replaceAll('\\', '');
      assert.ok(text?.includes(`| Pooled connections | ${expected}`), text);
    }
  });
});
