/**
 * A company network: an HTTPS service with a certificate from a private authority, behind a proxy that requires a login.
 * Tests the failures that users see there.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { BaseUrl } from '../../../src/api/transport/baseUrl.ts';
import { FaultProxy, type StubReply } from '../../helpers/faultProxy.ts';
import { testAuthority } from '../../helpers/faultProxyAddresses.ts';
import { makeCertificate } from '../../helpers/faultProxyCertificate.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { startLoginProxy, type LoginProxy } from '../../helpers/loginProxy.ts';
import { computeRecord } from '../../helpers/scriptedService.ts';
import { Editor } from '../../workbench/editor.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

/** Only the proxy can resolve it. */
const HOST = 'postgres.company.test';
const baseUrl = `https://${HOST}/api/v2` as BaseUrl;
/** Makes VS Code use Node's list of system certificates, which an OpenSSL variable can extend. */
const certificates = { 'http.systemCertificatesNode': true };

const answer: StubReply = ({ path: requested }) =>
  requested.includes('/endpoints')
    ? { json: { endpoints: [computeRecord('ep-good')] } }
    : { json: { projects: [{ id: 'shop', name: 'shop' }] } };

describe('a network with a proxy and a private certificate authority', () => {
  const folder = temporaryFolder();
  const authority = path.join(folder, 'authority.pem');
  let service: FaultProxy;
  let proxy: LoginProxy;

  before(async () => {
    writeFileSync(authority, testAuthority.cert);
    const { key, cert } = makeCertificate({ issuer: testAuthority, names: [HOST] });
    service = await FaultProxy.start({ upstream: answer, tls: { key, cert } });
    const routes = { [`${HOST}:443`]: Number(new URL(service.baseUrl).port) };
    proxy = await startLoginProxy({ user: 'me', password: 'p@ss', routes });
  });
  const ui = useWorkbench({
    settings: { 'hostedPostgres.refreshInterval': 5 },
    env: { SSL_CERT_FILE: authority },
  });
  after(async () => {
    await proxy.stop();
    await service.stop();
    await rm(folder, { recursive: true });
  });

  /** Writes user settings in the editor, because machine settings cannot contain application settings. */
  async function setForUser(settings: Readonly<Record<string, unknown>>): Promise<void> {
    await ui().runCommand('Preferences: Open User Settings (JSON)');
    await new Editor(ui().page).waitForFile('settings.json');
    await ui().page.keyboard.press('ControlOrMeta+a');
    await ui().page.keyboard.insertText(JSON.stringify(settings));
    await ui().page.keyboard.press('ControlOrMeta+s');
    await ui().page.locator('.tab.dirty').waitFor({ state: 'detached' });
  }
  it('shows an error if the proxy requires a login, and sends nothing to the service', async () => {
    await setForUser({ ...certificates, 'http.proxy': `http://127.0.0.1:${proxy.port}` });
    await ui().openView('Hosted Postgres');
    await ui().run('Connect…');
    await ui().quickInput.answer('Select a service', baseUrl);
    assert.match(await ui().quickInput.validationMessage('API key for', 'key-1234'), /Couldn.t reach/);
    await ui().quickInput.cancel(/./);
    assert.ok(proxy.rejected.length > 0);
    assert.equal(service.count(), 0);
  });

  it('connects through the proxy with its login and the trusted authority', async () => {
    await setForUser({ ...certificates, 'http.proxy': `http://me:p%40ss@127.0.0.1:${proxy.port}` });
    await connect(ui(), { baseUrl, key: 'key-1234' });
    await ui().computes.expand('Project shop');
    await ui().computes.waitFor(/^Compute ep-good/);
    assert.deepEqual(new Set(proxy.opened), new Set([`${HOST}:443`]));
    assert.deepEqual([...service.keys], ['key-1234']);
    assert.deepEqual(service.strayed, []);
    assert.deepEqual(await ui().notifications.all(), []);
  });
});
