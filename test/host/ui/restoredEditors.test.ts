/** Open editors of a branch that goes back: they say that they show the data from before, and are read again. */
import assert from 'node:assert/strict';
import { branchCalls } from '../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { branchApi, PROJECT } from '../../real/service/postgres/catalog/branchApi.ts';
import { query } from '../../real/service/postgres/clients.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { closeEditors } from './resetWindow.ts';
import { useWorkbench } from './useWorkbench.ts';

const OUTDATED = 'Editors that are open still show the earlier data.';
const work = /^Branch work, br-/;

describe('After a branch went back', () => {
  const ui = useWorkbench();
  let service: LocalService;
  let id: string;
  /** The connection string, which stays the same. */
  let uri: string;

  before(async () => {
    service = await startLocalService();
    await query(await branchApi(() => service).uri(), 'create table visits (id int primary key)');
    id = (await branchCalls(service).createBranch(PROJECT, { name: 'work' })).branch.id;
    uri = await branchApi(() => service, id).uri();
    await branchApi(() => service, id).waitForHistory();
    await connect(ui(), service, 'shop');
    await ui().computes.waitFor(work);
  });
  afterEach(() => ui().notifications.clear());

  const whenNothingIsPending = async () => {
    const api = branchCalls(service);
    const { operations } = await api.send('GET', `/${PROJECT}/operations`);
    const pending = operations.filter(({ status }) => ['scheduling', 'running'].includes(status));
    await api.finish(PROJECT, pending);
  };

  const labels = () =>
    ui()
      .page.locator('.tabs-container .tab')
      .evaluateAll((tabs) => tabs.map((tab) => tab.getAttribute('aria-label') ?? ''));
  const waitForTabs = async (...titles: readonly RegExp[]) =>
    until(
      async () => `the tabs ${titles.join()}; they are ${JSON.stringify(await labels())}`,
      async () => {
        const shown = await labels();
        return (
          shown.length === titles.length && titles.every((title) => shown.some((label) => title.test(label)))
        );
      },
    );
  /** It takes the keyboard focus after its title is shown, which closes a menu. */
  const waitForComparison = async (...titles: readonly RegExp[]) => {
    await waitForTabs(...titles);
    await ui().page.locator('.monaco-diff-editor .monaco-editor.focused').waitFor();
  };

  it('by Undo, an open comparison of rows is compared again from the message', async () => {
    const past = new Date().toISOString();
    await query(uri, 'insert into visits values (1), (2)');
    await ui().computes.contextMenu(work, 'Data and History', 'Compare Rows…');
    await ui().quickInput.choose('Select a table or view', 'visits');
    await waitForComparison(/^visits: 2 added \(main ↔ work\)/);
    await branchApi(() => service, id).waitForNoConnections();
    await ui().computes.contextMenu(work, 'Undo…');
    await ui().quickInput.answer('Select the moment that work (shop) goes back to', past);
    const { message } = await ui().notifications.waitFor(/^Undid work \(shop\)\. You selected: /);
    assert.ok(message.endsWith(OUTDATED), message);
    await ui().notifications.press('Undid work (shop). You selected: ', 'Compare Again');
    await waitForComparison(/^visits: no differences \(main ↔ work\)/);
  });

  it('to a snapshot, it is compared with the data of the branch, which has another id', async () => {
    await ui().computes.contextMenu(work, 'Data and History', 'Create Snapshot…');
    await ui().quickInput.answer('Name of the snapshot of work', 'first');
    await ui().computes.expand('Snapshots of work, 1');
    // Its row is there from the beginning, and its data is that of the time of copying.
    await whenNothingIsPending();
    await query(uri, 'insert into visits values (3)');
    await ui().page.getByRole('button', { name: 'Refresh Rows' }).click();
    await waitForComparison(/^visits: 1 added \(main ↔ work\)/);
    await ui().computes.contextMenu(/^Snapshot first, /, 'Restore Snapshot…');
    await ui().dialog.press('Restore');
    const { message } = await ui().notifications.waitFor(/^Restored work \(shop\): Snapshot “first”/);
    assert.ok(message.endsWith(OUTDATED), message);
    await ui().notifications.press('Restored work (shop): ', 'Compare Again');
    await waitForComparison(/^visits: no differences \(main ↔ work\)/);
  });

  it('to a snapshot, open schemas are read again, too', async () => {
    await closeEditors(ui());
    await query(uri, 'create table a_later (id int)');
    await ui().computes.contextMenu(work, 'Data and History', 'Open Schema');
    await waitForTabs(/^work\.app\.sql/);
    await ui().computes.contextMenu(work, 'Compare Schema…');
    await ui().quickInput.choose('Select the branch to compare with', 'main');
    await waitForComparison(/^app: main ↔ work \(1 added\)/, /^work\.app\.sql/);
    // The row is another one since the last restore.
    await ui().computes.expand('Snapshots of work, 1');
    await ui().computes.contextMenu(/^Snapshot first, /, 'Restore Snapshot…');
    await ui().dialog.press('Restore');
    const { message } = await ui().notifications.waitFor(/^Restored work \(shop\): Snapshot “first”/);
    assert.ok(message.endsWith(OUTDATED), message);
    await ui().notifications.press('Restored work (shop): ', 'Compare Again');
    await waitForTabs(/^app: main ↔ work \(no differences\)/, /^work\.app\.sql/);
    await query(uri, 'create table a_latest (id int)');
    await ui().page.locator('.tabs-container .tab', { hasText: 'work.app.sql' }).click();
    await ui().page.getByRole('button', { name: 'Refresh Schema' }).click();
    const shown = (table: string) =>
      ui()
        .page.locator('.view-line')
        .filter({ hasText: `CREATE TABLE public.${table} (` })
        .first();
    await shown('a_latest').waitFor();
    assert.equal(await shown('a_later').count(), 0);
  });
});
