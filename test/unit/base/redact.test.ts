import assert from 'node:assert/strict';
import { hideKnownSecrets, redact } from '../../../src/base/redact.ts';
import { assertLinear } from '../../helpers/assertLinear.ts';

describe('redact', () => {
  const rows = [
    ['postgresql://me:s3cret@ep-a/app', 'postgresql://me:‹redacted›@ep-a/app'],
    ['a://b:c d://e:f:g/h@i', 'a://b:c d://e:‹redacted›@i'],
    ['see https://example.com:8080/v2', 'see https://example.com:8080/v2'],
    ['a://b:c@d, e://f:g@h', 'a://b:‹redacted›@d, e://f:‹redacted›@h'],
    ['Authorization: Bearer abc', 'Authorization: Bearer ‹redacted›'],
    ['the key napi_abcdefghijklmnop', 'the key ‹redacted›'],
    ['postgresql://role:pa%40ss@host/db', 'postgresql://role:‹redacted›@host/db'],
    ['postgresql://role:p@s/s:w@host/db', 'postgresql://role:‹redacted›@host/db'],
    ['postgresql://me@corp:s3cret@host/db?x=1 and', 'postgresql://me@corp:‹redacted›@host/db?x=1 and'],
    [
      'jdbc:postgresql://h/db?user=me&password=s3@cret&ssl=1',
      'jdbc:postgresql://h/db?user=me&password=‹redacted›&ssl=1',
    ],
    ['{"key":"value-of-a-created-key"}', '{"key":"‹redacted›"}'],
    ['{"password": "hunter22"}', '{"password": "‹redacted›"}'],
    ['"api_key": "abc"', '"api_key": "‹redacted›"'],
    ["{ apiKey: 'abc' }", "{ apiKey: '‹redacted›' }"],
    ['PGPASSWORD=abc psql', 'PGPASSWORD=‹redacted› psql'],
    ['host=h password=a&b user=u', 'host=h password=‹redacted› user=u'],
    [String.raw`password = 'a\' b' user=u`, 'password = ‹redacted› user=u'],
    ["password='cut off", 'password=‹redacted›'],
    ['bearer abcdefghijklmnopqrstuvwxyz.0123', 'bearer ‹redacted›'],
    ['postgres://u:2024/Summer@h/db', 'postgres://u:‹redacted›@h/db'],
    ['postgres://u:12#x@h/db', 'postgres://u:‹redacted›@h/db'],
    ['postgres://u:12?x@h/db', 'postgres://u:‹redacted›@h/db'],
    ['http://a:80/?next=b://c:d@e', 'http://a:‹redacted›@e'],
    ['http://a:80 b://c:1@e', 'http://a:80 b://c:‹redacted›@e'],
  ] as const;
  for (const [text, clean] of rows) {
    it(`turns ${text} into ${clean}`, () => assert.equal(redact(text), clean));
  }

  const harmless = [
    '{"monkey": "george"}',
    '{"primary_key": "id"}',
    'the bearer of this',
    'http://localhost:3000/u/alice',
    'Failed to read the password: no such file',
    'password authentication failed for user "me"',
  ];
  for (const text of harmless) it(`keeps ${text}`, () => assert.equal(redact(text), text));

  it('removes known secrets wherever they are', () =>
    assert.equal(redact('a=s3cret&b=s3cret', ['', 's3cret']), 'a=‹redacted›&b=‹redacted›'));

  it('removes only known secrets from data, and no short ones', () => {
    const text = 'a://b:c@d password=test s3cret-key';
    assert.equal(hideKnownSecrets(text, ['', 'test', 's3cret-key']), 'a://b:c@d password=test ‹redacted›');
  });

  for (const unit of [
    'a.',
    'a-',
    'a://b:',
    '://b:@',
    'Bearer ',
    'key="',
    'key="\\',
    "password='",
    "password='\\'",
    'authorization:',
    '://b:1',
    'password   ',
    'napi_',
    '?password=',
  ]) {
    it(`takes linear time for repeated ${JSON.stringify(unit)}`, () => assertLinear(unit, 1000, redact));
  }
});
