/** The extension replaces the key of its local service if that was revoked or is another one. */
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

describe('The local service of the extension that was started with another key', () => {
  it('is replaced if the user starts it, and its data is kept', async () => {
    const dataDir = temporaryFolder();
    const script = await builtService();
    const log = { addSecret: () => {}, info: () => {}, error: () => {} };
    const openWindow = () => {
      const secrets = new SecretMap();
      const accounts = new Accounts(secrets);
      const config = { postgresPath: undefined };
      return { accounts, service: new LocalService({ script, dataDir, secrets, accounts, config, log }) };
    };
    const [first, second] = [openWindow(), openWindow()];
    try {
      await first.service.start();
      // The window closes, but the service still waits for the next one.
      first.service.dispose();
      await assert.rejects(second.service.ready(), { name: 'LocalServiceError', reason: 'otherKey' });
      await second.service.start();
      const { current } = await second.accounts.list();
      assert(current);
      const key = (await second.accounts.key(current)) ?? '';
      const options = { baseUrl: await second.service.ready(), key, fetch: globalThis.fetch, retries: 0 };
      const { items } = await new Client(options).listComputes('shiny-wind-028834');
      assert.ok(items.length > 0);
    } finally {
      await second.service.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

describe('The local service of the extension after another client revoked its key', () => {
  let dataDir: string;
  let accounts: Accounts;
  let openWindow: () => LocalService;
  let localService: LocalService;
  beforeEach(async () => {
    dataDir = temporaryFolder();
    const secrets = new SecretMap();
    accounts = new Accounts(secrets);
    const script = await builtService();
    const log = { addSecret: () => {}, info: () => {}, error: () => {} };
    const config = { postgresPath: undefined };
    openWindow = () => new LocalService({ script, dataDir, secrets, accounts, config, log });
    localService = openWindow();
    await localService.start();
    const { client } = await current();
    const own = (await client.listApiKeys()).items.find(({ name }) => name === 'given at start');
    await client.revokeApiKey(own?.id ?? 0);
  });
  afterEach(async () => {
    await localService.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function current(): Promise<{ key: string; client: Client }> {
    const account = (await accounts.list()).current;
    assert(account);
    const key = (await accounts.key(account)) ?? '';
    const { baseUrl } = account;
    return { key, client: new Client({ baseUrl, key, fetch: globalThis.fetch, retries: 0 }) };
  }

  it('starts with a new key', async () => {
    const { key } = await current();
    await localService.stop();
    await localService.start();
    assert.notEqual((await current()).key, key);
    await (await current()).client.listApiKeys();
  });

  it('does not start for a window that resumes it, until the user starts it', async () => {
    const info = path.join(dataDir, 'service.json');
    const { pid } = JSON.parse(readFileSync(info, 'utf8')) as { pid: number };
    localService.dispose();
    process.kill(pid, 'SIGTERM');
    await until('the service to end', async () => hasReleasedLock(dataDir));
    localService = openWindow();
    await assert.rejects(localService.ready(), { name: 'LocalServiceError', reason: 'revokedKey' });
    await localService.start();
    await (await current()).client.listApiKeys();
  });
});
