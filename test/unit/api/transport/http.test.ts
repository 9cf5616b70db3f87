import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import type { Fetch } from '../../../../src/api/transport/transport.ts';
import { PUBLIC_BASE_URL } from '../../../../src/api/baseUrl.ts';
import { faultOf } from '../../../../src/api/errors.ts';
import type { ReplyBytes } from '../../../../src/api/transport/replyBytes.ts';
import type { Http, Wait } from '../../../../src/api/transport/http.ts';
import { stubFetch, errorOf, KEY, httpWith } from './stubFetch.ts';

const never = new Promise<never>(() => undefined);
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('a call over HTTP', () => {
  it('carries the key, asks for JSON and sends what is not undefined', async () => {
    const seen: Parameters<Fetch>[] = [];
    const fetch: Fetch = async (...given) => {
      seen.push(given);
      return new Response('{"a":1}');
    };
    const http = httpWith(fetch, { userAgent: 'hosted-postgres/1' });
    const query = { limit: 400, cursor: undefined, org_id: 'a&b=c', pooled: false };
    const reply = await http.call('get', '/projects', { query });
    assert.deepEqual(reply, { method: 'get', status: 200, json: { a: 1 } });
    assert.equal(seen[0]?.[0], `${PUBLIC_BASE_URL}/projects?limit=400&org_id=a%26b%3Dc&pooled=false`);
    const headers = new Headers(seen[0]?.[1].headers);
    assert.equal(headers.get('authorization'), `Bearer ${KEY}`);
    assert.equal(headers.get('accept'), 'application/json');
    assert.equal(headers.get('user-agent'), 'hosted-postgres/1');
    assert.equal(headers.get('content-type'), null);
  });

  it('sends its body again with every attempt', async () => {
    const bodies: unknown[] = [];
    const fetch: Fetch = async (_, init) => {
      bodies.push(init?.body);
      assert.equal(new Headers(init?.headers).get('content-type'), 'application/json');
      return new Response('{}', { status: bodies.length < 3 ? 423 : 200 });
    };
    await httpWith(fetch).call('post', '/api_keys', { body: { key_name: 'é' } });
    assert.deepEqual(bodies, Array(3).fill('{"key_name":"é"}'));
  });

  it('tells of each wait as it begins', async () => {
    const waits: Wait[] = [];
    await httpWith(stubFetch(423, 429, 200)).call('post', '/x', {}, { onWait: (wait) => waits.push(wait) });
    assert.deepEqual(
      waits.map(({ status, attempt }) => [status, attempt]),
      [
        [423, 1],
        [429, 2],
      ],
    );
    assert.ok(waits.every(({ milliseconds }) => milliseconds > 0 && milliseconds <= 1));
  });

  it('gives the last refusal at once when the next attempt would come too late', async () => {
    const fetch = stubFetch(
      () => new Response('{"message":"busy"}', { status: 503, headers: { 'retry-after': '9' } }),
    );
    const http = httpWith(fetch, { limits: { total: 5000 }, longestWait: 30_000 });
    const error = await errorOf(http.call('get', '/x'));
    assert.deepEqual([error.message, error.mayHaveExecuted, fetch.calls()], ['busy', false, 1]);
  });

  it('ends when its time is up, whatever the attempts are doing', async () => {
    const error = await errorOf(httpWith(() => never, { limits: { total: 5 } }).call('delete', '/x'));
    assert.deepEqual(error.fault, { kind: 'timeout', phase: 'total' });
    assert.ok(error.mayHaveExecuted);
    assert.equal(error.message, 'DELETE /x: no answer within 5 ms');
  });

  it('that was given up before it began is cancelled and not sent', async () => {
    const fetch = stubFetch(200);
    const error = await errorOf(httpWith(fetch).call('post', '/x', {}, { signal: AbortSignal.abort() }));
    assert.deepEqual(error.fault, { kind: 'cancelled' });
    assert.equal(error.message, 'POST /x was cancelled');
    assert.deepEqual([error.mayHaveExecuted, fetch.calls()], [false, 0]);
  });

  it('that only reads never leaves open what happened', async () => {
    for (const fetch of [() => never, stubFetch(500), stubFetch(() => new Response('<p>'))]) {
      const error = await errorOf(httpWith(fetch, { limits: { headers: 5 }, retries: 0 }).call('get', '/x'));
      assert.ok(!error.mayHaveExecuted);
    }
  });

  it('lets a defect through as what it is', async () => {
    const onWait = () => {
      throw new RangeError('a defect');
    };
    await assert.rejects(httpWith(stubFetch(503)).call('get', '/x', {}, { onWait }), RangeError);
  });

  it('leaves neither timers nor listeners, however it ends', async () => {
    // The timer of the test itself is set after its first step.
    await Promise.resolve();
    const before = timers();
    const { signal } = new AbortController();
    await httpWith(stubFetch(200)).call('get', '/x', {}, { signal });
    await httpWith(stubFetch(503, 200)).call('get', '/x', {}, { signal });
    await httpWith(stubFetch(404)).call('get', '/x', {}, { signal }).catch(faultOf);
    await httpWith(() => never, { limits: { total: 5 } })
      .call('get', '/x', {}, { signal })
      .catch(faultOf);
    assert.equal(timers(), before);
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });

  it('refuses a key that cannot go into a header, without repeating it', () => {
    assert.throws(
      () => httpWith(stubFetch(200), { key: `${KEY}\n` }),
      (error) => faultOf(error)?.kind === 'invalidRequest' && !inspect(error).includes(KEY),
    );
  });

  it('shows its key to nobody who prints it', () => {
    const http = httpWith(stubFetch(200));
    assert.ok(!inspect(http, { depth: 9, showHidden: true }).includes(KEY));
    assert.equal(JSON.stringify(http), '{}');
  });
});

