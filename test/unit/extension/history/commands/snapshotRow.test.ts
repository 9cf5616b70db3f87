import {
  answers,
  dialogs,
  executed,
  openTabs,
  questions,
  quickPicks,
} from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import { RowDocuments } from '../../../../../src/extension/database/rows/rowDocuments.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { enterInInputBoxes } from '../../../../helpers/enterIn.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';
import { commandContext, fakeView } from '../../../../helpers/commandContext.ts';

const { TabInputText, Uri } = await import('vscode');
const { handleCommand } = await import('../../../../../src/extension/commandHandlers.ts');

const CREATED = '2026-01-31T10:00:00Z';
const SNAPSHOTS = '/projects/shop/snapshots';
const MADE_FROM_IT = {
  id: 'br-look',
  name: 'made from it',
  default: false,
  created_at: '2026-01-31T11:00:00Z',
  restored_as: 'br-main',
  restore_status: 'restored',
};

describe('The row of a snapshot', () => {
  let model: ScriptedModel;
  let name: string | undefined;
  let rows: RowDocuments;
  const sent: string[] = [];
  /** Calls that fail, by their beginning. */
  let failing: string | undefined;

  beforeEach(async () => {
    for (const list of [answers, questions, dialogs, quickPicks, executed, sent]) list.length = 0;
    [name, failing, rows] = ['before', undefined, new RowDocuments()];
    const branch = { id: 'br-main', name: 'main', default: true, created_at: CREATED };
    const lists: Readonly<Record<string, unknown>> = {
      '/projects': { projects: [{ id: 'shop', name: 'shop' }] },
      '/projects/shop/branches': { branches: [branch, { ...branch, ...MADE_FROM_IT }] },
      '/projects/shop/endpoints': { endpoints: [computeRecord('ep-main')] },
    };
    model = await connectScripted((call, _query, body) => {
      const [method, path = ''] = call.split(' ');
      const snapshot = { id: 'snap-1', name, source_branch_id: 'br-main', created_at: CREATED };
      if (call === `GET ${SNAPSHOTS}`) return { snapshots: name === undefined ? [] : [snapshot] };
      if (method === 'GET') return lists[path] ?? 404;
      sent.push(`${call} ${JSON.stringify(body ?? {})}`);
      if (failing !== undefined && call.startsWith(failing)) return 422;
      if (method === 'DELETE') name = undefined;
      else name = Object(body).snapshot?.name ?? name;
      return { snapshot: { ...snapshot, name }, branch: { ...branch, id: 'br-new' }, operations: [] };
    });
    await model.inventory.ensureProjects();
    await model.inventory.branches.ensureLoaded('shop');
    await model.inventory.snapshots.ensureLoaded('shop');
    // Undo… wouldn't ask on the local service.
    Object.defineProperty(model.session.connection, 'isLocal', { value: true });
  });

  const row = { kind: 'snapshot', projectId: 'shop', branchId: 'br-main', snapshotId: 'snap-1' };
  const run = async (command: Parameters<typeof handleCommand>[1], argument: object = row) => {
    const view = fakeView([row]);
    const context = commandContext(model, { computesView: view, apiKeysView: view, rows });
    await handleCommand(context, command, argument);
  };

  it('restores after a question', async () => {
    await run('hostedPostgres.snapshot.restore');
    assert.match(
      String(questions[0]),
      /^Restore main \(shop\) to the snapshot before\? Its current data is kept as the branch main \(old\)/,
    );
    assert.deepEqual(sent, []);
    answers.push('Restore');
    await run('hostedPostgres.snapshot.restore');
    assert.deepEqual(sent, [
      `POST ${SNAPSHOTS}/snap-1/restore {"finalize_restore":true,"target_branch_id":"br-main"}`,
    ]);
    await until('the message', async () =>
      questions.some((text) => String(text).startsWith('Restored main (shop): Snapshot “before”')),
    );
  });

  it('offers to read open editors of the branch again, which has another id', async () => {
    const branch = { account: accountId(model.account), projectId: 'shop', branchId: 'br-main' };
    const source = { sql: 'TABLE orders', name: 'orders' };
    const uri = Uri.from(rows.add('orders', '', { source, branch, database: 'app' }));
    openTabs.push({ label: 'orders', input: new TabInputText(uri) });
    answers.push('Restore', 'Compare Again');
    await run('hostedPostgres.snapshot.restore');
    await until('the refresh', async () => executed.some(([id]) => id === 'hostedPostgres.rows.refresh'));
    openTabs.length = 0;
    assert.match(String(questions.at(-1)), /Editors that are open still show the earlier data\.$/);
    assert.equal(rows.get(uri)?.request.branch.branchId, 'br-new');
  });

  for (const [what, call, told] of [
    ['expiry', 'PATCH /projects/shop/branches', "Created look, but couldn't set its expiry"],
    ['compute', 'POST /projects/shop/endpoints', "Created look, but couldn't create its compute"],
  ] as const)
    it(`says that the branch was created if only its ${what} fails`, async () => {
      failing = call;
      await enterInInputBoxes('look');
      const end = run('hostedPostgres.snapshot.createBranch');
      await until('the lifetime', async () => quickPicks[0]?.active === 'Never');
      quickPicks[0]?.down();
      quickPicks[0]?.accept();
      await end;
      assert.ok(String(questions.at(-1)).startsWith(told), questions.at(-1));
    });

  it('is below its branch only, and Undo… offers it only there', async () => {
    const offered = async (branchId: string) => {
      const end = run('hostedPostgres.undo', { kind: 'branch', projectId: 'shop', branchId });
      await until('the moments', async () => quickPicks[0]?.items.at(-1)?.label === 'Enter a time…');
      const isOffered = quickPicks[0]?.items.some(({ label }) => label === 'Snapshot “before”');
      quickPicks[0]?.cancel();
      await end;
      return isOffered;
    };
    const rows = (branchId: string) =>
      model.inventory.snapshots.ofBranch({ projectId: 'shop', branchId }).length;
    assert.deepEqual([rows('br-main'), rows('br-look')], [1, 0]);
    assert.deepEqual([await offered('br-main'), await offered('br-look')], [true, false]);
  });

  it('creates a branch, after its name and lifetime', async () => {
    await enterInInputBoxes('look');
    const end = run('hostedPostgres.snapshot.createBranch');
    await until('the lifetime', async () => quickPicks[0]?.active === 'Never');
    quickPicks[0]?.accept();
    await end;
    assert.equal(sent[0], `POST ${SNAPSHOTS}/snap-1/restore {"name":"look","target_branch_id":"br-main"}`);
  });

  it('renames and deletes by its menu and keys, and then shows what the service has', async () => {
    const { snapshots } = model.inventory;
    await enterInInputBoxes('better');
    await run('hostedPostgres.row.edit', 'selectedInComputes' as never);
    assert.equal(sent[0], `PATCH ${SNAPSHOTS}/snap-1 {"snapshot":{"name":"better"}}`);
    assert.equal(snapshots.get('shop', 'snap-1')?.name, 'better');
    answers.push('Delete');
    await run('hostedPostgres.snapshot.delete');
    assert.match(String(dialogs[0] ?? questions[0]), /^Delete the snapshot better of main \(shop\)\?/);
    assert.equal(sent[1], `DELETE ${SNAPSHOTS}/snap-1 {}`);
    assert.equal(snapshots.get('shop', 'snap-1'), undefined);
    // Its row was not removed yet.
    await run('hostedPostgres.snapshot.delete');
    assert.equal(sent.length, 2);
  });

  it('of all snapshots creates one', async () => {
    await enterInInputBoxes('another');
    await run('hostedPostgres.snapshot.create', { ...row, kind: 'snapshots' });
    assert.match(String(sent[0]), /^POST \/projects\/shop\/branches\/br-main\/snapshot /);
  });
});
