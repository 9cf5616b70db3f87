import assert from 'node:assert/strict';
import { ApiError } from '../../../src/api/errors.ts';
import { withService } from './stubService.ts';

const where = {
  computeId: 'ep-1',
  branchId: 'br-main',
  role: 'a b',
  database: 'd&d',
  pooled: true,
  host: 'ep-1-pooler.example',
};

describe('Client.findConnectionUri', () => {
  const fits = [
    'postgres://a:secret@ep-1-pooler.example/d',
    'postgresql://a:s%25%40cret@EP-1-pooler.example:5432/d?sslmode=require&channel_binding=require',
  ];
  for (const uri of fits) {
    it(`returns ${uri}`, () =>
      withService(
        () => ({ json: { uri } }),
        async (client) => assert.equal(await client.findConnectionUri('shop', where), uri),
      ));
  }

  const start = 'postgresql://a:secret@ep-1-pooler.example';
  const badUris: readonly (readonly [what: string, uri: string, reason: string])[] = [
    ['a line break', `${start}/d\nPATH=/tmp`, 'shape'],
    ['an encoded line break in the password', 'postgresql://a:b%0Ac@ep-1-pooler.example/d', 'shape'],
    ['a space', `${start}/d d`, 'shape'],
    ['a quotation mark', `${start}/d"`, 'shape'],
    ['another scheme', 'https://a:secret@ep-1-pooler.example/d', 'shape'],
    ['no database', start, 'shape'],
    ['two logins', 'postgresql://a:b@other.example@ep-1-pooler.example/d', 'shape'],
    ['the direct host for a pooled one', 'postgresql://a:secret@ep-1.example/d', 'host'],
    ['another host', 'postgresql://a:secret@other.example/d', 'host'],
    ['a host that begins like it', 'postgresql://a:secret@ep-1-pooler.example.org/d', 'host'],
    ['another port', `${start}:6432/d`, 'host'],
    ['two hosts', `${start},other.example/d`, 'host'],
    ['another host in the query', `${start}/d?sslmode=require&host=other.example`, 'host'],
    ['another address in the query', `${start}/d?%68ostaddr=192.0.2.1`, 'host'],
    ['a service in the query', `${start}/d?service=other`, 'host'],
  ];
  for (const [what, uri, reason] of badUris) {
    it(`rejects a URI with ${what}`, () =>
      withService(
        () => ({ json: { uri } }),
        async (client) =>
          assert.rejects(client.findConnectionUri('shop', where), (error) => {
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
        assert.rejects(client.findConnectionUri('shop', where), {
          message: 'GET /projects/shop/connection_uri returned another host',
          fault: { kind: 'unexpectedReply', status: 200, reason: 'host', detail: 'other.example' },
        }),
    ));
});
