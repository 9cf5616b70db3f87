import { FaultProxy, type FaultProxyOptions } from '../../helpers/faultProxy.ts';
import {
  startLocalService,
  temporaryFolder,
  type LocalService,
  type LocalServiceOptions,
} from '../../helpers/localService.ts';
import { shopAccount } from '../../helpers/shopAccount.ts';
import type { Workbench } from '../../workbench/workbench.ts';

/** A service behind a proxy that counts its requests and injects faults. Its `client` and `key` don't use the proxy. */
export interface ProxiedService extends LocalService {
  readonly proxy: FaultProxy;
}

interface ServiceOptions extends LocalServiceOptions {
  readonly proxy?: Omit<FaultProxyOptions, 'upstream'>;
}

/**
 * Runs a local service for the tests of the surrounding `describe`: by default without Postgres, and with the account of
 * shopAccount.ts.
 * @returns a function that returns the service, for use inside tests and hooks
 */
export function useService({ proxy: proxyOptions, ...options }: ServiceOptions = {}): () => ProxiedService {
  let service: ProxiedService | undefined;

  before(async () => {
    const args = options.args ?? shopAccount(temporaryFolder());
    const started = await startLocalService({ postgres: false, ...options, args });
    const proxy = await FaultProxy.start({ upstream: started.baseUrl, ...proxyOptions });
    service = { ...started, baseUrl: proxy.baseUrl, proxy };
  });

  return () => {
    if (service === undefined) throw new Error('The service runs only while tests run');
    return service;
  };
}

/**
 * Opens the view and connects the window to a running service, like a user with its address and key. Waits until VS Code
 * has expanded the first project: it redraws all views 200 ms after they have changed, and a row that is redrawn loses its tooltip.
 * @param project a project to expand
 */
export async function connect(
  workbench: Workbench,
  { baseUrl, key }: Pick<LocalService, 'baseUrl' | 'key'>,
  project?: string,
): Promise<void> {
  const { computes, quickInput, statusBar } = workbench;
  await workbench.openView('Hosted Postgres');
  await workbench.run('Connect…');
  await quickInput.answer('Select a service', baseUrl);
  await quickInput.answer('API key for', key);
  await statusBar.waitFor(`Connected to ${baseUrl.replace(/^https?:\/\//, '')}`);
  await computes.waitForFirstProject();
  if (project !== undefined) await computes.expandProject(project);
}
