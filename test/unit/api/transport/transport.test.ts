import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { attempt, textOf, type Fetch } from '../../../../src/api/transport/transport.ts';
import { ApiError, faultOf } from '../../../../src/api/errors.ts';

const limits = { headers: 60_000, body: 60_000, total: 60_000 };
const never = new Promise<never>(() => undefined);
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

const one = (fetch: Fetch, more: Partial<Parameters<typeof attempt>[0]> = {}) =>
  attempt({
    request: { method: 'GET', url: 'http://127.0.0.1/api/v2/projects', headers: {}, body: undefined },
    fetch,
    limits,
    signal: new AbortController().signal,
    ...more,
  });

const faultBy = async (promise: Promise<unknown>) => {
  const error: unknown = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  assert.ok(error instanceof ApiError, String(error));
  return { fault: error.fault, arrived: error.mayHaveExecuted };
};

describe('an attempt', () => {
  it('gives method, headers and body on, follows no redirect and passes no dispatcher', async () => {
    const seen: (RequestInit | undefined)[] = [];
    const request = {
      method: 'PATCH',
      url: 'http://127.0.0.1/x',
      headers: { authorization: 'Bearer k' },
      body: '{"a":1}',
    };
    await one(
      async (input, init) => {
        assert.equal(input, 'http://127.0.0.1/x');
        seen.push(init);
        return new Response('{}');
      },
      { request },
    );
    const [init] = seen;
    assert.deepEqual(Object.keys(init ?? {}).sort(), ['body', 'headers', 'method', 'redirect', 'signal']);
    assert.equal(init?.method, 'PATCH');
    assert.equal(init?.body, '{"a":1}');
    assert.equal(init?.redirect, 'manual');
    assert.equal(new Headers(init?.headers).get('authorization'), 'Bearer k');
  });

  it('puts together a body that came in pieces, even in the middle of a letter', async () => {
    const bytes = Buffer.from('\uFEFF{"name":"é€"}');
    const pieces = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    assert.equal(textOf(await one(async () => new Response(pieces))), '{"name":"é€"}');
  });

  it('keeps status and headers, and drops the words of the status line', async () => {
    const arrived = await one(
      async () => new Response('no', { status: 404, statusText: 'key=1', headers: { 'retry-after': '1' } }),
    );
    assert.equal(arrived.status, 404);
    assert.ok(!inspect(arrived, { depth: 9 }).includes('key=1'));
    assert.equal(arrived.headers.get('retry-after'), '1');
    assert.equal(textOf(arrived), 'no');
  });

  it('is given up in time by a fetch that does not listen to its signal', async () => {
    const late = await faultBy(one(() => never, { limits: { ...limits, headers: 5 } }));
    assert.deepEqual(late, { fault: { kind: 'timeout', phase: 'headers' }, arrived: true });
    const stuck = new Response(new ReadableStream({ pull: () => never }));
    const slow = await faultBy(one(async () => stuck, { limits: { ...limits, body: 5 } }));
    assert.deepEqual(slow, { fault: { kind: 'timeout', phase: 'body' }, arrived: true });
  });

  it('throws the reason it was ended for, as one that may have arrived', async () => {
    const end = new AbortController();
    const attempted = faultBy(one(() => never, { signal: end.signal }));
    await new Promise(setImmediate);
    end.abort(new ApiError('was cancelled', { kind: 'cancelled' }, { mayHaveExecuted: false }));
    assert.deepEqual(await attempted, { fault: { kind: 'cancelled' }, arrived: true });
  });

  it('sends nothing once it was ended', async () => {
    const reason = new ApiError('was cancelled', { kind: 'cancelled' }, { mayHaveExecuted: false });
    let isSent = false;
    const fetch: Fetch = async () => {
      isSent = true;
      return new Response();
    };
    await assert.rejects(one(fetch, { signal: AbortSignal.abort(reason) }), reason);
    assert.ok(!isSent);
  });

  it('lets go of a reply that comes too late', async () => {
    const cancelled = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<Response>();
    await faultBy(one(() => answer.promise, { limits: { ...limits, headers: 5 } }));
    answer.resolve(new Response(new ReadableStream({ cancel: () => cancelled.resolve() })));
    await cancelled.promise;
  });

  it('bounds the body, whether its length was told or not', async () => {
    const endless = new ReadableStream({ pull: () => never });
    const told = new Response(endless, { headers: { 'content-length': '4' } });
    for (const response of [told, new Response('1234')]) {
      const { fault } = await faultBy(one(async () => response, { maxBytes: 3 }));
      assert.equal(fault.kind === 'unexpectedReply' && fault.reason, 'tooLarge');
    }
    const arrived = await one(async () => new Response('123'), { maxBytes: 3 });
    assert.equal(textOf(arrived), '123');
  });

  it('ends the fetch of a reply that was not read to its end, and of no other', async () => {
    const signals: (AbortSignal | null | undefined)[] = [];
    const fetch: Fetch = async (_, init) => {
      signals.push(init?.signal);
      return new Response('1234');
    };
    await one(fetch);
    await faultBy(one(fetch, { maxBytes: 3 }));
    assert.deepEqual(
      signals.map((signal) => signal?.aborted),
      [false, true],
    );
  });

  it('takes a fetch that throws at once for a failed connection', async () => {
    const { fault } = await faultBy(
      one(() => {
        throw new Error('net::ERR_INTERNET_DISCONNECTED');
      }),
    );
    assert.equal(fault.kind, 'network');
  });

  it('leaves neither timers nor listeners', async () => {
    // The timer of the test itself is set after its first step.
    await Promise.resolve();
    const before = timers();
    const { signal } = new AbortController();
    await one(async () => new Response('{}'), { signal });
    await one(() => Promise.reject(new TypeError('fetch failed')), { signal }).catch(faultOf);
    await one(() => never, { signal, limits: { ...limits, headers: 5 } }).catch(faultOf);
    assert.equal(timers(), before);
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });
});
