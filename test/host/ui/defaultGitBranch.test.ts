/** The database branch of the default Git branch, for a user who begins on a feature. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { getVariable } from '../../../src/extension/envFile/dotEnv.ts';
import { createRepository, type GitRepository } from '../../helpers/gitRepository.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('The database branch of the default Git branch', () => {
  // The window is separate, because no branch is offered after a command has run, and another suite expects the offer.
  const ui = useWorkbench({ isPackaged: false });
  const service = useService({ postgres: true, args: [] });
  const file = () => path.join(ui().folder, '.env');
  const url = async () => getVariable(await readFile(file(), 'utf8').catch(() => ''), 'DATABASE_URL');

  let repository: GitRepository;

  before(async () => {
    repository = createRepository(ui().folder);
    await writeFile(path.join(ui().folder, '.gitignore'), '.env\n');
    await connect(ui(), service(), 'shop');
  });

  it('is offered by an item in the status bar, until .env has a database branch', async () => {
    await ui().statusBar.click('No database branch');
    await ui().quickInput.choose(
      '.env points to no known database branch',
      'Use Database Branch main (shop)',
    );
    await ui().notifications.press('.env points to main', 'Undo');
    await until('.env without a URL', async () => (await url()) === undefined);
    await ui().statusBar.waitFor('No database branch');
  });

  it('is the one that .env had before a feature got its own', async () => {
    repository.git('switch', '--quiet', '--create', 'feature');
    await ui().run('Write DATABASE_URL to .env');
    await ui().quickInput.choose('Select a compute', 'primary');
    await ui().notifications.waitFor('Wrote DATABASE_URL of main (shop) to .env');
    const before = await url();
    await ui().run('Create Branch for This Git Branch');
    await ui().notifications.waitFor('.env points to feature');
    assert.notEqual(await url(), before);
    await ui().run('Follow Git Branch');
    await ui().statusBar.waitFor('.env follows the Git branch');
    repository.git('switch', '--quiet', 'main');
    await until('the URL of main', async () => (await url()) === before);
    await ui().statusBar.waitFor(/^main\nDatabase branch main$/);
  });
});
