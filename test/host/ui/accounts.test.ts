import assert from 'node:assert/strict';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { shopAccount } from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('several accounts', () => {
  const opened = useWorkbench();
  const quickInput = () => opened().workbench.quickInput;
  const computes = () => opened().workbench.tree('Computes');
  let sample: LocalService;
  let small: LocalService;
  let second: string;

  before(async () => {
    [sample, small] = await Promise.all([
      startLocalService({ postgres: false }),
      startLocalService({ postgres: false, args: shopAccount(temporaryFolder()) }),
    ]);
    second = (await small.client.createApiKey('second')).key;
  });
  after(async () => {
    await sample.stop();
    await small.stop();
  });

  const label = ({ baseUrl }: LocalService) => baseUrl.replace('http://', '');

  const accountsShown = () =>
    until('the accounts', async () => {
      const { items } = await quickInput().waitFor('Select an account');
      return items.length > 0 && items;
    });

  it('can be added, each with its own projects', async () => {
    await connect(opened().workbench, sample);
    await computes().waitFor('Project playground');
    await connect(opened().workbench, small);
    await computes().waitUntilGone('Project playground');
    await computes().waitFor('Project shop');
  });

  it('can share an address and differ by name', async () => {
    await opened().workbench.runCommand('Hosted Postgres: Connect…');
    await quickInput().answer('Select a service', small.baseUrl);
    await quickInput().choose('Select an account', 'Add another account…');
    await quickInput().answer('Name of the account', 'second');
    await quickInput().answer('API key for', second);
    await opened().workbench.statusBar.waitFor('Connected to second');
    await opened().workbench.runCommand('Hosted Postgres: Switch Account…');
    assert.deepEqual(await accountsShown(), [
      label(sample),
      label(small),
      `second (${label(small)}) connected`,
      'Connect to another account…',
    ]);
    await quickInput().cancel('Select an account');
  });

  it('can be switched without entering the key again', async () => {
    await opened().workbench.runCommand('Hosted Postgres: Switch Account…');
    const shown = () => opened().workbench.viewDescription('Computes');
    assert.equal(await shown(), `second (${label(small)})`);
    await quickInput().choose('Select an account', label(sample));
    await computes().waitFor('Project playground');
    assert.equal(await shown(), label(sample));
  });

  it('can be removed while another one stays connected', async () => {
    await opened().workbench.runCommand('Hosted Postgres: Remove Account…');
    await quickInput().choose('Select an account to remove', `second (${label(small)})`);
    const { message, detail } = await opened().workbench.dialog.read();
    assert.match(message, /^Remove second \(/);
    assert.match(detail, /API key is removed from this machine but stays valid/);
    await opened().workbench.dialog.press('Remove');
    const left = [`${label(sample)} connected`, label(small), 'Connect to another account…'];
    await opened().workbench.statusBar.waitFor(`Removed second (${label(small)})`);
    await opened().workbench.runCommand('Hosted Postgres: Switch Account…');
    assert.deepEqual(await accountsShown(), left);
    await quickInput().cancel('Select an account');
    await computes().waitFor('Project playground');
  });

  it('show the welcome view after the connected one is removed', async () => {
    await opened().workbench.runCommand('Hosted Postgres: Remove Account…');
    await quickInput().choose('Select an account to remove', label(sample));
    await opened().workbench.dialog.press('Remove');
    assert.match(await opened().workbench.welcomeText('Computes'), /Connect…/);
    assert.equal(await opened().workbench.viewDescription('Computes'), '');
  });
});
