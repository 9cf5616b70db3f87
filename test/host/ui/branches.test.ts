import assert from 'node:assert/strict';
import { branchCalls, type Api } from '../../helpers/branchCalls.ts';
import { emptyBranch, mainBranch, rewriteBranch, shop } from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const [main, rewriteRow] = [`Branch main, default, ${mainBranch}`, `Branch rewrite, ${rewriteBranch}`];

describe('Branches', () => {
  const ui = useWorkbench();
  const service = useService();
  let api: Api;

  before(async () => {
    api = branchCalls(service());
    await connect(ui(), service(), 'shop');
  });

  const find = async (name: string) => (await api.branches(shop)).find((branch) => branch.name === name);
  /** Creates a branch as another client does. Each test that changes a branch has one. @returns its id, once it is in the tree */
  const newBranch = async (name: string, fields: object = {}): Promise<string> => {
    const branch = { name, parent_id: mainBranch, ...fields };
    const { id } = (await api.change('POST', `/${shop}/branches`, { branch })).branch;
    await ui().computes.waitFor(new RegExp(`^Branch ${name}, .*${id}$`));
    return id;
  };

  it('have their name before their id, in pickers too, unless the user wants ids first', async () => {
    await ui().computes.waitFor(main);
    // Otherwise the command asks for the project first.
    await ui().computes.click(/^Compute primary/);
    await ui().run('Rename Branch…');
    await until('the branches by name', async () =>
      (await ui().quickInput.waitFor('Select a branch')).items.some((item) => item.startsWith('rewrite br-')),
    );
    await ui().quickInput.cancel('Select a branch');
    await ui().viewAction('Computes', 'Show Ids First');
    await ui().computes.waitFor(`Branch ${mainBranch}, main, default`);
    await ui().viewAction('Computes', 'Show Names First');
    await ui().computes.waitFor(main);
    assert.deepEqual(await ui().notifications.all(), []);
  });

  it('are shown after a reload if their project was expanded', async () => {
    await ui().reload();
    await ui().openView('Hosted Postgres');
    await ui().computes.waitFor(main);
  });

  it('are found by words of their project and their name, also if they have no compute', async () => {
    await ui().run('Find Compute…');
    await ui().quickInput.type('Search by name', 'shop empty');
    await ui().quickInput.waitForItems('Search by name', 1);
    await ui().quickInput.accept('Search by name');
    await ui().computes.waitUntilSelected(new RegExp(`^Branch empty, .*${emptyBranch}$`));
  });

  it('are created by the button in the title, which asks what to create', async () => {
    await ui().viewAction('Computes', 'Create…');
    await ui().quickInput.choose('Select what to create', 'Branch');
    await ui().quickInput.waitFor('Name of the new branch');
    await ui().quickInput.cancel('Name of the new branch');
  });

  it('show in their menu which keys rename, delete and copy', async () => {
    await ui().computes.expandProject('shop');
    const branch = await ui().computes.contextMenuKeys(main);
    const project = await ui().computes.contextMenuKeys('Project shop');
    assert.deepEqual(
      [branch['Delete Branch…'], project['Rename Project…'], project['Delete Project…'], project['Copy Id']],
      ['Del', 'F2', 'Del', 'Ctrl+C'],
    );
    // There, the key copies the id.
    assert.equal(branch['Copy Host'], '');
  });

  it('are created without a compute and with an expiry from the palette', async () => {
    await ui().computes.click('Project shop');
    await ui().run('Create Branch…');
    assert.match(
      await ui().quickInput.validationMessage('Name of the new branch', 'rewrite'),
      /has this name/,
    );
    await ui().quickInput.answer('Create Branch', 'trial');
    await ui().quickInput.choose('Select the parent', 'rewrite');
    await ui().quickInput.choose('Select whether the branch gets a compute', 'Without a compute');
    await ui().quickInput.answer('Select or type when the branch is deleted', '2 days');
    await ui().computes.waitFor(/^Branch trial, expires (in 2 days|tomorrow), no computes, br-\S+$/);
    const created = await find('trial');
    assert.equal(created?.parent_id, rewriteBranch);
    const hours = (Date.parse(created?.expires_at ?? '') - Date.now()) / 3_600_000;
    assert.ok(hours > 47 && hours < 49, `${hours} hours`);
    await ui().computes.waitUntilSelected(/^Branch trial, /);
  });

  it('are renamed', async () => {
    const id = await newBranch('old');
    await ui().computes.contextMenu(`Branch old, no computes, ${id}`, 'More', 'Rename Branch…');
    await ui().quickInput.answer('New name of old (shop)', 'archive');
    await ui().computes.waitFor(`Branch archive, no computes, ${id}`);
    assert.equal((await find('archive'))?.id, id);
  });

  it('cannot be protected while they expire, which Change Expiry… can remove', async () => {
    const expires_at = new Date(Date.now() + 86_400_000).toISOString().replace(/\.\d+/, '');
    const id = await newBranch('brief', { expires_at });
    await ui().computes.contextMenu(new RegExp(`^Branch brief, expires .*${id}$`), 'More', 'Protect Branch');
    await ui().notifications.press(/brief expires on .*, so it can't be protected/, 'Change Expiry…');
    await ui().quickInput.choose('Select or type when the branch is deleted', 'Never');
    await ui().computes.waitFor(`Branch brief, no computes, ${id}`);
    assert.equal((await find('brief'))?.expires_at, undefined);
    await ui().notifications.clear();
  });

  it('are protected, and deleted only after their name is entered', async () => {
    const id = await newBranch('draft');
    const [plain, marked] = [
      `Branch draft, no computes, ${id}`,
      `Branch draft, protected, no computes, ${id}, production`,
    ];
    await ui().computes.contextMenu(plain, 'More', 'Protect Branch');
    await ui().computes.waitFor(marked);
    await ui().computes.contextMenu(marked, 'More', 'Unprotect Branch…');
    await ui().quickInput.answer('Remove the protection of draft (shop)?', 'draft');
    await ui().computes.waitFor(plain);
    await ui().computes.contextMenu(plain, 'More', 'Protect Branch');
    await ui().computes.contextMenu(marked, 'Delete Branch…');
    assert.match(
      await ui().quickInput.validationMessage('Delete draft (shop)?', 'drift'),
      /Enter “draft” to continue/,
    );
    await ui().quickInput.answer('Delete draft (shop)?', 'draft');
    await ui().computes.waitUntilGone(/^Branch draft,/);
    assert.equal(await find('draft'), undefined);
  });

  it('are reset from their parent, but not by Enter alone, which says so', async () => {
    const id = await newBranch('copy');
    const ask = async () => {
      await ui().computes.contextMenu(`Branch copy, no computes, ${id}`, 'More', 'Reset from Parent…');
      const { message, detail } = await ui().dialog.read();
      assert.equal(message, 'Reset copy (shop) from main?');
      assert.match(detail, /connections are dropped/);
    };
    await ask();
    await ui().page.locator('.monaco-dialog-box .monaco-button:focus').getByText('Keep As It Is').waitFor();
    await ui().page.keyboard.press('Enter');
    await ui().statusBar.waitFor('Nothing was changed');
    await ask();
    await ui().dialog.press('Reset');
    await ui().statusBar.waitFor('Reset copy');
    await ui().computes.waitFor(`Branch copy, no computes, ${id}`);
  });

  it('say why they cannot be deleted, instead of asking', async () => {
    await ui().computes.contextMenu(main, 'Delete Branch…');
    const { message } = await ui().notifications.waitFor(/main \(shop\) can't be deleted/);
    assert.match(message, /it is the default branch/);
    await ui().notifications.clear();
    const parent = await newBranch('parent');
    await newBranch('child', { parent_id: parent });
    await ui().computes.contextMenu(`Branch parent, no computes, ${parent}`, 'Delete Branch…');
    await ui().notifications.waitFor(
      /parent \(shop\) can't be deleted because it has child branches, such as child/,
    );
    await ui().notifications.clear();
  });

  it('become the default branch', async () => {
    await ui().computes.contextMenu(rewriteRow, 'More', 'Set as Default Branch…');
    await ui().dialog.press('Set as Default');
    await ui().computes.waitFor(`Branch rewrite, default, ${rewriteBranch}`);
    await until('it to be the first', async () => {
      const first = (await ui().computes.labels()).find((label) => label.startsWith('Branch'));
      return first === `Branch rewrite, default, ${rewriteBranch}`;
    });
  });

  /** Turns on logical replication, which stays on. */
  async function replicate(name: string): Promise<void> {
    const turnOn = async () => {
      await ui().run('Turn On Logical Replication…');
      await ui().quickInput.choose('Select a project', name);
    };
    await turnOn();
    const { message, detail } = await ui().dialog.read();
    assert.equal(message, `Turn on logical replication of ${name}?`);
    assert.match(detail, /^It can't be turned off again\. Active computes of the project are restarted/);
    await ui().dialog.press('Turn On');
    await ui().statusBar.waitFor(`Changed ${name}`);
    const { items } = (await service().client.projectPages().next()).value ?? { items: [] };
    const project = items.find((each) => each.name === name);
    assert.deepEqual(project?.settings, { enable_logical_replication: true });
    await turnOn();
    await ui().notifications.waitFor(`Logical replication of ${name} is on, and can't be turned off.`);
    await ui().notifications.clear();
  }

  it('come and go with their project', async () => {
    await ui().run('Create Project…');
    await ui().quickInput.answer('Name of the new project', 'blog');
    await ui().computes.waitFor('Project blog');
    await ui().statusBar.waitFor('Created blog');
    await ui().computes.expandProject('blog');
    await ui().computes.waitFor(/^Branch main, default, br-\S+$/);
    await replicate('blog');
    await ui().computes.contextMenu('Project blog', 'Delete Project…');
    await ui().quickInput.answer('Delete the project blog?', 'blog');
    await ui().computes.waitUntilGone('Project blog');
    assert.equal((await service().client.projectPages().next()).value?.items.length, 2);
    await ui().notifications.press('Deleted blog. It can be recovered until', 'Undo');
    await ui().computes.waitUntilSelected('Project blog');
    await ui().computes.expandProject('blog');
    await ui().computes.contextMenu('Project blog', 'Delete Project…');
    await ui().quickInput.answer('Delete the project blog?', 'blog');
    await ui().notifications.waitFor('Deleted blog.');
    await ui().notifications.clear();
    await ui().run('Recover a Deleted Project…');
    await ui().quickInput.choose('Select a project', 'blog');
    await ui().statusBar.waitFor('Recovered blog');
    await ui().computes.waitFor('Project blog');
  });
});

describe('A service with only the calls of the specification', () => {
  const ui = useWorkbench();
  const service = useService({ proxy: { onlySpecified: true } });

  before(() => connect(ui(), service()));

  it('has no commands that need more, once the first project is expanded', async () => {
    for (const title of ['Create Branch…', 'Create Project…'])
      await until(`the palette without ${title}`, async () => !(await ui().isOffered(title)));
    await ui().computes.expand('Project shop');
    // VS Code redraws rows with a delay.
    await until('the menu of the project without branches', async () => {
      const items = (await ui().computes.contextMenuItems('Project shop')).join();
      return items.includes('Create Compute…') && !/Branch|Delete Project/.test(items);
    });
    const branchRow = `Branch ${mainBranch}`;
    const items = await ui().computes.contextMenuItems(branchRow);
    assert.ok(items.includes('Copy Host') && !/Branch|Schema|History/.test(items.join()), items.join());
    const more = await ui().computes.contextMenuItems(branchRow, 'More');
    assert.deepEqual(more, ['Create Compute…', 'Copy Id', 'Show Details']);
  });

  it('receives one request for branches, and those with computes are shown by id', async () => {
    await ui().computes.expand('Project shop');
    await ui().computes.waitFor(/^Compute primary,/);
    const labels = (await ui().computes.labels()).filter((label) => label.startsWith('Branch'));
    assert.deepEqual(labels, [`Branch ${mainBranch}`, `Branch ${rewriteBranch}`]);
    await ui().computes.expand('Project analytics');
    await ui().computes.waitFor(/^Compute dashboards,/);
    assert.equal(service().proxy.count('GET', /\/branches$/), 1);
    assert.deepEqual(await ui().notifications.all(), []);
  });

  it('takes branch ids that are entered, and says which are not valid', async () => {
    await ui().run('Create Compute…');
    await ui().quickInput.choose('Select a project', 'shop');
    await ui().quickInput.type('Select a branch', 'main');
    await until('the typed id', async () => {
      const { items } = await ui().quickInput.waitFor('Select a branch');
      return items.join().includes('not a branch id');
    });
    await ui().quickInput.answer('Select a branch', emptyBranch);
    await ui().quickInput.choose('Select the type', 'Primary');
    await ui().quickInput.choose('Select a fixed size', '0.25 CU');
    await ui().quickInput.accept('Suspend after inactivity');
    await ui().computes.waitFor(`Branch ${emptyBranch}`);
    const { items } = await service().client.listComputes(shop);
    const created = items.find(({ branch_id }) => branch_id === emptyBranch);
    // The command ends by revealing the branch.
    await ui().computes.waitUntilSelected(new RegExp(`^Compute .*${created?.id}$`));
  });
});
