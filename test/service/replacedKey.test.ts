/** The extension replaces its stored key of the local service if the service doesn't accept it. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Client } from '../../src/api/client.ts';
import { Accounts } from '../../src/model/account/accounts.ts';
import { LocalService } from '../../src/ui/localService/localService.ts';
import { builtService } from '../helpers/builtService.ts';
import { hasReleasedLock, temporaryFolder } from '../helpers/localService.ts';
import { SecretMap } from '../helpers/secretMap.ts';
import { until } from '../workbench/until.ts';

describe('The local service of the extension', () => {
  let dataDir: string;
  let script: string;
  const services: LocalService[] = [];
  beforeEach(async () => {
    dataDir = temporaryFolder();
    script = await builtService();
  });
  afterEach(async () => {
    await services.at(-1)?.stop();
    services.length = 0;
    rmSync(dataDir, { recursive: true, force: true });
  });

  function openWindow(secrets = new SecretMap(), accounts = new Accounts(secrets)) {
    const log = { addSecret: () => {}, info: () => {}, error: () => {} };
    const config = { postgresPath: undefined };
    const service = new LocalService({ script, dataDir, secrets, accounts, config, log });
    services.push(service);
    const current = async () => {
      const account = (await accounts.list()).current;
      assert(account);
      const key = (await accounts.key(account)) ?? '';
      return new Client({ baseUrl: account.baseUrl, key, fetch: globalThis.fetch, retries: 0 });
    };
    return { service, current, reopen: () => openWindow(secrets, accounts) };
  }
  /** Starts the service and revokes the key that it was started with. */
  async function startAndRevoke() {
    const window = openWindow();
    await window.service.start();
    const client = await window.current();
    const own = (await client.listApiKeys()).items.find(({ name }) => name === 'given at start');
    await client.revokeApiKey(own?.id ?? 0);
    return window;
  }

  it('is replaced if it has another key and the user starts it, and its data is kept', async () => {
    const [first, second] = [openWindow(), openWindow()];
    await first.service.start();
    // The window closes, but the service still waits for the next one.
    first.service.dispose();
    await assert.rejects(second.service.ready(), { name: 'LocalServiceError', reason: 'otherKey' });
    await second.service.start();
    const { items } = await (await second.current()).listComputes('shiny-wind-028834');
    assert.ok(items.length > 0);
  });

  it('starts with a new key after another client revoked its key', async () => {
    const { service, current } = await startAndRevoke();
    await service.stop();
    await service.start();
    await (await current()).listApiKeys();
  });

  it('does not start for a window that resumes it with a revoked key, until the user starts it', async () => {
    const { service, reopen } = await startAndRevoke();
    const { pid } = JSON.parse(readFileSync(path.join(dataDir, 'service.json'), 'utf8')) as { pid: number };
    service.dispose();
    process.kill(pid, 'SIGTERM');
    await until('the service to end', async () => hasReleasedLock(dataDir));
    const next = reopen();
    await assert.rejects(next.service.ready(), { name: 'LocalServiceError', reason: 'revokedKey' });
    await next.service.start();
    await (await next.current()).listApiKeys();
  });
});
