import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { ownServiceFolder } from './ownService.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('API keys', () => {
  const ui = useWorkbench();
  const service = useService();

  before(async () => {
    const { key } = await service().client.createApiKey('laptop');
    await connect(ui(), { baseUrl: service().baseUrl, key });
    await ui().expandView('API Keys');
  });

  /** The names of the window's keys that are valid. */
  const names = async () =>
    (await service().client.listApiKeys()).items
      .map(({ name }) => name)
      .filter((name) => name.startsWith('laptop'));
  const noRecords = async () => {
    const records = path.join(ownServiceFolder(ui().dataFolder), '../keyRotations');
    await until('no record for the next window', async () => (await readdir(records)).length === 0);
  };
  /** Rotates the window's key up to the confirmation. A window asks which key it uses until it has created one. */
  const startRotation = async (newName: string) => {
    const [oldName = ''] = await names();
    await ui().run('Rotate API Key…');
    const { title } = await ui().quickInput.waitFor(/Which key|Name of the new key/);
    if (title.includes('1/2')) await ui().quickInput.choose('Which key', oldName);
    await ui().quickInput.answer('Name of the new key', newName);
    return oldName;
  };

  it('are rotated: the window uses and marks the new key, and the old one is revoked', async () => {
    await ui().run('Rotate API Key…');
    const { items } = await ui().quickInput.waitFor('Which key does this window use');
    assert.match(items[0] ?? '', /^laptop used /);
    await ui().quickInput.cancel('Which key');
    assert.deepEqual(await names(), ['laptop']);
    await startRotation('laptop 2');
    assert.match((await ui().dialog.read()).detail, /Then “laptop” is revoked/);
    await ui().dialog.press('Rotate');
    await ui().apiKeys.waitFor(/^API key laptop 2, this window, /);
    await ui().apiKeys.waitUntilGone(/^API key laptop,/);
    assert.deepEqual(await names(), ['laptop 2']);
    await ui().computes.waitFor('Project shop');
  });

  it('stay in use when the new one does not work, and the message says so', async () => {
    service().proxy.inject('forbiddenPage', { method: 'GET', path: /projects$/ });
    const oldName = await startRotation('laptop 3');
    await ui().dialog.press('Rotate');
    const { message } = await ui().notifications.waitFor("Couldn't rotate the API key");
    assert.match(message, /The new key doesn't work\. .*This window keeps using its old key\.$/);
    await ui().notifications.clear();
    assert.deepEqual(await names(), [oldName]);
  });

  it('are revoked by a button if a rotation could not do that', async () => {
    service().proxy.inject('forbiddenPage', { method: 'DELETE' });
    const oldName = await startRotation('laptop 3');
    await ui().dialog.press('Rotate');
    const { message, buttons } = await ui().notifications.waitFor('This window now uses');
    assert.equal(
      message,
      `This window now uses API key “laptop 3”. The old key “${oldName}” couldn't be revoked.`,
    );
    assert.deepEqual([buttons, (await names()).toSorted()], [['Revoke'], [oldName, 'laptop 3']]);
    await ui().notifications.press(message, 'Revoke');
    await ui().apiKeys.waitUntilGone(new RegExp(`^API key ${oldName},`));
    assert.deepEqual(await names(), ['laptop 3']);
    assert.deepEqual(await ui().notifications.all(), []);
  });

  it('are revoked by the same button after a reload', async () => {
    service().proxy.inject('forbiddenPage', { method: 'DELETE' });
    const oldName = await startRotation('laptop 4');
    await ui().dialog.press('Rotate');
    const { message } = await ui().notifications.waitFor('This window now uses');
    await ui().reload();
    await ui().openView('Hosted Postgres');
    const { buttons } = await ui().notifications.waitFor(message);
    assert.deepEqual([buttons, (await names()).toSorted()], [['Revoke'], [oldName, 'laptop 4']]);
    await ui().notifications.press(message, 'Revoke');
    await ui().apiKeys.waitUntilGone(new RegExp(`^API key ${oldName},`));
    assert.deepEqual(await names(), ['laptop 4']);
    await noRecords();
  });

  it('are both named once in a message after a reload interrupts a rotation', async () => {
    const held = service().proxy.inject('noAnswerAfter', { method: 'POST' });
    const oldName = await startRotation('laptop 5');
    await ui().dialog.press('Rotate');
    await until('the new key', async () => held.hits === 1 && (await names()).includes('laptop 5'));
    service().proxy.clear();
    await ui().reload();
    await ui().openView('Hosted Postgres');
    const { message, buttons, severity } = await ui().notifications.waitFor('was interrupted');
    assert.deepEqual([buttons, severity], [['Show API Keys'], 'warning']);
    assert.ok(message.includes(`The keys “${oldName}” and “laptop 5” may both be valid.`), message);
    await ui().notifications.press('was interrupted', 'Show API Keys');
    await ui().apiKeys.waitFor(/^API key laptop 5, never used/);
    await ui().apiKeys.inlineAction(/^API key laptop 5/, 'Revoke API Key…');
    await ui().dialog.press('Revoke');
    await ui().apiKeys.waitUntilGone(/^API key laptop 5/);
    assert.deepEqual(await names(), [oldName]);
    await noRecords();
  });

  it('have the focus when they are new, and leave it to their neighbor when they are revoked', async () => {
    const focused = ui().page.locator(
      '[role="tree"][aria-label="API Keys"]:focus-within .monaco-list-row.focused',
    );
    const waitForFocus = (label: RegExp) =>
      until(`the focus on ${String(label)}`, async () =>
        label.test((await focused.getAttribute('aria-label')) ?? ''),
      );
    await ui().run('Create API Key…');
    await ui().quickInput.answer('Name of the key', 'laptop new');
    await ui().dialog.press('Close');
    await waitForFocus(/^API key laptop new, never used/);
    await ui().page.keyboard.press('Delete');
    await ui().dialog.press('Revoke');
    await ui().apiKeys.waitUntilGone(/^API key laptop new/);
    await waitForFocus(/^API key /);
  });

  it('sign out when the one in use is revoked', async () => {
    const [name = ''] = await names();
    await ui().apiKeys.inlineAction(new RegExp(`^API key ${name},`), 'Revoke API Key…');
    assert.match(
      (await ui().dialog.read()).detail,
      /^This can't be undone\. .*\. This window uses the key and will be signed out/,
    );
    await ui().dialog.press('Revoke');
    assert.match(await ui().welcomeText('Computes'), /Connect…/);
    await until('the key to be revoked', async () => (await names()).length === 0);
  });
});
