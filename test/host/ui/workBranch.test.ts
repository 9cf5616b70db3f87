/** Git branches with their own database branches, in a real repository. */
import assert from 'node:assert/strict';
import { appendFile, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { getVariable } from '../../../src/extension/envFile/dotEnv.ts';
import { createRepository, type GitRepository } from '../../helpers/gitRepository.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const SHOP = 'shiny-wind-028834';

describe('The database branch of a Git branch', () => {
  const ui = useWorkbench();
  const service = useService({ postgres: true, args: [] });
  let repository: GitRepository;
  const file = () => path.join(ui().folder, '.env');
  const url = async () => getVariable(await readFile(file(), 'utf8').catch(() => ''), 'DATABASE_URL');
  const branchNames = async () => {
    const changed = await service().client.branches.listIfChanged(SHOP, undefined);
    return changed?.list.items.map(({ name }) => name) ?? [];
  };
  const newBranch = (name: string) => repository.git('switch', '--quiet', '--create', name);
  const create = () => ui().run('Create Branch for This Git Branch');
  /** @returns the new URL */
  const changed = (before?: string) =>
    until('a new URL', async () => {
      const now = await url();
      return now !== before && now;
    });
  const written = async (name: string, before?: string) => {
    const found = await changed(before);
    await ui().notifications.waitFor(`.env points to ${name}`);
    return found;
  };
  const runs = () => path.join(ui().folder, '..', 'runs');

  before(async () => {
    repository = createRepository(ui().folder);
    await writeFile(path.join(repository.folder, '.gitignore'), '.env\n');
    const command = `echo run >> ${runs()}; sleep 600`;
    const dev = { label: 'dev', type: 'shell', command, problemMatcher: [] };
    await mkdir(path.join(repository.folder, '.vscode'));
    const tasks = path.join(repository.folder, '.vscode', 'tasks.json');
    await writeFile(tasks, JSON.stringify({ version: '2.0.0', tasks: [dev] }));
    repository.git('add', '.');
    repository.git('commit', '--quiet', '--message=Start');
    await connect(ui(), service(), 'shop');
  });
  afterEach(() => ui().notifications.clear());

  it('is offered once to a repository that uses none', async () => {
    newBranch('feature/first');
    const { buttons } = await ui().notifications.waitFor(
      'Create a database branch for feature/first, and write',
    );
    assert.deepEqual(buttons.toSorted(), ['Not in This Repository', 'Yes']);
    await ui().notifications.press('Create a database branch for feature/first', 'Not in This Repository');
    assert.equal(await url(), undefined);
  });

  it('is created with a compute and written to .env, with one question about the project', async () => {
    newBranch('feature/Log_in');
    await create();
    await ui().quickInput.choose('Select a project', 'shop');
    const connectionString = await written('feature/log-in');
    const client = new pg.Client({ connectionString });
    await client.connect();
    await client.end();
    await ui().statusBar.waitFor('feature/log-in');
    assert.ok((await branchNames()).includes('feature/log-in'));
    assert.match(repository.git('config', 'branch.feature/Log_in.hostedPostgres'), / shiny-wind-028834 br-/);
  });

  it('is offered when it exists, also to another Git branch with that name', async () => {
    const { quickInput } = ui();
    const before = await url();
    await create();
    const { items } = await quickInput.waitFor('There is a database branch for feature/Log_in');
    assert.match(
      items.join('\n'),
      /^Use feature\/log-in.*\nCreate feature\/log-in-[0-9a-f]{4} another branch$/,
    );
    await quickInput.cancel('There is a database branch');
    newBranch('feature/log-in');
    await create();
    await written('feature/log-in-', before);
  });

  it('is the one that .neon has for the Git branch, is written there, and can be undone', async () => {
    const { quickInput } = ui();
    const neonFile = path.join(repository.folder, '.neon');
    const context = { orgId: 'org-1', projectId: SHOP, branch: 'main' };
    const map = { 'by-cli': 'feature/log-in' };
    await writeFile(neonFile, JSON.stringify({ ...context, git: { map } }));
    const before = await url();
    newBranch('by-cli');
    await create();
    await quickInput.choose('There is a database branch for by-cli', 'Use feature/log-in');
    await changed(before);
    const read = async () => JSON.parse(await readFile(neonFile, 'utf8'));
    await until('.neon', async () => (await read()).branch === 'feature/log-in');
    assert.deepEqual(await read(), { ...context, branch: 'feature/log-in', git: { map } });
    await rm(neonFile);
    await ui().notifications.press('.env points to feature/log-in', 'Undo');
    await until('the URL before', async () => (await url()) === before);
  });

  it('is offered in the Branch menu of the Source Control view', async () => {
    const { page } = ui();
    await ui().openView('Source Control');
    const header = page.locator('.part.sidebar .pane-header').first();
    await header.hover();
    await header.getByRole('button', { name: /More Actions/ }).click();
    const items = page.locator('.monaco-menu .action-item');
    await items.filter({ has: page.getByText('Branch', { exact: true }) }).hover();
    await items.getByText('Create Branch for This Git Branch').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await items.first().waitFor({ state: 'hidden' });
    await ui().openView('Hosted Postgres');
  });

  it('leaves nothing behind if the question about the file is canceled', async () => {
    const { dialog } = ui();
    await writeFile(path.join(repository.folder, '.gitignore'), '');
    newBranch('canceled');
    await create();
    assert.match((await dialog.read()).message, /Git doesn't ignore \.env/);
    await dialog.press('Cancel');
    assert.equal((await branchNames()).includes('canceled'), false);
    await writeFile(path.join(repository.folder, '.gitignore'), '.env\n');
  });

  it('is the one that the user chooses', async () => {
    const before = await url();
    newBranch('chosen');
    await ui().run('Choose Branch for This Git Branch…');
    await ui().quickInput.choose('Select a project', 'shop');
    await ui().quickInput.type('Select a branch', 'checkout-rewrite');
    await until('the branch', async () => (await ui().quickInput.read())?.items.length === 1);
    await ui().quickInput.accept('Select a branch');
    await written('checkout-rewrite', before);
    assert.match(repository.git('config', 'branch.chosen.hostedPostgres'), / br-/);
  });

  it('is what .env points to once that follows the Git branch, unless it is undone', async () => {
    const before = await url();
    repository.git('switch', '--quiet', 'feature/Log_in');
    await ui().run('Follow Git Branch');
    await ui().notifications.press('.env points to feature/log-in', 'Undo');
    await ui().statusBar.waitFor('(not switched)');
    assert.equal(await url(), before);
    // Follows too, and keeps its form.
    await appendFile(file(), `DIRECT_URL="${before}?schema=a\\n" # why\n`);
    repository.git('switch', '--quiet', 'feature/log-in');
    await changed(before);
    const lines = (await readFile(file(), 'utf8')).split('\n');
    assert.ok(lines.includes(`DIRECT_URL="${await url()}?schema=a\\n" # why`), lines.join('\n'));
    await ui().statusBar.waitUntilGone('(not switched)');
  });

  it('stays the old one in a running task, which the notice restarts', async () => {
    const countRuns = async () => (await readFile(runs(), 'utf8').catch(() => '')).split('\n').length - 1;
    const select = 'Select the task to run';
    // VS Code may not have read the new tasks.json yet.
    await until('the task to be listed', async () => {
      await ui().runCommand('Tasks: Run Task');
      const items = await until('the tasks', async () => (await ui().quickInput.waitFor(select)).items);
      if (items.includes('dev')) return true;
      await ui().quickInput.cancel(select);
      return false;
    });
    await ui().quickInput.choose(select, 'dev');
    await until('the task', async () => (await countRuns()) === 1);
    repository.git('switch', '--quiet', 'feature/Log_in');
    const notice = '.env points to feature/log-in (shop). Running terminals and debug sessions keep the old';
    const { buttons } = await ui().notifications.waitFor(notice);
    assert.deepEqual(buttons.toSorted(), ['Restart', 'Undo']);
    await ui().notifications.press(notice, 'Restart');
    await until('the restarted task', async () => (await countRuns()) === 2);
    await ui().runCommand('Terminal: Kill All Terminals');
    await ui().page.locator('.part.panel').waitFor({ state: 'hidden' });
  });

  it('is the parent of new branches if the user answers so', async () => {
    const before = await url();
    newBranch('on-main');
    await ui().notifications.press('on-main has no database branch yet', 'Use main (shop)');
    await written('main', before);
    await ui().statusBar.waitFor(/^main\nDatabase branch main$/);
  });

  it('is shown as a warning, in color, icon and words, while it is production', async () => {
    const mark = async (label: string) => {
      await ui().run('Protect Project: Production…');
      await ui().quickInput.choose('Select a project', 'shop');
      await ui().quickInput.choose('Select how to protect shop', label);
    };
    await mark('Production');
    const { id } = await ui().statusBar.waitFor('Database branch main. This is production.');
    const item = ui().page.locator(`[id="${id}"]`);
    assert.match((await item.getAttribute('class')) ?? '', /warning-kind/);
    await item.locator('.codicon-warning').waitFor();
    await ui().statusBar.waitForTooltip('Database branch main', /This is production\./);
    await mark('No protection');
    await ui().statusBar.waitFor(/^main\nDatabase branch main$/);
    assert.doesNotMatch((await item.getAttribute('class')) ?? '', /warning-kind/);
  });

  it('is asked for once, and stays as it is without an answer', async () => {
    const before = await url();
    newBranch('asked');
    const { buttons } = await ui().notifications.waitFor('asked has no database branch yet');
    assert.deepEqual(buttons.toSorted(), ['Create Branch', 'Not for This One', 'Use main (shop)']);
    await ui().statusBar.waitFor('(not switched)');
    assert.equal(await url(), before);
    await ui().notifications.press('asked has no database branch yet', 'Create Branch');
    await written('asked', before);
  });

  it('stays as it is on a detached HEAD, and if its value is unknown', async () => {
    const before = await url();
    repository.git('switch', '--quiet', '--detach', 'main');
    await ui().statusBar.waitFor('asked (paused: no Git branch)');
    repository.git('switch', '--quiet', 'asked');
    await ui().statusBar.waitUntilGone('(paused');
    await writeFile(file(), 'DATABASE_URL=postgresql://me:secret@other.example.com/app\n');
    repository.git('switch', '--quiet', 'feature/Log_in');
    await ui().statusBar.waitFor('unknown database (not switched)');
    assert.match((await url()) ?? '', /other\.example\.com/);
    await writeFile(file(), `DATABASE_URL=${before}\n`);
    await ui().statusBar.waitFor(/^feature\/log-in\nDatabase branch/);
  });

  it('is asked for on the default Git branch while that has the one of another Git branch', async () => {
    const before = await url();
    repository.git('switch', '--quiet', 'main');
    await ui().notifications.press('main has no database branch yet', 'Use main (shop)');
    await written('main', before);
    repository.git('switch', '--quiet', 'feature/Log_in');
    await until('the URL before', async () => (await url()) === before);
    repository.git('switch', '--quiet', 'main');
    await changed(before);
    repository.git('switch', '--quiet', 'feature/Log_in');
    await until('the URL before', async () => (await url()) === before);
  });

  it('is no longer followed after Stop Following Git Branch', async () => {
    const before = await url();
    await ui().run('Stop Following Git Branch');
    await ui().statusBar.waitFor('.env stays as it is');
    repository.git('switch', '--quiet', 'feature/log-in');
    await ui().statusBar.click('Database branch feature/log-in');
    const prompt = 'feature/log-in is checked out, but .env still points to feature/log-in';
    const { items } = await ui().quickInput.waitFor(prompt);
    assert.deepEqual(items.slice(0, 8), [
      'Open psql',
      'Open .env',
      'Compare Schema with main',
      'Compare Schema with…',
      'Undo…',
      'Rehearse Migration…',
      'Follow Git Branch',
      'Create Branch for feature/log-in',
    ]);
    await ui().quickInput.choose(prompt, 'Compare Schema with main');
    const tab = ui().page.locator('.tabs-container .tab.active[aria-label^="app: main ↔ feature/log-in"]');
    await tab.waitFor();
    assert.equal(await url(), before);
  });

  it('is offered to a linked worktree with a copied file', async () => {
    const { folder } = ui();
    const linked = path.join(folder, '..', 'linked');
    repository.git('worktree', 'add', '--quiet', '-b', 'linked', linked);
    await copyFile(file(), path.join(linked, '.env'));
    const before = await url();
    await ui().openFolder(linked);
    const question = 'The worktree of linked uses the database branch of another worktree';
    await ui().statusBar.waitFor('The worktree folder uses it, too');
    await ui().notifications.press(question, 'Create Branch');
    await ui().notifications.waitFor('.env points to linked');
    assert.equal(await url(), before);
    assert.notEqual(await readFile(path.join(linked, '.env'), 'utf8'), await readFile(file(), 'utf8'));
  });

  it('is shown without the service once the folder is opened again, with a menu', async () => {
    await service().stop();
    await ui().openFolder(ui().folder);
    await ui().statusBar.click('Database branch feature/log-in');
    const { items } = await ui().quickInput.waitFor('.env still points to feature/log-in');
    assert.ok(items.some((item) => item.startsWith('Open .env')));
    await ui().quickInput.cancel('.env still points to');
    await writeFile(file(), 'A=1\n');
    await ui().statusBar.waitUntilGone('Database branch feature/log-in');
  });
});
