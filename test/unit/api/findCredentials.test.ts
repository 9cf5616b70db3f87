import assert from 'node:assert/strict';
import { ApiError } from '../../../src/api/errors.ts';
import type { Credentials } from '../../../src/api/records/connectionUri.ts';
import { withService } from './stubService.ts';

const where = {
  computeId: 'ep-1',
  branchId: 'br-main',
  role: 'a b',
  database: 'd&d',
  pooled: true,
  host: 'ep-1-pooler.example',
};

describe('Client.findCredentials', () => {
  const start = 'postgresql://a:secret@ep-1-pooler.example';
  const plain = { password: 'secret', sslMode: undefined, channelBinding: false };
  const fits: readonly (readonly [uri: string, credentials: Credentials])[] = [
    ['postgres://a:secret@ep-1-pooler.example/d', plain],
    [
      'postgresql://a:s%25%40cret@EP-1-pooler.example:5432/d?sslmode=require&channel_binding=require',
      { password: 's%@cret', sslMode: 'require', channelBinding: true },
    ],
    [`${start}/d?sslmode=verify-full`, { ...plain, sslMode: 'verify-full' }],
    ['postgresql://a:100%@ep-1-pooler.example/d', { ...plain, password: '100%' }],
    // Parameters that read or write files, run in a shell, weaken TLS or lead to another host or login.
    ...[
      'application_name=$(touch$IFS/tmp/x)',
      'sslkeylogfile=/home/me/.bashrc&sslkey=/home/me/key',
      'sslmode=disable',
      'sslmode=verify-full`id`&channel_binding=disable',
      'user=postgres&dbname=other',
      'host=other.example&%68ostaddr=192.0.2.1&port=1&service=other',
    ].map((query) => [`${start}/d?${query}`, plain] as const),
  ];
  for (const [uri, credentials] of fits) {
    it(`reads ${uri}`, () =>
      withService(
        () => ({ json: { uri } }),
        async (client) => assert.deepEqual(await client.findCredentials('shop', where), credentials),
      ));
  }

  const badUris: readonly (readonly [what: string, uri: string, reason: string])[] = [
    ['an encoded line break in the password', 'postgresql://a:b%0Ac@ep-1-pooler.example/d', 'shape'],
    ['another scheme', 'https://a:secret@ep-1-pooler.example/d', 'shape'],
    ['no database', start, 'shape'],
    ['two logins', 'postgresql://a:b@other.example@ep-1-pooler.example/d', 'shape'],
    ['the direct host for a pooled one', 'postgresql://a:secret@ep-1.example/d', 'host'],
    ['another host', 'postgresql://a:secret@other.example/d', 'host'],
    ['a host that begins like it', 'postgresql://a:secret@ep-1-pooler.example.org/d', 'host'],
    ['another port', `${start}:6432/d`, 'host'],
    ['two hosts', `${start},other.example/d`, 'host'],
  ];
  for (const [what, uri, reason] of badUris) {
    it(`rejects a URI with ${what}`, () =>
      withService(
        () => ({ json: { uri } }),
        async (client) =>
          assert.rejects(client.findCredentials('shop', where), (error) => {
            assert.ok(error instanceof ApiError && error.fault.kind === 'unexpectedReply');
            assert.equal(error.fault.reason, reason);
            assert.doesNotMatch(`${error.message} ${error.fault.detail}`, /secret/);
            return true;
          }),
      ));
  }

  it('names the other host', () =>
    withService(
      () => ({ json: { uri: 'postgresql://a:secret@other.example/d' } }),
      async (client) =>
        assert.rejects(client.findCredentials('shop', where), {
          message: 'GET /projects/shop/connection_uri returned another host',
          fault: { kind: 'unexpectedReply', status: 200, reason: 'host', detail: 'other.example' },
        }),
    ));
});
