/** A revoked key stays revoked, even if the service is started with its value. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { startLocalService, temporaryFolder } from '../helpers/localService.ts';
import { didNotStart } from './didNotStart.ts';

const REVOKED = /^The given API key was revoked and cannot be used again\. .*--api-key/;

describe('A revoked key', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const start = (key: string) => startLocalService({ postgres: false, dataDir: folder, key });

  it('makes the program exit with 9 if it is given at the start', async () => {
    const first = await start('given');
    const { id, key } = await first.client.createApiKey('made');
    await first.client.revokeApiKey(id);
    const own = (await first.client.listApiKeys()).items.find(({ name }) => name === 'given at start');
    await first.client.revokeApiKey(own?.id ?? 0);
    await first.stop();
    await assert.rejects(start('given'), didNotStart(9, REVOKED));
    await assert.rejects(start(key), didNotStart(9, REVOKED));
  });

  it('does not affect other keys', async () => {
    const first = await start('given');
    const { key } = await first.client.createApiKey('made');
    const own = (await first.client.listApiKeys()).items.find(({ name }) => name === 'given at start');
    await first.client.revokeApiKey(own?.id ?? 0);
    await first.stop();
    for (const other of ['another', key]) await (await start(other)).stop();
  });
});
