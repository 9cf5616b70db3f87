/** The window reloads in the middle of a key rotation: the next start finishes it, or says which key is left. */
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

  it('while the key is created: names the key whose value was lost, and revokes it', async () => {
    await reloadAt('key 2', 'noAnswerAfter', { method: 'POST' });
    const { message, buttons } = await notifications().waitFor('rotation was interrupted');
    assert.match(message, /The new key “key 2” \(#\d+\) exists, but its value was lost\./);
    assert.deepEqual(buttons, ['Revoke “key 2”']);
    await notifications().press('rotation was interrupted', 'Revoke “key 2”');
    await until('the key to be revoked', async () => !(await names()).includes('key 2'));
    assert.deepEqual(await names(), ['key 1']);
    await keys().waitUntilGone(/^API key key 2/);
    await keys().waitFor(/^API key key 1, this window, /);
  });

  it('before the service creates the key: says that there is no new key', async () => {
    await reloadAt('key 2', 'noAnswer', { method: 'POST' });
    const { message, buttons } = await notifications().waitFor('rotation was interrupted');
    assert.match(message, /No new key was found\. The old key is still in use\./);
    assert.deepEqual(buttons, ['Rotate API Key…']);
    await notifications().press('rotation was interrupted', 'Rotate API Key…');
    await opened().workbench.quickInput.cancel('Name of the new key');
    assert.deepEqual(await names(), ['key 1']);
    await notifications().clear();
  });

  it('while the new key is tested: finishes the rotation', async () => {
    await reloadAt('key 2', 'noAnswer', { method: 'GET', path: /projects$/ });
    await finished('key 2');
  });

  for (const fault of ['noAnswer', 'noAnswerAfter'] as const) {
    it(`while the old key is revoked (${fault}): finishes the rotation`, async () => {
      const name = fault === 'noAnswer' ? 'key 3' : 'key 4';
      await reloadAt(name, fault, { method: 'DELETE' });
      await finished(name);
    });
  }

  it('shows nothing at the next start', async () => {
    const before = proxy.count('GET', /api_keys$/);
    await opened().workbench.reload();
    await opened().workbench.openView('Hosted Postgres');
    await until('the keys to be listed', async () => proxy.count('GET', /api_keys$/) > before);
    await keys().waitFor(/^API key key 4, this window, /);
    assert.deepEqual(await notifications().all(), []);
  });

  it("creates no key if its steps can't be saved", async () => {
    const { workbench, dataFolder } = opened();
    const folder = path.join(path.dirname(ownServiceFolder(dataFolder)), 'keyRotations');
    await rm(folder, { recursive: true, force: true });
    await writeFile(folder, '');
    await rotate('key 5');
    const { message } = await notifications().waitFor("Couldn't rotate the API key");
    assert.match(message, /No new key was created\. .*This window keeps using its old key\.$/);
    await rm(folder);
    await workbench.notifications.clear();
    assert.deepEqual(await names(), ['key 4']);
  });

  async function finished(name: string): Promise<void> {
    const { severity } = await notifications().waitFor(`The new key “${name}”`);
    assert.equal(severity, 'info');
    await notifications().clear();
    assert.deepEqual(await names(), [name]);
    await keys().waitFor(new RegExp(`^API key ${name}, this window, `));
    await opened().workbench.tree('Computes').waitFor('Project shop');
  }
});
