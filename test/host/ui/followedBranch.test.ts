/** The notices and questions while the env file follows the Git branch. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { getVariable } from '../../../src/model/connection/dotEnv.ts';
import { createRepository, type GitRepository } from '../../helpers/gitRepository.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('An env file that follows the Git branch', () => {
  const ui = useWorkbench();
  const service = useService({ postgres: true, args: [] });
  let repository: GitRepository;
  const urlIn = async (folder: string) => {
    const text = await readFile(path.join(folder, '.env'), 'utf8').catch(() => '');
    return getVariable(text, 'DATABASE_URL');
  };
  const runs = () => path.join(ui().folder, '..', 'runs');
  const newBranch = (name: string) => repository.git('switch', '--quiet', '--create', name);
  const choose = async (name: string) => {
    await ui().run('Choose Branch for This Git Branch…');
    await ui().quickInput.choose('Select a project', 'shop');
    await ui().quickInput.type('Select a branch', name);
    await until(`only ${name}`, async () => (await ui().quickInput.read())?.items.length === 1);
    await ui().quickInput.accept('Select a branch');
    await ui().notifications.waitFor(`.env points to ${name}`);
    await ui().notifications.clear();
  };

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
    await connect(ui(), service());
  });
  afterEach(() => ui().notifications.clear());

  it('points to the branch that the user chose for the Git branch', async () => {
    newBranch('one');
    await choose('checkout-rewrite');
    newBranch('two');
    await choose('main');
    const [one, two] = ['one', 'two'].map((name) =>
      repository.git('config', `branch.${name}.hostedPostgres`).trim(),
    );
    assert.notEqual(one, two);
    await ui().run('Follow Git Branch');
    await ui().statusBar.waitFor('.env follows the Git branch');
  });

  it('keeps its old URL in a running task, which the notice restarts', async () => {
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
    repository.git('switch', '--quiet', 'one');
    const notice = '.env points to checkout-rewrite. Running terminals and debug sessions keep the old';
    const { buttons } = await ui().notifications.waitFor(notice);
    assert.deepEqual(buttons.toSorted(), ['Restart', 'Undo']);
    await ui().notifications.press(notice, 'Restart');
    await until('the restarted task', async () => (await countRuns()) === 2);
    await ui().runCommand('Terminal: Kill All Terminals');
    await ui().page.locator('.part.panel').waitFor({ state: 'hidden' });
  });

  it('points to the parent of new branches if the user answers so', async () => {
    const before = await urlIn(ui().folder);
    newBranch('three');
    await ui().notifications.press('three has no database branch yet', 'Use main');
    await ui().notifications.waitFor('.env points to main');
    assert.notEqual(await urlIn(ui().folder), before);
    await ui().statusBar.waitFor(/^main\nDatabase branch main$/);
  });

  it('is shown as a warning, in color, icon and words, while it points to production', async () => {
    const mark = async (label: string) => {
      await ui().run('Mark Project…');
      await ui().quickInput.choose('Select a project', 'shop');
      await ui().quickInput.choose('Select how to protect shop', label);
    };
    await mark('Production');
    const { id } = await ui().statusBar.waitFor('Database branch main. This is production.');
    const item = ui().page.locator(`[id="${id}"]`);
    assert.match((await item.getAttribute('class')) ?? '', /warning-kind/);
    await item.locator('.codicon-warning').waitFor();
    assert.match(await ui().statusBar.tooltip('Database branch main'), /This is production\./);
    await mark('No mark');
    await ui().statusBar.waitFor(/^main\nDatabase branch main$/);
    assert.doesNotMatch((await item.getAttribute('class')) ?? '', /warning-kind/);
  });

  it('is offered to a linked worktree that has none', async () => {
    const linked = path.join(ui().folder, '..', 'fresh');
    repository.git('worktree', 'add', '--quiet', '-b', 'fresh', linked);
    // Otherwise the Git branch would be asked about.
    repository.git('config', 'hostedPostgres.follow', 'false');
    await ui().openFolder(linked);
    const question = 'The worktree of fresh has no connection string yet';
    const { buttons } = await ui().notifications.waitFor(question);
    assert.ok(buttons.includes('Create Branch'));
    await ui().notifications.press(question, 'Not for This One');
    const chosen = () => repository.git('config', '--default=', 'branch.fresh.hostedPostgres').trim();
    await until('the answer', async () => chosen() === 'none');
    assert.equal(await urlIn(linked), undefined);
    await ui().openFolder(ui().folder);
  });
});
