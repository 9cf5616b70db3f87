/**
 * An HTTPS service with a certificate from a private authority, behind a proxy that requires a login and alone knows the service's
 * host. So to the extension it isn't a service of this machine.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BaseUrl } from '../../../src/api/transport/baseUrl.ts';
import { FaultProxy, type FaultProxyOptions } from '../../helpers/faultProxy.ts';
import { testAuthority } from '../../helpers/faultProxyAddresses.ts';
import { makeCertificate } from '../../helpers/faultProxyCertificate.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { startLoginProxy, type LoginProxy } from '../../helpers/loginProxy.ts';
import { Editor } from '../../workbench/editor.ts';
import type { Workbench } from '../../workbench/workbench.ts';

/** Only the proxy can resolve it. */
export const PRIVATE_HOST = 'postgres.company.test';
/** Makes VS Code use Node's list of system certificates, which an OpenSSL variable can extend. */
const certificates = { 'http.systemCertificatesNode': true };

export interface PrivateNetwork {
  readonly baseUrl: BaseUrl;
  readonly service: FaultProxy;
  readonly proxy: LoginProxy;
}

/** @returns the environment of a window that trusts the authority */
export function trustAuthority(): Readonly<Record<string, string>> {
  const file = path.join(temporaryFolder(), 'authority.pem');
  writeFileSync(file, testAuthority.cert);
  return { SSL_CERT_FILE: file };
}

export async function startPrivateNetwork(options: Omit<FaultProxyOptions, 'tls'>): Promise<PrivateNetwork> {
  const { key, cert } = makeCertificate({ issuer: testAuthority, names: [PRIVATE_HOST] });
  const service = await FaultProxy.start({ ...options, tls: { key, cert } });
  const routes = { [`${PRIVATE_HOST}:443`]: Number(new URL(service.baseUrl).port) };
  const proxy = await startLoginProxy({ user: 'me', password: 'p@ss', routes });
  return { baseUrl: `https://${PRIVATE_HOST}/api/v2` as BaseUrl, service, proxy };
}

/**
 * Writes user settings in the editor, because machine settings cannot contain application settings.
 * @param login the login for the proxy
 */
export async function setProxy(
  workbench: Workbench,
  { proxy }: PrivateNetwork,
  login = 'me:p%40ss@',
): Promise<void> {
  const { page } = workbench;
  const settings = { ...certificates, 'http.proxy': `http://${login}127.0.0.1:${proxy.port}` };
  await workbench.runCommand('Preferences: Open User Settings (JSON)');
  await new Editor(page).waitForFile('settings.json');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(JSON.stringify(settings));
  await page.keyboard.press('ControlOrMeta+s');
  await page.locator('.tab.dirty').waitFor({ state: 'detached' });
}
