import assert from 'node:assert/strict';
import { branchCalls, type Api } from '../../helpers/branchCalls.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import {
  emptyBranch,
  mainBranch,
  rewrite,
  rewriteBranch,
  shop,
  shopAccount,
} from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const [main, rewriteRow] = [`Branch ${mainBranch}, main, default`, `Branch ${rewriteBranch}, rewrite`];

describe('Branches', () => {
  const opened = useWorkbench();
  const quickInput = () => opened().workbench.quickInput;
  const computes = () => opened().workbench.tree('Computes');
  let service: LocalService;
  let api: Api;

  before(async () => {
    service = await startLocalService({ args: shopAccount(temporaryFolder()) });
    api = branchCalls(service);
    await connect(opened().workbench, service);
    await computes().expandProject('shop');
    await computes().waitFor(rewriteRow);
  });
  after(() => service.stop());

  const find = async (name: string) => (await api.branches(shop)).find((branch) => branch.name === name);
  /** Created by another client. Each test that changes a branch has one. @returns its id, once it is in the tree */
  const newBranch = async (name: string, fields: object = {}, more: object = {}): Promise<string> => {
    const branch = { name, parent_id: mainBranch, ...fields };
    const { id } = (await api.change('POST', `/${shop}/branches`, { branch, ...more })).branch;
    await computes().waitFor(new RegExp(`^Branch ${id}, ${name}`));
    return id;
  };

  it('have their name and marks next to their id, the default one first', async () => {
    const labels = (await computes().rows())
      .map(({ label }) => label)
      .filter((label) => label.startsWith('Branch'));
    assert.deepEqual(labels, [main, `Branch ${emptyBranch}, empty, no computes`, rewriteRow]);
    assert.match(await computes().tooltip(rewriteRow), new RegExp(`Parent\\s+${mainBranch} \\(main\\)`));
  });

  it('are found by name', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Find Compute…');
    await quickInput().type('Search by name', 'rewrite');
    await until('the compute of the branch', async () => {
      const { items } = await quickInput().waitFor('Search by name');
      return items.length === 1 && items[0]?.startsWith(rewrite);
    });
    await quickInput().cancel('Search by name');
  });

  it('have their name before their id if the user wants it, also in the lists to choose from', async () => {
    const { workbench } = opened();
    await workbench.viewAction('Computes', 'Show Names First');
    await computes().waitFor(`Branch main, ${mainBranch}, default`);
    await computes().click(/^Compute primary/);
    await workbench.runCommand('Hosted Postgres: Rename Branch…');
    await until('the branches by name', async () =>
      (await quickInput().waitFor('Select a branch')).items.some((item) => item.startsWith('rewrite br-')),
    );
    await quickInput().cancel('Select a branch');
    await workbench.viewAction('Computes', 'Show Ids First');
    await computes().waitFor(main);
  });

  it('are created with a compute from the row of their parent', async () => {
    await computes().contextMenu(main, 'Create Branch…');
    await quickInput().answer('Name of the new branch of main', 'qa');
    await quickInput().accept('Select whether the branch gets a compute');
    await quickInput().accept('Delete the branch automatically');
    const { label } = await computes().waitFor(/^Branch br-\S+, qa$/);
    const created = await find('qa');
    assert.equal(label, `Branch ${created?.id}, qa`);
    assert.deepEqual([created?.parent_id, created?.expires_at], [mainBranch, undefined]);
    await opened().workbench.statusBar.waitFor('Created qa');
    const { items } = await service.client.listComputes(shop);
    const compute = items.find(({ branch_id }) => branch_id === created?.id);
    await computes().waitFor(new RegExp(`^Compute ${compute?.id}, active, primary`));
    await computes().waitUntilSelected(new RegExp(`^Compute ${compute?.id}`));
  });

  it('are created without a compute and with an expiry from the palette', async () => {
    const { workbench } = opened();
    await computes().click('Project shop');
    await workbench.runCommand('Hosted Postgres: Create Branch…');
    assert.match(await quickInput().validationMessage('Name of the new branch', 'rewrite'), /has this name/);
    await quickInput().answer('Create Branch', 'trial');
    await quickInput().choose('Select the parent', rewriteBranch);
    await quickInput().choose('Select whether the branch gets a compute', 'Without a compute');
    await quickInput().answer('Delete the branch automatically', '2 days');
    await computes().waitFor(/^Branch br-\S+, trial, expires [\d/]+, no computes$/);
    const created = await find('trial');
    assert.equal(created?.parent_id, rewriteBranch);
    const hours = (Date.parse(created?.expires_at ?? '') - Date.now()) / 3_600_000;
    assert.ok(hours > 47 && hours < 49, `${hours} hours`);
    await computes().waitUntilSelected(/^Branch br-\S+, trial/);
  });

  it('are renamed', async () => {
    const id = await newBranch('old');
    await computes().contextMenu(`Branch ${id}, old, no computes`, 'Rename Branch…');
    await quickInput().answer(`Name of ${id}`, 'archive');
    await computes().waitFor(`Branch ${id}, archive, no computes`);
    assert.equal((await find('archive'))?.id, id);
  });

  it('say that they expire instead of being protected, and no longer expire after Change Expiry…', async () => {
    const { notifications } = opened().workbench;
    const expires_at = new Date(Date.now() + 86_400_000).toISOString().replace(/\.\d+/, '');
    const id = await newBranch('brief', { expires_at });
    await computes().contextMenu(new RegExp(`^Branch ${id}, brief, expires`), 'Protect Branch');
    await notifications.press(/brief expires on .*, so it can't be protected/, 'Change Expiry…');
    await quickInput().choose('Delete the branch automatically', 'Never');
    await computes().waitFor(`Branch ${id}, brief, no computes`);
    assert.equal((await find('brief'))?.expires_at, undefined);
    await notifications.clear();
  });

  it('are protected, and deleted only after their name is entered', async () => {
    const id = await newBranch('draft');
    const [plain, marked] = [
      `Branch ${id}, draft, no computes`,
      `Branch ${id}, draft, protected, no computes, production`,
    ];
    await computes().contextMenu(plain, 'Protect Branch');
    await computes().waitFor(marked);
    await computes().contextMenu(marked, 'Unprotect Branch…');
    await quickInput().answer('Remove the protection of draft?', 'draft');
    await computes().waitFor(plain);
    await computes().contextMenu(plain, 'Protect Branch');
    await computes().contextMenu(marked, 'Delete Branch…');
    assert.match(await quickInput().validationMessage('Delete draft?', 'drift'), /Enter “draft” to continue/);
    await quickInput().answer('Delete draft?', 'draft');
    await computes().waitUntilGone(/, draft/);
    assert.equal(await find('draft'), undefined);
  });

  it('are reset from their parent', async () => {
    const id = await newBranch('copy');
    await computes().contextMenu(`Branch ${id}, copy, no computes`, 'Reset from Parent…');
    const { message, detail } = await opened().workbench.dialog.read();
    assert.equal(message, 'Reset copy from main?');
    assert.match(detail, /connections are dropped/);
    await opened().workbench.dialog.press('Reset');
    await opened().workbench.statusBar.waitFor('Reset copy');
    await computes().waitFor(`Branch ${id}, copy, no computes`);
  });

  it('say why they cannot be deleted, instead of asking', async () => {
    const { notifications } = opened().workbench;
    await computes().contextMenu(main, 'Delete Branch…');
    const { message } = await notifications.waitFor(/main can't be deleted/);
    assert.match(message, /it is the default branch/);
    await notifications.clear();
    const parent = await newBranch('parent');
    await newBranch('child', { parent_id: parent });
    await computes().contextMenu(`Branch ${parent}, parent, no computes`, 'Delete Branch…');
    await notifications.waitFor(/parent can't be deleted because it has child branches, such as child/);
    await notifications.clear();
  });

  it('become the default branch', async () => {
    await computes().contextMenu(rewriteRow, 'Set as Default Branch');
    await opened().workbench.dialog.press('Set as Default');
    await computes().waitFor(`Branch ${rewriteBranch}, rewrite, default`);
    await until('it to be the first', async () => {
      const first = (await computes().rows()).find(({ label }) => label.startsWith('Branch'));
      return first?.label === `Branch ${rewriteBranch}, rewrite, default`;
    });
  });

  it('are deleted with their computes', async () => {
    const id = await newBranch('old feature', {}, { endpoints: [{ type: 'read_write' }] });
    await computes().contextMenu(`Branch ${id}, old feature`, 'Delete Branch…');
    assert.match((await opened().workbench.dialog.read()).detail, /Its data and computes \(1\) are deleted/);
    await opened().workbench.dialog.press('Delete');
    await computes().waitUntilGone(/, old feature/);
    assert.equal(await find('old feature'), undefined);
  });

  it('come and go with their project', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Create Project…');
    await quickInput().answer('Name of the new project', 'blog');
    await computes().waitFor('Project blog');
    await workbench.statusBar.waitFor('Created blog');
    await computes().expandProject('blog');
    await computes().waitFor(/^Branch br-\S+, main, default$/);
    await computes().contextMenu('Project blog', 'Delete Project…');
    await quickInput().answer('Delete blog?', 'blog');
    await computes().waitUntilGone('Project blog');
    assert.equal((await service.client.projectPages().next()).value?.items.length, 2);
  });
});
