/** Git branches with their own database branches, in a real repository. */
import assert from 'node:assert/strict';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { getVariable } from '../../../src/model/connection/dotEnv.ts';
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
  /** Looks more often than `until`, because the time is measured. */
  const untilChanged = async (before: string | undefined) => {
    while ((await url()) === before) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const create = () => ui().run('Create Branch for This Git Branch');
  /** @returns the new URL */
  const written = async (name: string, before?: string) => {
    const found = await until('a new URL', async () => {
      const now = await url();
      return now !== before && now;
    });
    await ui().notifications.waitFor(`.env points to ${name}`);
    return found;
  };

  before(async () => {
    repository = createRepository(ui().folder);
    await writeFile(path.join(repository.folder, '.gitignore'), '.env\n');
    repository.git('add', '.gitignore');
    repository.git('commit', '--quiet', '--message=Ignore .env');
    await connect(ui(), service());
  });
  afterEach(() => ui().notifications.clear());

  it('is created with a compute and written to .env, with one question about the project', async () => {
    repository.git('switch', '--quiet', '--create', 'feature/Log_in');
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
    repository.git('switch', '--quiet', '--create', 'feature/log-in');
    await create();
    await written('feature/log-in-', before);
  });

  it('is replaced by the previous one on Undo', async () => {
    const before = await url();
    repository.git('switch', '--quiet', '--create', 'undone');
    await create();
    await written('undone', before);
    await ui().notifications.press('.env points to undone', 'Undo');
    await until('the URL before', async () => (await url()) === before);
  });

  it('is the one that .neon has for the Git branch, and is written there', async () => {
    const { quickInput } = ui();
    const neonFile = path.join(repository.folder, '.neon');
    const context = { orgId: 'org-1', projectId: SHOP, branch: 'main' };
    const map = { 'by-cli': 'undone' };
    await writeFile(neonFile, JSON.stringify({ ...context, git: { map } }));
    const before = await url();
    repository.git('switch', '--quiet', '--create', 'by-cli');
    await create();
    await quickInput.choose('There is a database branch for by-cli', 'Use undone');
    await until('another URL', async () => (await url()) !== before);
    const read = async () => JSON.parse(await readFile(neonFile, 'utf8'));
    await until('.neon', async () => (await read()).branch === 'undone');
    assert.deepEqual(await read(), { ...context, branch: 'undone', git: { map } });
    await rm(neonFile);
    await ui().notifications.press('.env points to undone', 'Undo');
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
    repository.git('switch', '--quiet', '--create', 'canceled');
    await create();
    assert.match((await dialog.read()).message, /Git doesn't ignore \.env/);
    await dialog.press('Cancel');
    assert.equal((await branchNames()).includes('canceled'), false);
    await writeFile(path.join(repository.folder, '.gitignore'), '.env\n');
  });

  it('is what .env points to once that follows the Git branch, unless it is undone', async () => {
    const before = await url();
    repository.git('switch', '--quiet', 'feature/Log_in');
    await ui().run('Follow Git Branch');
    await ui().notifications.press('.env points to feature/log-in', 'Undo');
    await ui().statusBar.waitFor('(not switched)');
    assert.equal(await url(), before);
    repository.git('switch', '--quiet', 'feature/log-in');
    await ui().statusBar.waitUntilGone('(not switched)');
    assert.equal(await url(), before);
  });

  it('is followed from checkouts in a terminal, within 1.5 seconds', async () => {
    const urls = new Map<string, string | undefined>();
    const times: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const name = round % 2 === 0 ? 'feature/Log_in' : 'feature/log-in';
      const before = await url();
      const start = performance.now();
      repository.git('switch', '--quiet', name);
      await untilChanged(before);
      times.push(performance.now() - start);
      assert.equal(await url(), urls.get(name) ?? (await url()));
      urls.set(name, await url());
    }
    times.sort((one, other) => one - other);
    console.log(
      `      checkout to file: median ${times[9]?.toFixed()} ms, most ${times.at(-1)?.toFixed()} ms`,
    );
    assert.ok((times[9] ?? 0) < 1500);
    assert.equal(new Set(urls.values()).size, 2);
  });

  it('is asked for once, and stays as it is without an answer', async () => {
    const before = await url();
    repository.git('switch', '--quiet', '--create', 'asked');
    const { buttons } = await ui().notifications.waitFor('asked has no database branch yet');
    assert.deepEqual(buttons.toSorted(), ['Create Branch', 'Not for This One', 'Use main']);
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

  it('is no longer followed after Stop Following Git Branch', async () => {
    const before = await url();
    await ui().run('Stop Following Git Branch');
    await ui().statusBar.waitFor('.env stays as it is');
    repository.git('switch', '--quiet', 'feature/log-in');
    await ui().statusBar.click('Database branch feature/log-in');
    const { items } = await ui().quickInput.waitFor('.env points to feature/log-in');
    assert.ok(items.includes('Create Branch for feature/log-in'));
    await ui().quickInput.cancel('.env points to');
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
    await ui().openFolder(folder);
  });

  it('is shown after a reload without the service, with a menu', async () => {
    await service().stop();
    await ui().reload();
    await ui().statusBar.click('Database branch feature/log-in');
    const { items } = await ui().quickInput.waitFor('.env points to feature/log-in');
    assert.ok(items.some((item) => item.startsWith('Open .env')));
    await ui().quickInput.cancel('.env points to');
    await writeFile(file(), 'A=1\n');
    await ui().statusBar.waitUntilGone('Database branch feature/log-in');
  });
});
