import assert from 'node:assert/strict';
import { requestError } from '../../../../src/api/transport/errorMapping.ts';
import type { PendingRetry } from '../../../../src/api/transport/http.ts';
import { errorOf, httpWith, KEY, stubFetch } from './stubFetch.ts';

const change = { requestLine: 'POST /x', isChange: true, key: KEY };
const system = (code: string, syscall?: string) => Object.assign(new Error(code), { code, syscall });
const failed = (cause: unknown) => new TypeError('fetch failed', { cause });

describe('requestError', () => {
  const rows: readonly [string, unknown, string | undefined, boolean][] = [
    ['refused', failed(system('ECONNREFUSED', 'connect')), 'ECONNREFUSED', false],
    ['unknown host', failed(system('ENOTFOUND', 'getaddrinfo')), 'ENOTFOUND', false],
    ['connecting took too long', failed(system('ETIMEDOUT', 'connect')), 'ETIMEDOUT', false],
    ['a live connection timed out', failed(system('ETIMEDOUT', 'read')), 'ETIMEDOUT', true],
    ['no connection in time', failed(system('UND_ERR_CONNECT_TIMEOUT')), 'UND_ERR_CONNECT_TIMEOUT', false],
    ['a live connection lost its network', failed(system('EHOSTUNREACH', 'read')), 'EHOSTUNREACH', true],
    ['a failed lookup', failed(system('EAI_FAIL', 'getaddrinfo')), 'EAI_FAIL', false],
    ['refused, without the system call', failed(system('ECONNREFUSED')), 'ECONNREFUSED', false],
    ['unknown host, without the system call', failed(system('ENOTFOUND')), 'ENOTFOUND', false],
    ['lookup to be repeated, without the system call', failed(system('EAI_AGAIN')), 'EAI_AGAIN', false],
    ['reset', failed(system('ECONNRESET', 'read')), 'ECONNRESET', true],
    ['closed', failed(system('UND_ERR_SOCKET')), 'UND_ERR_SOCKET', true],
    ['an invalid certificate', failed(system('CERT_HAS_EXPIRED')), 'CERT_HAS_EXPIRED', false],
    [
      'an alert after the handshake',
      failed(system('ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC')),
      'ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC',
      true,
    ],
    [
      'a nested cause',
      failed(new Error('x', { cause: system('ENETUNREACH', 'connect') })),
      'ENETUNREACH',
      false,
    ],
    [
      'all addresses of a host',
      failed(
        Object.assign(new AggregateError([system('EHOSTUNREACH', 'connect')]), { code: 'ECONNREFUSED' }),
      ),
      'EHOSTUNREACH',
      false,
    ],
    ['no cause', failed(undefined), undefined, true],
    ['a code that is not text', failed(Object.assign(new Error('x'), { code: 23 })), undefined, true],
    ['not an error', 'boom', undefined, true],
  ];
  for (const [what, error, code, mayHaveExecuted] of rows) {
    it(`${what}: ${code}, ${mayHaveExecuted ? 'may have been sent' : 'never sent'}`, () => {
      const mapped = requestError(change, error);
      assert.deepEqual(mapped.fault, { kind: 'network', code });
      assert.equal(mapped.mayHaveExecuted, mayHaveExecuted);
      assert.equal(mapped.message, `POST /x: ${code ?? 'the connection failed'}`);
      assert.ok(!requestError({ ...change, isChange: false }, error).mayHaveExecuted);
    });
  }

  it('stops at an error that is its own cause or contains itself', () => {
    const cause = new Error('x');
    cause.cause = cause;
    const container = new AggregateError([]);
    container.errors.push(container);
    for (const error of [cause, container])
      assert.deepEqual(requestError(change, error).fault, { kind: 'network', code: undefined });
  });
});

