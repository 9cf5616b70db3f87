/** Database branches whose git branches are gone, in a real repository. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { branchCalls, type Api } from '../../helpers/branchCalls.ts';
import { createRepository, type GitRepository } from '../../helpers/gitRepository.ts';
import { mainBranch, shop } from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('Tidy Up Branches', () => {
  const ui = useWorkbench();
  const service = useService();
  let api: Api;
  let repository: GitRepository;

  const remember = (id: string, gitBranch: string) => {
    const value = `${encodeURI(service().baseUrl)} ${shop} ${id} ${gitBranch}`;
    repository.git('config', '--add', 'hostedPostgres.created', value);
  };
  const remembered = () => {
    const lines = repository.git('config', '--get-all', 'hostedPostgres.created').trim().split('\n');
    return lines.map((line) => line.split(' ').at(-1));
  };
  /** As Create Branch for This Git Branch does. */
  const newBranch = async (name: string) => {
    const created = await api.createBranch(shop, { name, parent_id: mainBranch });
    remember(created.branch.id, name);
    return created;
  };
  const names = async () => (await api.branches(shop)).map(({ name }) => name);

  before(async () => {
    api = branchCalls(service());
    repository = createRepository(ui().folder);
    await connect(ui(), service());
  });

  it('deletes the chosen branches whose Git branches are gone, and forgets them', async () => {
    const { quickInput, dialog, notifications } = ui();
    for (const name of ['gone', 'gone-too', 'unticked', 'checked-out']) await newBranch(name);
    repository.git('branch', 'checked-out');
    remember('br-deleted-000001', 'deleted');
    const inFile = await newBranch('in-file');
    const host = inFile.endpoints[0]?.host ?? '';
    await writeFile(path.join(repository.folder, '.env'), `DATABASE_URL=postgresql://app:x@${host}/app\n`);

    await ui().run('Tidy Up Branches…');
    const prompt = 'Select the database branches to delete';
    const items = await quickInput.waitForItems(prompt, 3);
    assert.deepEqual(items.toSorted(), [
      'gone created just now · Git branch gone',
      'gone-too created just now · Git branch gone-too',
      'unticked created just now · Git branch unticked',
    ]);
    await quickInput.untick(prompt, 'unticked');
    await quickInput.accept(prompt);
    const { message, detail } = await dialog.read();
    assert.equal(message, 'Delete 2 branches?');
    assert.match(detail, /^This can't be undone\. .*\ngone \(shop\)\ngone-too \(shop\)$/);
    await dialog.press('Delete');
    await until('the end', async () => !remembered().some((name) => name?.startsWith('gone')));
    assert.deepEqual(remembered(), ['unticked', 'checked-out', 'in-file']);
    assert.deepEqual((await names()).toSorted().slice(-3), ['main', 'rewrite', 'unticked']);
    const count = /The Git branch of 1 database branch no longer exists\./;
    await ui().statusBar.waitForTooltip('Database branch in-file', count);

    repository.git('branch', 'unticked');
    await ui().run('Tidy Up Branches…');
    await notifications.waitFor('There is nothing to tidy up. Kept: in-file (an env file points to it).');
  });
});
