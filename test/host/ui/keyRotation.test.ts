/** The window reloads in the middle of a key rotation: the next start says which keys may be valid. */
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FaultProxy, type FaultName, type When } from '../../helpers/faultProxy.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { shopAccount } from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { ownServiceFolder } from './ownService.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('a key rotation interrupted by a reload', () => {
  const opened = useWorkbench();
  let service: LocalService;
  let proxy: FaultProxy;

  before(async () => {
    service = await startLocalService({ postgres: false, args: shopAccount(temporaryFolder()) });
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
    const first = await service.client.createApiKey('laptop');
    await connect(opened().workbench, { baseUrl: proxy.baseUrl, key: first.key });
    await opened().workbench.expandView('API Keys');
    await rotate('key 1', 'laptop');
    await keys().waitFor(/^API key key 1, this window, /);
  });
  after(async () => {
    await proxy.stop();
    await service.stop();
  });

  const keys = () => opened().workbench.tree('API Keys');
  const notifications = () => opened().workbench.notifications;
  const names = async () =>
    (await service.client.listApiKeys()).items
      .map(({ name }) => name)
      .filter((name) => name.startsWith('key '));

  /** @param old picked if the window doesn't know which key it uses */
  async function rotate(name: string, old?: string): Promise<void> {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Rotate API Key…');
    if (old !== undefined) await workbench.quickInput.choose('Which key', old);
    await workbench.quickInput.answer('Name of the new key', name);
    await workbench.dialog.press('Rotate');
  }

  /** Rotates, and reloads the window while the request is pending. */
  async function reloadAt(name: string, fault: FaultName, when: When): Promise<void> {
    const held = proxy.inject(fault, when);
    await rotate(name);
    await until('the request', async () => held.hits === 1);
    if (fault === 'noAnswerAfter' && when.method === 'POST')
      await until('the new key', async () => (await names()).includes(name));
    proxy.clear();
    await opened().workbench.reload();
    await opened().workbench.openView('Hosted Postgres');
  }

  /** Reads the message after a reload and opens the view with the keys. */
  async function readNotice(): Promise<string> {
    const { message, buttons, severity } = await notifications().waitFor('was interrupted');
    assert.deepEqual([buttons, severity], [['Show API Keys'], 'warning']);
    await notifications().press('was interrupted', 'Show API Keys');
    return message;
  }

  it('while the new key is created: names both keys, and the window keeps its old one', async () => {
    await reloadAt('key 2', 'noAnswerAfter', { method: 'POST' });
    assert.match(await readNotice(), /The keys “key 1” and “key 2” may both be valid\./);
    await keys().waitFor(/^API key key 2, never used/);
    await keys().waitFor(/^API key key 1, this window, /);
    await keys().inlineAction(/^API key key 2/, 'Revoke API Key…');
    await opened().workbench.dialog.press('Revoke');
    await keys().waitUntilGone(/^API key key 2/);
    assert.deepEqual(await names(), ['key 1']);
  });

  it('while the old key is revoked: names both keys, and the window uses the new one', async () => {
    await reloadAt('key 2', 'noAnswer', { method: 'DELETE' });
    assert.match(await readNotice(), /The keys “key 1” and “key 2” may both be valid\./);
    await keys().waitFor(/^API key key 2, this window, /);
    await opened().workbench.tree('Computes').waitFor('Project shop');
    await keys().inlineAction(/^API key key 1/, 'Revoke API Key…');
    await opened().workbench.dialog.press('Revoke');
    await keys().waitUntilGone(/^API key key 1/);
    assert.deepEqual(await names(), ['key 2']);
  });

  it('shows nothing at the next start', async () => {
    const before = proxy.count('GET', /api_keys$/);
    await opened().workbench.reload();
    await opened().workbench.openView('Hosted Postgres');
    await until('the keys to be listed', async () => proxy.count('GET', /api_keys$/) > before);
    await keys().waitFor(/^API key key 2, this window, /);
    assert.deepEqual(await notifications().all(), []);
  });

  it("creates no key if it can't be noted", async () => {
    const { workbench, dataFolder } = opened();
    const folder = path.join(path.dirname(ownServiceFolder(dataFolder)), 'keyRotations');
    await rm(folder, { recursive: true, force: true });
    await writeFile(folder, '');
    await rotate('key 3');
    const { message } = await notifications().waitFor("Couldn't rotate the API key");
    assert.match(message, /No new key was created\. .*This window keeps using its old key\.$/);
    await rm(folder);
    await workbench.notifications.clear();
    assert.deepEqual(await names(), ['key 2']);
  });
});
