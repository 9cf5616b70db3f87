import assert from 'node:assert/strict';
import { branchCalls } from '../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { PROJECT } from '../../real/service/postgres/catalog/branchApi.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('Rows of snapshots', () => {
  const ui = useWorkbench();
  let service: LocalService;
  const work = /^Branch work, br-/;

  before(async () => {
    service = await startLocalService();
    await branchCalls(service).createBranch(PROJECT, { name: 'work' });
    await connect(ui(), service, 'shop');
  });

  it('are below their branch, which has no such row without a snapshot', async () => {
    const { computes } = ui();
    const [id] = /br-[\w-]+$/.exec(await computes.waitFor(work)) ?? [];
    await computes.waitFor('Databases of work');
    await computes.waitUntilGone(/^Snapshots of /);
    await computes.contextMenu(work, 'Data and History', 'Create Snapshot…');
    await ui().quickInput.answer('Name of the snapshot of work', 'first');
    await computes.expand('Snapshots of work, 1');
    await computes.waitFor(/^Snapshot first, \d/);
    // Another client makes one.
    await branchCalls(service).change('POST', `/${PROJECT}/branches/${id}/snapshot?name=second`);
    await ui().run('Refresh');
    await computes.waitFor('Snapshots of work, 2');
  });

  it('have a menu that renames, restores and deletes', async () => {
    const { computes } = ui();
    await computes.contextMenu(/^Snapshot second, /, 'Rename Snapshot…');
    await ui().quickInput.answer('Name of the snapshot', 'renamed');
    await computes.contextMenu(/^Snapshot renamed, /, 'Copy Id');
    await ui().waitForClipboard(/^snap-/);
    await computes.contextMenu(/^Snapshot first, /, 'Restore Snapshot…');
    assert.equal((await ui().dialog.read()).message, 'Restore work (shop) to the snapshot first?');
    await ui().dialog.press('Restore');
    await ui().notifications.waitFor(/^Restored work \(shop\): Snapshot “first”/);
    await ui().notifications.clear();
    // The branch has another id, and the snapshots stay its own.
    await computes.waitFor(/^Branch work \(old\), /);
    const groups = async () => (await computes.labels()).filter((label) => label.startsWith('Snapshots of '));
    assert.deepEqual(await groups(), ['Snapshots of work, 2']);
    await computes.expand('Snapshots of work, 2');
    for (const name of ['first', 'renamed']) {
      await computes.contextMenu(new RegExp(`^Snapshot ${name}, `), 'Delete Snapshot…');
      assert.equal((await ui().dialog.read()).message, `Delete the snapshot ${name} of work (shop)?`);
      await ui().dialog.press('Delete');
      await computes.waitUntilGone(new RegExp(`^Snapshot ${name}, `));
    }
    await computes.waitUntilGone(/^Snapshots of /);
  });
});
