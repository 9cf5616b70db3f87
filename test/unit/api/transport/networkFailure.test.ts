import assert from 'node:assert/strict';
import { isCertificateCode, networkFailure } from '../../../../src/api/transport/networkFailure.ts';

const system = (code: string, syscall?: string) => Object.assign(new Error(code), { code, syscall });
const failed = (cause: unknown) => new TypeError('fetch failed', { cause });

describe('a failed fetch', () => {
  const rows: readonly [string, unknown, string | undefined, boolean][] = [
    ['refused', failed(system('ECONNREFUSED', 'connect')), 'ECONNREFUSED', false],
    ['unknown host', failed(system('ENOTFOUND', 'getaddrinfo')), 'ENOTFOUND', false],
    ['connecting took too long', failed(system('ETIMEDOUT', 'connect')), 'ETIMEDOUT', false],
    ['a live connection timed out', failed(system('ETIMEDOUT', 'read')), 'ETIMEDOUT', true],
    ['connecting given up', failed(system('UND_ERR_CONNECT_TIMEOUT')), 'UND_ERR_CONNECT_TIMEOUT', false],
    ['reset', failed(system('ECONNRESET', 'read')), 'ECONNRESET', true],
    ['closed', failed(system('UND_ERR_SOCKET')), 'UND_ERR_SOCKET', true],
    ['a wrong certificate', failed(system('CERT_HAS_EXPIRED')), 'CERT_HAS_EXPIRED', false],
    ['two layers', failed(new Error('x', { cause: system('ENETUNREACH', 'connect') })), 'ENETUNREACH', false],
    [
      'all addresses of a host',
      failed(
        Object.assign(new AggregateError([system('EHOSTUNREACH', 'connect')]), { code: 'ECONNREFUSED' }),
      ),
      'EHOSTUNREACH',
      false,
    ],
    ['no reason at all', failed(undefined), undefined, true],
    ['a code that is none', failed(Object.assign(new Error('x'), { code: 23 })), undefined, true],
    ['no error', 'boom', undefined, true],
  ];
  for (const [what, error, code, arrived] of rows) {
    it(`${what}: ${code}, ${arrived ? 'may have been sent' : 'never sent'}`, () => {
      const failure = networkFailure(error);
      assert.deepEqual(failure.fault, { kind: 'network', code });
      assert.equal(failure.mayHaveExecuted, arrived);
    });
  }

  it('that is its own cause comes to an end', () => {
    const error = new Error('x');
    error.cause = error;
    assert.deepEqual(networkFailure(error).fault, { kind: 'network', code: undefined });
  });

  it('is the certificate’s fault by its code', () => {
    for (const code of [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'CERT_HAS_EXPIRED',
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ])
      assert.ok(isCertificateCode(code), code);
    for (const code of ['ECONNRESET', 'ENOTFOUND', 'UND_ERR_SOCKET', undefined])
      assert.ok(!isCertificateCode(code), code);
  });
});
