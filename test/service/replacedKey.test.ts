/** The extension starts its local service again after the key of that service was revoked. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { Client } from '../../src/api/client.ts';
import { Accounts } from '../../src/model/accounts.ts';
import { LocalService } from '../../src/ui/localService.ts';
import { builtService } from '../helpers/builtService.ts';
import { temporaryFolder } from '../helpers/localService.ts';
import { SecretMap } from '../helpers/secretMap.ts';

describe('The local service of the extension', function () {
  this.timeout(30_000);

  it('starts with a new key when its own was revoked elsewhere', async () => {
    const secrets = new SecretMap();
    const accounts = new Accounts(secrets);
    const dataDir = temporaryFolder();
    const log = { addSecret: () => {}, info: () => {}, error: () => {} };
    const parts = {
      script: await builtService(),
      dataDir,
      secrets,
      accounts,
      config: { postgresPath: undefined },
      log,
    };
    const localService = new LocalService(parts);
    const clientAfterConnect = async () => {
      await localService.connect();
      const { current } = await accounts.list();
      assert(current);
      const key = (await accounts.key(current)) ?? '';
      return {
        key,
        client: new Client({ baseUrl: current.baseUrl, key, fetch: globalThis.fetch, retries: 0 }),
      };
    };
    try {
      const first = await clientAfterConnect();
      const [own] = (await first.client.listApiKeys()).items.filter(({ name }) => name === 'given at start');
      await first.client.revokeApiKey(own?.id ?? 0);
      await localService.stop();
      const second = await clientAfterConnect();
      assert.notEqual(second.key, first.key);
      await second.client.listApiKeys();
    } finally {
      await localService.stop();
      localService.dispose();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
