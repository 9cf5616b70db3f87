import assert from 'node:assert/strict';
import fc from '../../../helpers/fastCheck.ts';
import { readConnectionUri, type Credentials } from '../../../../src/api/addresses/connectionUri.ts';
import { isSameHost } from '../../../../src/api/addresses/host.ts';

/** Strings that URI parsers interpret differently in unusual places. */
const PIECES = '@ : / ? # & , = \\ %0A %40 [ ] user pass good.example other.example :5432 ::1 :70000';
const pieces = fc.array(fc.constantFrom('\n', '\t', ' ', ...PIECES.split(' ')), { maxLength: 5 });
const text = pieces.map((parts) => parts.join(''));

describe('readConnectionUri', () => {
  const start = 'postgresql://a:secret@ep-1.example';
  const plain = { password: 'secret', sslMode: undefined, channelBinding: false };
  const readable: readonly (readonly [uri: string, credentials: Credentials])[] = [
    ['postgres://a:secret@ep-1.example/d', plain],
    [
      'postgresql://a:s%25%40cret@ep-1.example/d?sslmode=require&channel_binding=require',
      { password: 's%@cret', sslMode: 'require', channelBinding: true },
    ],
    [`${start}/d?sslmode=verify-ca`, { ...plain, sslMode: 'verify-ca' }],
    [`${start}/d?sslmode=verify-full`, { ...plain, sslMode: 'verify-full' }],
    ['postgresql://a:100%@ep-1.example/d', { ...plain, password: '100%' }],
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
  for (const [uri, credentials] of readable)
    it(`reads ${uri}`, () => assert.deepEqual(readConnectionUri(uri), { host: 'ep-1.example', credentials }));

  for (const uri of [
    'postgresql://a:b%0Ac@ep-1.example/d',
    '',
    'https://a:secret@ep-1.example/d',
    'postgresql://a@ep-1.example/d',
    start,
    'postgresql://a:b@other.example@ep-1.example/d',
  ])
    it(`rejects ${uri}`, () => assert.equal(readConnectionUri(uri), undefined));

  it('reads only URIs with one host, and passwords without control characters', () => {
    let accepted = 0;
    fc.assert(
      fc.property(text, text, text, text, (user, password, host, database) => {
        const uri = `postgresql://u${user}:p${password}@good.example${host}/d${database}`;
        const read = readConnectionUri(uri);
        if (read === undefined || !isSameHost(read.host, 'good.example')) return;
        accepted += 1;
        assert.doesNotMatch(read.credentials.password, /\p{Cc}/u);
        const authority = /^\w+:\/\/[^/?]*/.exec(uri)?.[0];
        assert.equal(authority?.split('@').length, 2, 'two logins');
      }),
      { numRuns: 5000 },
    );
    assert.ok(accepted > 0);
  });
});
