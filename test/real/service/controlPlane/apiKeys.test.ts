import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isRejected } from '../../../../src/api/transport/errors.ts';
import { RevokedApiKey } from '../../../../src/api/records/records.ts';
import { call } from '../../../helpers/call.ts';
import { accountFile, startLocalService, temporaryFolder } from '../../../helpers/localService.ts';
import { didNotStart } from '../didNotStart.ts';
import { useQuietService } from '../useQuietService.ts';

describe('API keys', () => {
  const service = useQuietService();

  const getWith = (key: string | undefined, path = '/projects') => call(service().baseUrl, { path, key });
  const listed = async (id: number) =>
    (await service().client.listApiKeys()).items.find((key) => key.id === id);

  it('are created with a value that works at once and appears nowhere else', async () => {
    const made = await service().client.createApiKey('ci');
    assert(Number.isInteger(made.id));
    assert.match(made.key, /^[0-9a-f]{64}$/);
    assert.equal(made['name'], 'ci');
    assert.equal((await getWith(made.key)).status, 200);
    const { text } = await getWith(service().key, '/api_keys');
    assert(!text.includes(made.key));
    assert(!readFileSync(accountFile(service().dataDir), 'utf8').includes(made.key));
    assert(!service().stderr().includes(made.key));
  });

  it('record when and from where they were last used', async () => {
    const made = await service().client.createApiKey('used');
    assert.equal((await listed(made.id))?.last_used_at, null);
    const before = Date.now();
    await getWith(made.key);
    const key = await listed(made.id);
    assert(Date.parse(key?.last_used_at ?? '') >= before);
    assert.match(key?.last_used_at ?? '', /Z$/);
    assert.equal(key?.last_used_from_addr, '127.0.0.1');
  });

  it('are revoked at once and permanently', async () => {
    const made = await service().client.createApiKey('gone');
    await getWith(made.key);
    // A key can revoke itself.
    const revocation = { method: 'DELETE', path: `/api_keys/${made.id}`, key: made.key };
    const { json } = await call(service().baseUrl, revocation);
    const revoked = RevokedApiKey.parse(json);
    assert.equal(revoked.name, 'gone');
    assert.equal(revoked.created_at, made.created_at);
    assert.equal(revoked.created_by, made.created_by);
    assert.equal(revoked.last_used_from_addr, '127.0.0.1');
    assert.equal((await getWith(made.key)).status, 401);
    assert.equal(await listed(made.id), undefined);
    await assert.rejects(service().client.revokeApiKey(made.id), (error) => isRejected(error, 404));
  });

  const invalid: Record<string, Record<string, string>> = {
    'no header': {},
    'an empty header': { authorization: '' },
    'no scheme': { authorization: 'KEY' },
    'another scheme': { authorization: 'Basic KEY' },
    'no value': { authorization: 'Bearer' },
    'an unknown value': { authorization: 'Bearer nonsense' },
    'text after the value': { authorization: 'Bearer KEY x' },
    'a huge value': { authorization: `Bearer ${'x'.repeat(8000)}` },
    'part of the value': { authorization: 'Bearer PART' },
  };
  for (const [what, headers] of Object.entries(invalid)) {
    it(`get 401 with ${what}`, async () => {
      const authorization = headers['authorization']
        ?.replace('KEY', service().key)
        .replace('PART', service().key.slice(0, -1));
      const reply = await call(service().baseUrl, {
        path: '/projects',
        headers: authorization === undefined ? {} : { authorization },
      });
      assert.equal(reply.status, 401);
      assert.deepEqual(Object.keys(reply.json as object), ['request_id', 'code', 'message']);
      assert(!reply.text.includes(service().key));
    });
  }

  it('are required even to learn which paths and methods exist', async () => {
    for (const path of ['/nothing', '/', ''])
      assert.equal((await call(service().baseUrl, { path })).status, 401, path);
    assert.equal((await call(service().baseUrl, { method: 'PUT', path: '/projects' })).status, 401);
  });
});

/** A revoked key stays revoked, even if the service is started with its value. */
describe('A revoked key', () => {
  it('makes the program exit with 9 if it is given at the start, and does not affect other keys', async () => {
    const dataDir = temporaryFolder();
    const start = (key: string) => startLocalService({ postgres: false, dataDir, key });
    const first = await start('given');
    const [revoked, kept] = [
      await first.client.createApiKey('revoked'),
      await first.client.createApiKey('kept'),
    ];
    const own = (await first.client.listApiKeys()).items.find(({ name }) => name === 'given at start');
    for (const id of [revoked.id, own?.id ?? 0]) await first.client.revokeApiKey(id);
    await first.stop();
    const message = /^The given API key was revoked and cannot be used again\. .*--api-key/;
    for (const key of ['given', revoked.key]) await assert.rejects(start(key), didNotStart(9, message));
    for (const key of ['another', kept.key]) await (await start(key)).stop();
  });
});
