import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { mock } from 'node:test';
import { inspect } from 'node:util';
import { PUBLIC_BASE_URL } from '../../../helpers/publicBaseUrl.ts';
import { faultOf } from '../../../../src/api/transport/errors.ts';
import { Http, type PendingRetry } from '../../../../src/api/transport/http.ts';
import { MAX_BODY_BYTES, type Fetch } from '../../../../src/api/transport/request.ts';
import { errorOf, httpWith, KEY, stubFetch, timers } from './stubFetch.ts';

const never = new Promise<never>(() => undefined);

describe('Http', () => {
  it('sends the key, accepts JSON and leaves out undefined parameters', async () => {
    const seen: Parameters<Fetch>[] = [];
    const fetch: Fetch = async (...args) => {
      seen.push(args);
      return new Response('{"a":1}');
    };
    const http = httpWith(fetch);
    const query = { limit: 400, cursor: undefined, org_id: 'a&b=c', pooled: false };
    const reply = await http.call('GET', '/projects', { query });
    assert.deepEqual(reply, {
      requestLine: 'GET /projects',
      isChange: false,
      status: 200,
      json: { a: 1 },
      body: '{"a":1}',
    });
    assert.equal(seen[0]?.[0], `${PUBLIC_BASE_URL}/projects?limit=400&org_id=a%26b%3Dc&pooled=false`);
    const headers = new Headers(seen[0]?.[1].headers);
    assert.equal(headers.get('authorization'), `Bearer ${KEY}`);
    assert.equal(headers.get('accept'), 'application/json');
    assert.equal(headers.get('content-type'), null);
  });

  it('sends the body with each attempt', async () => {
    const bodies: unknown[] = [];
    const fetch: Fetch = async (_, init) => {
      bodies.push(init?.body);
      assert.equal(new Headers(init?.headers).get('content-type'), 'application/json');
      return new Response('{}', { status: bodies.length < 3 ? 423 : 200 });
    };
    await httpWith(fetch).call('POST', '/api_keys', { body: { key_name: 'é' } });
    assert.deepEqual(bodies, Array(3).fill('{"key_name":"é"}'));
  });

  it('reports each wait when it begins', async () => {
    const waits: PendingRetry[] = [];
    await httpWith(stubFetch(423, 429, 200)).call('POST', '/x', {}, { onRetry: (wait) => waits.push(wait) });
    assert.deepEqual(
      waits.map(({ status, attempt }) => [status, attempt]),
      [
        [423, 1],
        [429, 2],
      ],
    );
    assert.ok(waits.every(({ delay }) => delay > 0 && delay <= 1));
  });

  it('waits before the next attempt', async () => {
    const times: number[] = [];
    const fetch = stubFetch(() => {
      times.push(performance.now());
      return times.length > 1
        ? new Response('{}')
        : new Response('', { status: 503, headers: { 'retry-after': '0.02' } });
    });
    await httpWith(fetch, { maxDelay: 20 }).call('GET', '/x');
    const [first = 0, second = 0] = times;
    assert.ok(second - first >= 19, `${second - first} ms`); // A timer may fire within its last millisecond.
  });

  it('throws the last error if the next attempt would be too late', async () => {
    const fetch = stubFetch(
      () => new Response('{"message":"busy"}', { status: 503, headers: { 'retry-after': '9' } }),
    );
    const http = httpWith(fetch, { limits: { total: 5000 }, maxDelay: 30_000 });
    const error = await errorOf(http.call('GET', '/x'));
    assert.deepEqual([error.message, error.mayHaveExecuted, fetch.calls()], ['busy', false, 1]);
  });

  it('retries five times by default', async () => {
    const fetch = stubFetch(() => new Response('', { status: 503, headers: { 'retry-after': '0.001' } }));
    const http = new Http({ baseUrl: PUBLIC_BASE_URL, key: KEY, fetch });
    await assert.rejects(http.call('GET', '/x'));
    assert.equal(fetch.calls(), 6);
  });

  const defaults = [
    ['waits for up to 30 seconds by default', 30, undefined, 30_000],
    ['does not wait for longer than 30 seconds by default', 30.001, undefined, undefined],
    ['waits if the next attempt is within two minutes', 119.999, 200_000, 119_999],
    ['does not wait if the next attempt is not within two minutes', 120, 200_000, undefined],
  ] as const;
  for (const [title, seconds, maxDelay, wait] of defaults) {
    it(title, async () => {
      const abort = new AbortController();
      const headers = { 'retry-after': String(seconds) };
      const fetch = stubFetch(() => new Response('', { status: 503, headers }));
      const http = new Http({ baseUrl: PUBLIC_BASE_URL, key: KEY, fetch, maxDelay });
      let waited: number | undefined;
      const onRetry = ({ delay }: PendingRetry) => {
        waited = delay;
        abort.abort();
      };
      const now = mock.method(performance, 'now', () => 0);
      try {
        await assert.rejects(http.call('GET', '/x', {}, { signal: abort.signal, onRetry }));
      } finally {
        now.mock.restore();
      }
      assert.equal(waited, wait);
    });
  }

  it('ends an attempt after 30 seconds by default', async () => {
    const timeout = mock.method(AbortSignal, 'timeout', () => AbortSignal.abort());
    try {
      const http = httpWith(() => never, { retries: 0 });
      assert.equal((await errorOf(http.call('GET', '/x'))).message, 'GET /x: no reply within 30000 ms');
    } finally {
      timeout.mock.restore();
    }
  });

  it('accepts every status from 200 to 299', async () => {
    for (const status of [200, 299])
      assert.equal((await httpWith(stubFetch(status)).call('GET', '/x')).status, status);
  });

  for (const limits of [{ total: 5 }, { attempt: 5 }]) {
    it(`throws a timeout after the ${Object.keys(limits).join('')} limit`, async () => {
      const error = await errorOf(httpWith(() => never, { limits }).call('DELETE', '/x'));
      assert.deepEqual(error.fault, { kind: 'timeout' });
      assert.ok(error.mayHaveExecuted);
      assert.match(error.message, /^DELETE \/x: no reply within [1-5] ms$/);
    });
  }

  it('retries a read that timed out', async () => {
    const http = httpWith(
      stubFetch(() => never, 200),
      { limits: { attempt: 5 } },
    );
    assert.equal((await http.call('GET', '/x')).status, 200);
  });

  it('sends nothing if it was cancelled before', async () => {
    const fetch = stubFetch(200);
    const error = await errorOf(httpWith(fetch).call('POST', '/x', {}, { signal: AbortSignal.abort() }));
    assert.deepEqual(error.fault, { kind: 'cancelled' });
    assert.equal(error.message, 'POST /x was cancelled');
    assert.deepEqual([error.mayHaveExecuted, fetch.calls()], [false, 0]);
  });

  it('throws cancelled when the caller cancels an attempt', async () => {
    const abort = new AbortController();
    const call = errorOf(httpWith(() => never).call('POST', '/x', {}, { signal: abort.signal }));
    await new Promise(setImmediate);
    abort.abort();
    const error = await call;
    assert.deepEqual([error.fault, error.mayHaveExecuted], [{ kind: 'cancelled' }, true]);
  });

  it('throws cancelled when the caller cancels a wait', async () => {
    const abort = new AbortController();
    const http = httpWith(stubFetch(423), { maxDelay: 60_000 });
    const options = { signal: abort.signal, onRetry: () => abort.abort() };
    const error = await errorOf(http.call('POST', '/x', {}, options));
    assert.deepEqual([error.fault, error.mayHaveExecuted], [{ kind: 'cancelled' }, false]);
  });

  it('reports that a read changed nothing', async () => {
    for (const fetch of [() => never, stubFetch(500), stubFetch(() => new Response('<p>'))]) {
      const error = await errorOf(httpWith(fetch, { limits: { attempt: 5 }, retries: 0 }).call('GET', '/x'));
      assert.ok(!error.mayHaveExecuted);
    }
  });

  it('does not change programming errors', async () => {
    const onRetry = () => {
      throw new RangeError('a bug');
    };
    await assert.rejects(httpWith(stubFetch(503)).call('GET', '/x', {}, { onRetry }), RangeError);
  });

  it('leaves no timers and no listeners', async () => {
    // Mocha sets its timer after the first step of the test.
    await Promise.resolve();
    const before = timers();
    const { signal } = new AbortController();
    await httpWith(stubFetch(200)).call('GET', '/x', {}, { signal });
    await httpWith(stubFetch(503, 200)).call('GET', '/x', {}, { signal });
    await httpWith(stubFetch(404)).call('GET', '/x', {}, { signal }).catch(faultOf);
    await httpWith(() => never, { limits: { total: 5 } })
      .call('GET', '/x', {}, { signal })
      .catch(faultOf);
    assert.equal(timers(), before);
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });

  it('rejects a key that is not safe in a header, without repeating it', () => {
    assert.throws(
      () => httpWith(stubFetch(200), { key: `${KEY}\n` }),
      (error) =>
        faultOf(error)?.kind === 'invalidRequest' &&
        inspect(error).includes('The API key is empty or contains spaces') &&
        !inspect(error).includes(KEY),
    );
  });

  it('does not show its key when it is printed', () => {
    const http = httpWith(stubFetch(200));
    assert.ok(!inspect(http, { depth: 9, showHidden: true }).includes(KEY));
    assert.equal(JSON.stringify(http), '{}');
  });
});

