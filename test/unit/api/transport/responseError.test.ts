import assert from 'node:assert/strict';
import type { Wait } from '../../../../src/api/transport/http.ts';
import { stubFetch, errorOf, KEY, httpWith } from './stubFetch.ts';

describe('a refusal', () => {
  const refusedWith = (status: number, body: string, headers: Record<string, string> = {}) =>
    errorOf(
      httpWith(
        stubFetch(() => new Response(body, { status, headers })),
        { retries: 0 },
      ).call('post', '/x'),
    );

  it('has the words, the code and the request id of the service', async () => {
    const body = JSON.stringify({ message: 'no such branch', code: 'NOT_FOUND', request_id: 'r1' });
    const { message, fault } = await refusedWith(404, body);
    assert.equal(message, 'no such branch');
    assert.deepEqual(fault, {
      kind: 'refused',
      status: 404,
      code: 'NOT_FOUND',
      requestId: 'r1',
      retryAfter: undefined,
    });
  });

  const wordless = [
    '',
    '<html>blocked</html>',
    '{"message":7}',
    '{"message":" "}',
    'null',
    '[]',
    '"no"',
    '{"a":',
  ];
  for (const body of wordless) {
    it(`without words of the service has ours: ${JSON.stringify(body)}`, async () =>
      assert.equal((await refusedWith(403, body)).message, 'POST /x: status 403'));
  }

  it('does not repeat the key, nor more than a screenful', async () => {
    const { message, fault } = await refusedWith(
      400,
      JSON.stringify({ message: `bad header Bearer ${KEY}`, code: KEY, request_id: 'x'.repeat(5000) }),
    );
    assert.equal(message, 'bad header Bearer …');
    assert.ok(!JSON.stringify(fault).includes(KEY));
    assert.ok(fault.kind === 'refused' && fault.requestId?.length === 1000);
  });

  it('tells how long to wait, where the service asked for it', async () => {
    const { fault } = await refusedWith(429, '{}', { 'retry-after': '7' });
    assert.equal(fault.kind === 'refused' && fault.retryAfter, 7);
  });

  const statuses = [
    [400, false],
    [408, false],
    [423, false],
    [429, false],
    [500, true],
    [502, true],
    [503, true],
    [504, true],
  ] as const;
  for (const [status, arrived] of statuses) {
    it(`of ${status} ${arrived ? 'leaves open' : 'means'} that nothing was changed`, async () =>
      assert.equal((await refusedWith(status, '')).mayHaveExecuted, arrived));
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
  for (const method of ['post', 'patch', 'delete'] as const) {
    for (const [body, attempts] of bodiesOf503) {
      it(`of 503 with ${body || 'no body'} is ${attempts === 1 ? 'not ' : ''}followed by another ${method}`, async () => {
        const fetch = stubFetch(() => new Response(body, { status: 503 }));
        const error = await errorOf(httpWith(fetch, { retries: 1 }).call(method, '/x'));
        assert.equal(fetch.calls(), attempts);
        assert.equal(error.mayHaveExecuted, attempts === 1);
      });
    }
  }

  it('of 429 is followed by another attempt at a change, after the time that the service asks for', async () => {
    const tooMany = () => new Response('', { status: 429, headers: { 'retry-after': '0.002' } });
    const waits: Wait[] = [];
    const fetch = stubFetch(tooMany, 200);
    const onWait = (wait: Wait) => waits.push(wait);
    await httpWith(fetch, { longestWait: 10 }).call('post', '/x', {}, { onWait });
    assert.deepEqual(waits, [{ status: 429, attempt: 1, milliseconds: 2 }]);
    assert.equal(fetch.calls(), 2);
  });

  const targets = [
    ['https://other.example/path?secret=1', 'https://other.example'],
    ['/elsewhere', undefined],
    ['http://[', undefined],
  ] as const;
  for (const [location, detail] of targets) {
    it(`by a redirect to ${location} names ${detail ?? 'no origin'}`, async () => {
      const { fault, message } = await refusedWith(302, '', { location });
      assert.deepEqual(fault, { kind: 'unexpectedReply', status: 302, reason: 'redirect', detail });
      assert.ok(!message.includes('secret'));
    });
  }
});