describe('responseError', () => {
  const errorFor = (status: number, body: string, headers: Record<string, string> = {}) =>
    errorOf(
      httpWith(
        stubFetch(() => new Response(body, { status, headers })),
        { retries: 0 },
      ).call('POST', '/x'),
    );

  it('has the message, the code and the request id of the service', async () => {
    const body = JSON.stringify({ message: 'no such branch', code: 'NOT_FOUND', request_id: 'r1' });
    const { message, fault } = await errorFor(404, body);
    assert.equal(message, 'no such branch');
    assert.deepEqual(fault, {
      kind: 'rejected',
      status: 404,
      code: 'NOT_FOUND',
      requestId: 'r1',
      retryAfter: undefined,
    });
  });

  const withoutMessage = [
    '',
    '<html>blocked</html>',
    '{"message":7}',
    '{"message":" "}',
    'null',
    '[]',
    '"no"',
    '{"a":',
  ];
  for (const body of withoutMessage) {
    it(`has a message for a body without one: ${JSON.stringify(body)}`, async () =>
      assert.equal((await errorFor(403, body)).message, 'POST /x: status 403'));
  }

  it('removes the key and shortens long texts', async () => {
    const { message, fault } = await errorFor(
      400,
      JSON.stringify({ message: `bad header Bearer ${KEY}`, code: KEY, request_id: 'x'.repeat(5000) }),
    );
    assert.equal(message, 'bad header Bearer …');
    assert.ok(!JSON.stringify(fault).includes(KEY));
    assert.ok(fault.kind === 'rejected' && fault.requestId?.length === 1000);
  });

  for (const [key, message] of [
    ['abcdefg', 'bad abcdefg'],
    ['abcdefgh', 'bad …'],
  ] as const) {
    it(`${key.length} characters ${message === 'bad …' ? 'can' : 'cannot'} be a secret`, async () => {
      const refusal = stubFetch(() => Response.json({ message: `bad ${key}` }, { status: 400 }));
      assert.equal((await errorOf(httpWith(refusal, { key }).call('GET', '/x'))).message, message);
    });
  }

  it('has the number of seconds of Retry-After', async () => {
    const { fault } = await errorFor(429, '{}', { 'retry-after': '7' });
    assert.equal(fault.kind === 'rejected' && fault.retryAfter, 7);
  });

  const statuses = [
    [400, false],
    [408, false],
    [423, false],
    [429, false],
    [499, false],
    [500, true],
    [502, true],
    [503, true],
    [504, true],
  ] as const;
  for (const [status, mayHaveExecuted] of statuses) {
    it(`${status}: the change ${mayHaveExecuted ? 'may have been' : 'was not'} made`, async () =>
      assert.equal((await errorFor(status, '')).mayHaveExecuted, mayHaveExecuted));
  }

  const bodiesOf503 = [
    ['{"code":"","message":"busy"}', 2],
    ['{"request_id":"r1","code":"BUSY","message":"busy"}', 2],
    ['{"message":"Service Unavailable"}', 1],
    ['<html>Service Unavailable</html>', 1],
    ['{"code":"","message":', 1],
    ['null', 1],
    ['', 1],
  ] as const;
  for (const method of ['POST', 'PATCH', 'DELETE'] as const) {
    for (const [body, attempts] of bodiesOf503) {
      it(`503 with ${body || 'no body'}: ${method} is ${attempts === 1 ? 'not ' : ''}retried`, async () => {
        const fetch = stubFetch(() => new Response(body, { status: 503 }));
        const error = await errorOf(httpWith(fetch, { retries: 1 }).call(method, '/x'));
        assert.equal(fetch.calls(), attempts);
        assert.equal(error.mayHaveExecuted, attempts === 1);
      });
    }
  }

  it('429: a change is retried after the time that the service asks for', async () => {
    const tooMany = () => new Response('', { status: 429, headers: { 'retry-after': '0.002' } });
    const retries: PendingRetry[] = [];
    const fetch = stubFetch(tooMany, 200);
    const onRetry = (retry: PendingRetry) => retries.push(retry);
    await httpWith(fetch, { maxDelay: 10 }).call('POST', '/x', {}, { onRetry });
    assert.deepEqual(retries, [{ status: 429, attempt: 1, delay: 2 }]);
    assert.equal(fetch.calls(), 2);
  });

  const targets = [
    ['https://other.example/path?secret=1', 'https://other.example'],
    [`https://${'a'.repeat(300)}.example/`, `https://${'a'.repeat(192)}`],
    ['/other', undefined],
    ['http://[', undefined],
  ] as const;
  for (const [location, detail] of targets) {
    it(`a redirect to ${location} names ${detail ?? 'no origin'}`, async () => {
      const { fault, message } = await errorFor(302, '', { location });
      assert.deepEqual(fault, { kind: 'unexpectedReply', status: 302, reason: 'redirect', detail });
      assert.equal(message, `POST /x returned a redirect${detail === undefined ? '' : ` to ${detail}`}`);
    });
  }

  for (const status of [300, 399]) {
    it(`${status} is a redirect`, async () => {
      const { fault } = await errorFor(status, '');
      assert.equal(fault.kind === 'unexpectedReply' && fault.reason, 'redirect');
    });
  }
});
