/**
 * Uses every feature that handles keys, injects failures, and then searches everything that the window leaves behind.
 * The secrets may only be in the encrypted secret storage and the clipboard. This VS Code writes no log files, so
 * test/trust/log.test.ts searches the log.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from '../../../src/base/processIdentity.ts';
import type { FaultName } from '../../helpers/faultProxy.ts';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { reports, shopAccount } from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
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
  ['captivePortal', /web page instead of a response/],
  ['redirect307', /Your key was not sent there/],
  ['truncatedJson', /cut off/],
  ['forbiddenPage', /403/],
];

describe('the key', () => {
  const consoleLines: string[] = [];
  const opened = useWorkbench();
  const places: Places = new Map();
  const secrets = new Map<string, string>();
  let service: LocalService;
  let proxy: FaultProxy;

  before(async () => {
    const { page } = opened().workbench;
    page.on('console', (message) => consoleLines.push(message.text()));
    page.on('pageerror', (error) => consoleLines.push(String(error.stack)));
    service = await startLocalService({ postgres: false, args: shopAccount(temporaryFolder()) });
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
  });
  after(async () => {
    await proxy.stop();
    await service.stop();
  });

  const capturePage = (moment: string) => addPage(places, opened().workbench.page, moment);
  const createKey = async (name: string): Promise<string> => {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Create API Key…');
    await workbench.quickInput.answer('Name of the key', name);
    const { detail } = await workbench.dialog.read();
    assert.match(detail, SHOWN_ONCE);
    const key = detail.split('\n')[0] ?? '';
    await workbench.dialog.press('Copy Key');
    await until('the clipboard', async () => (await workbench.readClipboard()) === key);
    return key;
  };

  it('is rejected, entered, and used with every kind of failure', async () => {
    const { workbench } = opened();
    const { key } = await service.client.createApiKey('laptop');
    secrets.set('wrong key', WRONG_KEY).set('key', key);
    await workbench.openView('Hosted Postgres');
    await workbench.runCommand('Hosted Postgres: Connect…');
    await workbench.quickInput.answer('Select a service', proxy.baseUrl);
    assert.match(await workbench.quickInput.validationMessage('API key for', WRONG_KEY), /doesn't accept/);
    await capturePage('a wrong key entered');
    proxy.inject('echoedKey');
    await workbench.quickInput.type("doesn't accept", key);
    await workbench.page.keyboard.press('Enter');
    await workbench.quickInput.waitFor('bad request');
    await capturePage('a key entered');
    await workbench.quickInput.cancel('bad request');
    await connect(workbench, { baseUrl: proxy.baseUrl, key });
    await workbench.tree('Computes').waitFor('Project shop');
    for (const [fault, message] of failures) {
      proxy.inject(fault, { method: 'GET', times: Number.POSITIVE_INFINITY });
      await workbench.viewAction('Computes', 'Refresh');
      await until(
        async () => `a message about ${fault}; shown: ${await workbench.viewMessage('Computes')}`,
        async () => message.test(await workbench.viewMessage('Computes')),
      );
      await capturePage(fault);
      proxy.clear();
      await workbench.notifications.all();
      await capturePage(`${fault}, notifications`);
      await workbench.notifications.clear();
    }
    await workbench.viewAction('Computes', 'Refresh');
    await until('the message to disappear', async () => (await workbench.viewMessage('Computes')) === '');
  });

  it('is created, copied, rotated and revoked', async () => {
    const { workbench } = opened();
    secrets.set('created key', await createKey('deployment'));
    await workbench.expandView('API Keys');
    await workbench.tree('API Keys').tooltip(/^API key laptop/);
    await capturePage('the tooltip of a key');
    await workbench.runCommand('Hosted Postgres: Rotate API Key…');
    await workbench.quickInput.choose('Which key', 'laptop');
    await workbench.quickInput.answer('Name of the new key', 'laptop 2');
    await workbench.dialog.press('Rotate');
    await workbench.tree('API Keys').waitFor(/^API key laptop 2, this window, /);
    const sent = [...proxy.keys].filter((key) => ![...secrets.values(), service.key].includes(key));
    assert.equal(sent.length, 1);
    secrets.set('rotated key', sent[0] ?? '');
    await workbench.runCommand('Hosted Postgres: Copy Connection String…');
    await workbench.quickInput.choose('Select a compute', reports);
    await workbench.quickInput.answer('Role', 'app');
    await workbench.quickInput.answer('Database', 'app');
    await workbench.quickInput.choose("doesn't provide the password", 'Enter the password…');
    await workbench.quickInput.answer('Password of app', PASSWORD);
    secrets.set('password', PASSWORD);
    await until('the clipboard', async () => (await workbench.readClipboard()).includes(PASSWORD));
    const { items } = await service.client.listApiKeys();
    await service.client.revokeApiKey(items.find(({ name }) => name === 'laptop 2')?.id ?? 0);
    await workbench.viewAction('Computes', 'Refresh');
    await until('a message above the tree', async () =>
      /doesn't accept the API key/.test(await workbench.viewMessage('Computes')),
    );
    await workbench.notifications.all();
    await capturePage('revoked');
    await workbench.notifications.clear();
    await workbench.runCommand('Hosted Postgres: Show Log');
    await workbench.page.locator('.output-view-container, .panel .monaco-editor').first().waitFor();
    await capturePage('the log');
  });

  it('of the local service is not in its arguments, its environment or its files', async () => {
    const { workbench, dataFolder, server } = opened();
    await workbench.runCommand('Hosted Postgres: Start Local Service');
    const started = await findOwnService(dataFolder);
    await workbench.statusBar.waitFor('The local service is running');
    await workbench.tree('Computes').waitFor('Project shop');
    secrets.set('key of the local service', await createKey('of the local service'));
    await addProcesses(places, [server.pid, started.pid]);
    if (process.platform === 'linux') {
      const environment = places.get(`/proc/${started.pid}/environ`)?.toString() ?? '';
      assert.ok(environment.includes('PATH='));
      assert.ok(!environment.includes('HOSTED_POSTGRES_'));
      const args = places.get(`/proc/${started.pid}/cmdline`)?.toString().split('\0') ?? [];
      assert.ok(args.includes('--api-key-stdin') && !args.includes('--api-key'));
    }
    await workbench.runCommand('Hosted Postgres: Stop Local Service');
    await workbench.dialog.press('Stop');
    await workbench.welcomeText('Computes');
    // Until then, it may remove unfinished files.
    await until('the service to end', async () => !isAlive(started.pid));
  });

  it('is in none of the searched places', async () => {
    const { workbench, server, dataFolder, folder } = opened();
    await addProcesses(places, [server.pid]);
    await capturePage('the end');
    await addFiles(places, dataFolder);
    await addFiles(places, folder);
    // Where root's service keeps its account.
    const note = path.join(ownServiceFolder(dataFolder), 'postgres-folder');
    if (existsSync(note)) await addFiles(places, readFileSync(note, 'utf8'));
    await addBrowserStorage(places, workbench.page);
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
