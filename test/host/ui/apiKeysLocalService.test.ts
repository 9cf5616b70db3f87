import assert from 'node:assert/strict';
import { useWorkbench } from './useWorkbench.ts';

describe('the API key of the local service', () => {
  const opened = useWorkbench();
  const computes = () => opened().workbench.tree('Computes');
  const keys = () => opened().workbench.tree('API Keys');

  before(async () => {
    await opened().workbench.openView('Hosted Postgres');
    await opened().workbench.runCommand('Hosted Postgres: Start Local Service');
    await computes().waitFor('Project shop');
    await opened().workbench.page.locator('.pane-header[aria-label="API Keys Section"]').click();
  });

  it('is rotated, and the next window uses the new one', async () => {
    await opened().workbench.runCommand('Hosted Postgres: Rotate API Key…');
    const { items } = await opened().workbench.quickInput.waitFor('Which key does this window use');
    assert.match(items[0] ?? '', /used just now/);
    await opened().workbench.quickInput.accept('Which key');
    await opened().workbench.quickInput.answer('Name of the new key', 'this machine');
    await opened().workbench.dialog.press('Rotate');
    await keys().waitFor(/^API key this machine, this window, /);
    await opened().workbench.reload();
    await opened().workbench.openView('Hosted Postgres');
    await computes().waitFor('Project shop');
    await opened().workbench.runCommand('Hosted Postgres: Start Local Service');
    await opened().workbench.statusBar.waitFor('The local service is running');
    await opened().workbench.runCommand('Hosted Postgres: Refresh');
    await computes().waitFor('Project shop');
    assert.deepEqual(await opened().workbench.notifications.all(), []);
  });

  it('is revoked, and the service starts with another', async () => {
    await opened().workbench.runCommand('Hosted Postgres: Revoke API Key…');
    await opened().workbench.quickInput.choose('Select an API key', 'this machine');
    assert.match((await opened().workbench.dialog.read()).detail, /signed out/);
    await opened().workbench.dialog.press('Revoke');
    assert.match(await opened().workbench.welcomeText('Computes'), /local service/);
    await opened().workbench.clickWelcome('Computes', 'Try it with the local service');
    await computes().waitFor('Project shop');
  });
});
