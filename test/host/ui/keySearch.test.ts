/**
 * Uses every feature that handles keys, injects failures, and then searches everything that the window leaves behind.
 * The secrets may only be in the encrypted secret storage and the clipboard. This VS Code writes no log files, so
 * test/real/extension/window/log.test.ts searches the log.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from '../../../src/base/programs/isAlive.ts';
import type { FaultName } from '../../helpers/faultProxy.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { findOwnService, ownServiceFolder } from './ownService.ts';
import {
  addBrowserStorage,
  addFiles,
  addPage,
  addProcesses,
  placesWith,
  type Places,
} from './secretSearch.ts';
import { useWorkbench } from './useWorkbench.ts';

const WRONG_KEY = 'napi-not-wrong-key-4f1c9d27aa';
const PASSWORD = 'typed-password-77e1b0';
const SHOWN_ONCE = /This is the only time the key is shown/;

const failures: readonly (readonly [FaultName, RegExp])[] = [
  ['echoedKey', /bad request/],
  ['captivePortal', /web page came instead of a response/],
  ['redirect307', /Your key was not sent there/],
  ['truncatedJson', /cut off/],
  ['forbiddenPage', /doesn't allow it/],
];

describe('the key', () => {
  const consoleLines: string[] = [];
  const ui = useWorkbench();
  const places: Places = new Map();
  const secrets = new Map<string, string>();
  const service = useService();

  before(async () => {
    ui().page.on('console', (message) => consoleLines.push(message.text()));
    ui().page.on('pageerror', (error) => consoleLines.push(String(error.stack)));
  });
  const capturePage = (moment: string) => addPage(places, ui().page, moment);
  const createKey = async (name: string): Promise<string> => {
    await ui().run('Create API Key…');
    await ui().quickInput.answer('Name of the key', name);
    const { detail } = await ui().dialog.read();
    assert.match(detail, SHOWN_ONCE);
    const key = detail.split('\n').at(-1) ?? '';
    await ui().dialog.press('Copy Key');
    await ui().waitForClipboard(key);
    return key;
  };

  it('is rejected, entered, and used with every kind of failure', async () => {
    const { key } = await service().client.createApiKey('laptop');
    secrets.set('wrong key', WRONG_KEY).set('key', key);
    await ui().openView('Hosted Postgres');
    await ui().run('Connect…');
    await ui().quickInput.answer('Select a service', service().baseUrl);
    assert.match(await ui().quickInput.validationMessage('API key for', WRONG_KEY), /doesn't accept/);
    await capturePage('a wrong key entered');
    service().proxy.inject('echoedKey');
    await ui().quickInput.type("doesn't accept", key);
    await ui().page.keyboard.press('Enter');
    await ui().quickInput.waitFor('bad request');
    await capturePage('a key entered');
    await ui().quickInput.cancel('bad request');
    await connect(ui(), { baseUrl: service().baseUrl, key });
    await ui().computes.waitFor('Project shop');
    // Focuses the row, which VS Code then passes to the button.
    await ui().computes.contextMenu('Project shop', 'Copy Id');
    for (const [fault, message] of failures) {
      service().proxy.inject(fault, { method: 'GET', times: Number.POSITIVE_INFINITY });
      await ui().viewAction('Computes', 'Refresh');
      await ui().waitForMessage(message);
      await capturePage(fault);
      service().proxy.clear();
    }
    await ui().notifications.all();
    await capturePage('notifications of failures');
    await ui().notifications.clear();
    await ui().viewAction('Computes', 'Refresh');
    await ui().waitForMessage(/^$/);
  });

  it('is created, copied, rotated and revoked', async () => {
    secrets.set('created key', await createKey('deployment'));
    await ui().expandView('API Keys');
    await ui().apiKeys.tooltip(/^API key laptop/);
    await capturePage('the tooltip of a key');
    await ui().run('Rotate API Key…');
    await ui().quickInput.choose('Which key', 'laptop');
    await ui().quickInput.answer('Name of the new key', 'laptop 2');
    await ui().dialog.press('Rotate');
    await ui().apiKeys.waitFor(/^API key laptop 2, this window, /);
    const sent = [...service().proxy.keys].filter(
      (key) => ![...secrets.values(), service().key].includes(key),
    );
    assert.equal(sent.length, 1);
    secrets.set('rotated key', sent[0] ?? '');
    await ui().run('Copy Connection String…');
    await ui().quickInput.choose('Select a compute', 'reports');
    await ui().quickInput.answer('Role', 'app');
    await ui().quickInput.answer('Database', 'app');
    await ui().quickInput.choose("doesn't provide the password", 'Enter the password…');
    await ui().quickInput.answer('Password of app', PASSWORD);
    secrets.set('password', PASSWORD);
    await ui().waitForClipboard(new RegExp(PASSWORD));
    const { items } = await service().client.listApiKeys();
    await service().client.revokeApiKey(items.find(({ name }) => name === 'laptop 2')?.id ?? 0);
    await ui().viewAction('Computes', 'Refresh');
    await ui().waitForMessage(/doesn't accept the API key/);
    await ui().notifications.all();
    await capturePage('revoked');
    await ui().notifications.clear();
    await ui().run('Show Log');
    await ui().page.locator('.output-view-container, .panel .monaco-editor').first().waitFor();
    await capturePage('the log');
  });

  it('of the local service is not in its arguments, its environment or its files', async () => {
    const { dataFolder, server } = ui();
    await ui().run('Start Local Service');
    const started = await findOwnService(dataFolder);
    await ui().statusBar.waitFor('The local service is running');
    await ui().computes.waitFor('Project shop');
    secrets.set('key of the local service', await createKey('of the local service'));
    await addProcesses(places, [server.pid, started.pid]);
    if (process.platform === 'linux') {
      const environment = places.get(`/proc/${started.pid}/environ`)?.toString() ?? '';
      assert.ok(environment.includes('PATH='));
      assert.ok(!environment.includes('HOSTED_POSTGRES_'));
      const args = places.get(`/proc/${started.pid}/cmdline`)?.toString().split('\0') ?? [];
      assert.ok(args.includes('--api-key-stdin') && !args.includes('--api-key'));
    }
    await ui().run('Stop Local Service…');
    await ui().dialog.press('Stop');
    await ui().welcomeText('Computes');
    // Until then, it may remove unfinished files.
    await until('the service to end', async () => !isAlive(started.pid));
  });

  it('is in none of the searched places', async () => {
    const { server, dataFolder, folder } = ui();
    await addProcesses(places, [server.pid]);
    await capturePage('the end');
    await addFiles(places, dataFolder);
    await addFiles(places, folder);
    // Where root's service keeps its account.
    const note = path.join(ownServiceFolder(dataFolder), 'postgres-folder');
    if (existsSync(note)) await addFiles(places, readFileSync(note, 'utf8'));
    await addBrowserStorage(places, ui().page);
    places.set('the console', Buffer.from(consoleLines.join('\n')));
    const found = [...secrets].flatMap(([name, secret]) => {
      assert.ok(secret.length >= 12, name);
      return placesWith(places, secret).map((place) => `${name} in ${place}`);
    });
    assert.deepEqual(found, []);
  });

  it('would have been found, because other text is found in each kind of place', () => {
    const placesOf = (text: string) => placesWith(places, text);
    assert.ok(placesOf('Project shop').some((place) => place.startsWith('the page')));
    assert.ok(placesOf('of the local service').some((place) => place.endsWith('account.json')));
    assert.ok(placesOf('--socket-path').some((place) => place.startsWith('/proc/')));
    assert.ok(placesOf('hostedPostgres').some((place) => /vscode-web-state-db/.test(place)));
    assert.ok(
      [...places.keys()].some((place) => place.includes('secrets')),
      [...places.keys()].join('\n'),
    );
  });
});