describe('the body of a response', () => {
  const bodies: readonly [string, () => Response, unknown][] = [
    ['missing', () => new Response(null, { status: 204 }), undefined],
    ['empty', () => new Response(''), undefined],
    ['a byte order mark before JSON', () => new Response('\uFEFF{"a":1}'), { a: 1 }],
    [
      'JSON with another content type',
      () => new Response('[1]', { headers: { 'content-type': 'text/html' } }),
      [1],
    ],
    ['null', () => new Response('null'), null],
  ];
  for (const [what, response, json] of bodies) {
    it(`may be ${what}`, async () =>
      assert.deepEqual((await httpWith(stubFetch(response)).call('GET', '/x')).json, json));
  }

  const oddities: readonly [string, () => Response, string, string][] = [
    ['a web page', () => new Response('<!DOCTYPE html>'), 'html', 'a web page'],
    [
      'a web page by its content type',
      () => new Response('Hi', { headers: { 'content-type': 'text/html' } }),
      'html',
      'a web page',
    ],
    ['incomplete JSON', () => new Response('{"a":'), 'json', 'broken JSON'],
    ['blank', () => new Response('  '), 'json', 'broken JSON'],
    ['binary', () => new Response(new Uint8Array([0xff, 0xfe, 0x00])), 'json', 'broken JSON'],
    ['too large', () => new Response(new Uint8Array(MAX_BODY_BYTES + 1)), 'tooLarge', 'too large a body'],
  ];
  for (const [what, response, reason, shown] of oddities) {
    it(`throws '${reason}' if it is ${what}`, async () => {
      const { fault, message } = await errorOf(httpWith(stubFetch(response)).call('GET', '/x'));
      assert.equal(fault.kind === 'unexpectedReply' && fault.reason, reason);
      assert.equal(message, `GET /x returned ${shown}`);
    });
  }
});

describe('Http.getIfChanged', () => {
  it('returns undefined only for the same body', async () => {
    const texts = ['{"a":1}', '{"a":1}', '{"a":1} ', '{"a":2}', '{"a":1}'];
    const http = httpWith(async () => new Response(texts.shift()));
    const first = await http.getIfChanged('/x', undefined);
    assert.deepEqual(first?.json, { a: 1 });
    assert.equal(await http.getIfChanged('/x', first.body), undefined);
    assert.deepEqual((await http.getIfChanged('/x', first.body))?.json, { a: 1 });
    assert.deepEqual((await http.getIfChanged('/x', first.body))?.json, { a: 2 });
    assert.deepEqual((await http.getIfChanged('/x', '{"a":2}'))?.body, first.body);
  });

  it('throws for an error status and for broken JSON', async () => {
    const error = await errorOf(httpWith(stubFetch(404)).getIfChanged('/x', '{}'));
    assert.deepEqual([error.fault.kind, error.message], ['rejected', 'GET /x: status 404']);
    const { fault } = await errorOf(httpWith(async () => new Response('{"a":')).getIfChanged('/x', '{}'));
    assert.equal(fault.kind, 'unexpectedReply');
  });
});
