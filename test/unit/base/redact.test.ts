import assert from 'node:assert/strict';
import { redact } from '../../../src/base/redact.ts';
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
  ] as const;
  for (const [text, clean] of rows) {
    it(`turns ${text} into ${clean}`, () => assert.equal(redact(text), clean));
  }

  it('removes known secrets wherever they are', () =>
    assert.equal(redact('a=s3cret&b=s3cret', ['', 's3cret']), 'a=‹redacted›&b=‹redacted›'));

  for (const unit of [
    'a.',
    'a-',
    'a://b:',
    '://b:@',
    'Bearer ',
    'key="',
    'password   ',
    'napi_',
    '?password=',
  ]) {
    it(`takes linear time for repeated ${JSON.stringify(unit)}`, () => assertLinear(unit, 1000, redact));
  }
});
