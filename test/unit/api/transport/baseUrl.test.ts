import assert from 'node:assert/strict';
import { isLoopback } from '../../../../src/api/addresses/host.ts';
import { baseUrlOrUndefined, completeBaseUrl, parseBaseUrl } from '../../../../src/api/transport/baseUrl.ts';
import { PUBLIC_BASE_URL } from '../../../helpers/publicBaseUrl.ts';
import { assertLinear } from '../../../helpers/assertLinear.ts';

describe('parseBaseUrl', () => {
  const good = [
    ['https://console.neon.tech/api/v2', PUBLIC_BASE_URL],
    ['  https://console.neon.tech/api/v2/ \n', PUBLIC_BASE_URL],
    ['https://console.neon.tech/api/v2///', PUBLIC_BASE_URL],
    ['HTTPS://CONSOLE.Neon.tech:443/api/v2', PUBLIC_BASE_URL],
    ['https://host.example/v2', 'https://host.example/v2'],
    ['https://host.example:8443/a/b/v2', 'https://host.example:8443/a/b/v2'],
    ['http://127.0.0.1:8790/api/v2', 'http://127.0.0.1:8790/api/v2'],
    ['http://127.1:8790/api/v2', 'http://127.0.0.1:8790/api/v2'],
    ['http://localhost:8790/api/v2', 'http://localhost:8790/api/v2'],
    ['http://[::1]:8790/api/v2', 'http://[::1]:8790/api/v2'],
    ['https://host.example/x/../api/v2', 'https://host.example/api/v2'],
  ] as const;
  for (const [text, normalized] of good) {
    it(`accepts ${JSON.stringify(text)}`, () => assert.equal(parseBaseUrl(text), normalized));
  }

  const bad = [
    ['', 'not-a-url'],
    ['console.neon.tech/api/v2', 'not-a-url'],
    ['ftp://host.example/api/v2', 'not-a-url'],
    ['file:///api/v2', 'not-a-url'],
    ['javascript:alert(1)//v2', 'not-a-url'],
    ['https://', 'not-a-url'],
    ['http://host.example/api/v2', 'not-https'],
    ['http://localhost.example/api/v2', 'not-https'],
    ['http://127.0.0.1.example/api/v2', 'not-https'],
    ['http://localhost@host.example/api/v2', 'not-https'],
    ['http://0.0.0.0/api/v2', 'not-https'],
    ['https://user@host.example/api/v2', 'credentials'],
    ['https://user:pass@host.example/api/v2', 'credentials'],
    ['https://:pass@host.example/api/v2', 'credentials'],
    ['https://host.example/api/v2?', 'query-or-fragment'],
    ['https://host.example/api/v2?x=1', 'query-or-fragment'],
    ['https://host.example/api/v2#', 'query-or-fragment'],
    ['https://host.example/api/v2#top', 'query-or-fragment'],
    ['https://host.example', 'no-version'],
    ['https://host.example/api', 'no-version'],
    ['https://host.example/api/v3', 'no-version'],
    ['https://host.example/apiv2', 'no-version'],
    ['https://host.example/api/v2/projects', 'no-version'],
    ['https://host.example/api/v2/..', 'no-version'],
  ] as const;
  for (const [text, problem] of bad) {
    it(`rejects ${JSON.stringify(text)}: ${problem}`, () => {
      assert.deepEqual(parseBaseUrl(text), { problem });
      assert.equal(baseUrlOrUndefined(text), undefined);
    });
  }

  it('does not change a normalized address', () => {
    for (const [, normalized] of good) assert.equal(parseBaseUrl(normalized), normalized);
  });
});

describe('isLoopback', () => {
  it('accepts only the names of this machine', () => {
    for (const name of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]']) assert.ok(isLoopback(name), name);
    for (const name of ['', 'localhost.example', '127.0.0.1.example', '0.0.0.0', '10.0.0.1'])
      assert.ok(!isLoopback(name), name);
  });

  it('takes linear time for many slashes', () =>
    assertLinear('/', 1000, (slashes) => parseBaseUrl(`https://example.com/${slashes}x/v2`)));
});

describe('completeBaseUrl', () => {
  for (const [text, completed] of [
    ['https://console.neon.tech', PUBLIC_BASE_URL],
    [' https://console.neon.tech/ ', PUBLIC_BASE_URL],
    ['https://host.example:8443/api/', 'https://host.example:8443/api/v2'],
    ['http://127.0.0.1:8790/api', 'http://127.0.0.1:8790/api/v2'],
  ] as const)
    it(`completes ${JSON.stringify(text)}`, () => assert.equal(completeBaseUrl(text), completed));

  for (const text of [
    'https://host.example/v2',
    'https://host.example/other',
    'https://host.example/?a',
    'host',
    '',
  ])
    it(`leaves ${JSON.stringify(text)}`, () => assert.equal(completeBaseUrl(text), text));

  it('leaves what is checked to the check', () => {
    assert.deepEqual(parseBaseUrl(completeBaseUrl('https://user@host.example')), { problem: 'credentials' });
    assert.deepEqual(parseBaseUrl(completeBaseUrl('http://host.example')), { problem: 'not-https' });
  });
});