describe('a reply', () => {
  const bodies: readonly [string, () => Response, unknown][] = [
    ['nothing', () => new Response(null, { status: 204 }), undefined],
    ['an empty text', () => new Response(''), undefined],
    ['a byte order mark before JSON', () => new Response('\uFEFF{"a":1}'), { a: 1 }],
    ['JSON under another name', () => new Response('[1]', { headers: { 'content-type': 'text/html' } }), [1]],
    ['null', () => new Response('null'), null],
  ];
  for (const [what, response, json] of bodies) {
    it(`may be ${what}`, async () =>
      assert.deepEqual((await httpWith(stubFetch(response)).call('get', '/x')).json, json));
  }

  const oddities: readonly [string, () => Response, string][] = [
    ['a web page', () => new Response('<!DOCTYPE html>'), 'html'],
    ['a page by its type', () => new Response('Hi', { headers: { 'content-type': 'text/html' } }), 'html'],
    ['half of a JSON text', () => new Response('{"a":'), 'json'],
    ['blanks', () => new Response('  '), 'json'],
    ['bytes', () => new Response(new Uint8Array([0xff, 0xfe, 0x00])), 'json'],
  ];
  for (const [what, response, reason] of oddities) {
    it(`that is ${what} is told as ${reason}`, async () => {
      const { fault, message } = await errorOf(httpWith(stubFetch(response)).call('get', '/x'));
      assert.equal(fault.kind === 'unexpectedReply' && fault.reason, reason);
      assert.match(message, /^GET \/x answered with /);
    });
  }
});

describe('a reply to a call made again', () => {
  const read = async (http: Http, last?: ReplyBytes) => {
    const again = await http.callAgain('/x', last);
    assert.ok(!again.isSame);
    return again;
  };

  it('is told as the same when it is that byte for byte, and read when it is not', async () => {
    const texts = ['{"a":1}', '{"a":1}', '{"a":1} ', '{"a":2}', '{"a":1}'];
    const http = httpWith(async () => new Response(texts.shift()));
    const first = await read(http);
    assert.deepEqual(first.reply, { method: 'get', status: 200, json: { a: 1 } });
    assert.deepEqual(await http.callAgain('/x', first.bytes), { isSame: true });
    assert.deepEqual((await read(http, first.bytes)).reply.json, { a: 1 });
    const other = await read(http, first.bytes);
    assert.deepEqual(other.reply.json, { a: 2 });
    assert.deepEqual((await read(http, other.bytes)).bytes, first.bytes);
  });

  it('is read by whoever names no last one', async () => {
    const http = httpWith(stubFetch(200));
    assert.deepEqual((await read(http)).reply.json, {});
    assert.deepEqual((await read(http)).reply.json, {});
  });

  it('is never the same where it says no, or is nothing that could have been read', async () => {
    const { bytes } = await read(httpWith(stubFetch(200)));
    const refused = await errorOf(httpWith(stubFetch(404)).callAgain('/x', bytes));
    assert.deepEqual([refused.fault.kind, refused.message], ['refused', 'GET /x: status 404']);
    const broken = httpWith(async () => new Response('{"a":'));
    const { fault } = await errorOf(broken.callAgain('/x', bytes));
    assert.equal(fault.kind, 'unexpectedReply');
  });
});
