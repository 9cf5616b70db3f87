import assert from 'node:assert/strict';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { shopAccount } from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('the API Keys view', () => {
  const opened = useWorkbench();
  let service: LocalService;
  let proxy: FaultProxy;
  /** The key the window begins with; the service's own stays with the test. */
  let first: { readonly id: number; readonly key: string };

  before(async () => {
    service = await startLocalService({ postgres: false, args: shopAccount(temporaryFolder()) });
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
    first = await service.client.createApiKey('laptop');
    await service.client.createApiKey('[deployment](command:x)');
    await connect(opened().workbench, { baseUrl: proxy.baseUrl, key: first.key });
    await opened().workbench.page.locator('.pane-header[aria-label="API Keys Section"]').click();
  });
  after(async () => {
    await proxy.stop();
    await service.stop();
  });

  const keys = () => opened().workbench.tree('API Keys');
  const namesHeld = async () => (await service.client.listApiKeys()).items.map(({ name }) => name);
  const rotate = () => opened().workbench.runCommand('Hosted Postgres: Rotate API Key…');

  it('shows when and from where each key was last used, when it was created, and its id', async () => {
    const { label } = await keys().waitFor(/^API key laptop/);
    assert.match(label, /^API key laptop, used .+ from 127\.0\.0\.1, created .+, #\d+$/);
    await keys().waitFor(/^API key \[deployment\] \(command:x\), never used, created/);
    assert.match(await keys().tooltip(/^API key laptop/), /Last used\s+\d/);
  });

  it('asks which key is in use, and creates nothing when the user backs out', async () => {
    await rotate();
    const { title, items } = await opened().workbench.quickInput.waitFor('Which key does this window use');
    assert.match(title, /1\/2/);
    assert.match(items[0] ?? '', /^laptop used /);
    await opened().workbench.quickInput.cancel('Which key');
    assert.equal((await namesHeld()).length, 3);
  });

  it('rotates: the window uses and marks the new key, and the old one is revoked', async () => {
    await rotate();
    await opened().workbench.quickInput.choose('Which key', 'laptop');
    await opened().workbench.quickInput.answer('Name of the new key', 'laptop 2');
    assert.match((await opened().workbench.dialog.read()).detail, /Then “laptop” is revoked/);
    await opened().workbench.dialog.press('Rotate');
    await keys().waitFor(/^API key laptop 2, this window, /);
    await keys().waitUntilGone(/^API key laptop,/);
    assert.ok(!(await namesHeld()).includes('laptop'));
    await opened().workbench.tree('Computes').waitFor('Project shop');
  });

  it('leaves the old key in use when the new one does not work, and says which keys exist', async () => {
    proxy.inject('forbiddenPage', { method: 'GET', path: /projects$/ });
    await rotate();
    await opened().workbench.quickInput.answer('Name of the new key', 'laptop 3');
    await opened().workbench.dialog.press('Rotate');
    const { message } = await opened().workbench.notifications.waitFor("Couldn't rotate the API key");
    assert.match(message, /The new key doesn't work\. .*This window keeps using its old key\.$/);
    await opened().workbench.notifications.clear();
    assert.deepEqual(
      (await namesHeld()).filter((name) => name.startsWith('laptop')),
      ['laptop 2'],
    );
    await keys().waitFor(/^API key laptop 2, this window, /);
    assert.ok((await keys().contextMenuItems(/^API key laptop 2/)).includes('Rotate API Key…'));
  });

  it('says that revoking the key in use signs out, and does so', async () => {
    await keys().inlineAction(/^API key laptop 2/, 'Revoke API Key…');
    assert.match(
      (await opened().workbench.dialog.read()).detail,
      /^This window uses the key and will be signed out/,
    );
    await opened().workbench.dialog.press('Revoke');
    assert.match(await opened().workbench.welcomeText('Computes'), /Connect…/);
    await until('the key to be revoked', async () => !(await namesHeld()).includes('laptop 2'));
  });

  it('explains why an organization key shows no keys', async () => {
    proxy.inject('forbiddenPage', { path: /(api_keys|auth)$/, times: 20 });
    await connect(opened().workbench, { baseUrl: proxy.baseUrl, key: service.key });
    await keys().waitFor(/^This key can't list API keys/);
    await opened().workbench.tree('Computes').waitFor('Project shop');
    assert.deepEqual(await opened().workbench.notifications.all(), []);
  });

  it('explains it when a key is to be created, before asking for a name', async () => {
    await opened().workbench.runCommand('Hosted Postgres: Create API Key…');
    const { message } = await opened().workbench.notifications.waitFor("Couldn't create the API key");
    assert.match(message, /belongs to an organization/);
    await opened().workbench.notifications.clear();
  });
});
