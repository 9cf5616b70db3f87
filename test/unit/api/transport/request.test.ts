import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import {
  BodyTooLargeError,
  MAX_BODY_BYTES,
  sendOnce,
  type Fetch,
} from '../../../../src/api/transport/request.ts';

const never = new Promise<never>(() => undefined);
const send = (fetch: Fetch, signal = new AbortController().signal) =>
  sendOnce(fetch, 'http://127.0.0.1/api/v2/projects', { method: 'GET', headers: {} }, signal);

describe('sendOnce', () => {
  it('passes method, headers and body, follows no redirect and sets no dispatcher', async () => {
    const seen: RequestInit[] = [];
    const request = {
      method: 'PATCH',
      headers: { authorization: 'Bearer k' },
      body: '{"a":1}',
    };
    const fetch: Fetch = async (url, init) => {
      assert.equal(url, 'http://127.0.0.1/x');
      seen.push(init);
      return new Response('{}');
    };
    await sendOnce(fetch, 'http://127.0.0.1/x', request, new AbortController().signal);
    const [init] = seen;
    assert.deepEqual(Object.keys(init ?? {}).sort(), ['body', 'headers', 'method', 'redirect', 'signal']);
    assert.equal(init?.method, 'PATCH');
    assert.equal(init?.body, '{"a":1}');
    assert.equal(init?.redirect, 'manual');
    assert.equal(new Headers(init?.headers).get('authorization'), 'Bearer k');
  });

  it('joins a body of several chunks, even within a character', async () => {
    const bytes = Buffer.from('\uFEFF{"name":"é€"}');
    const chunks = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    assert.equal((await send(async () => new Response(chunks))).body, '{"name":"é€"}');
  });

  it('returns status, headers and body, but not the text of the status line', async () => {
    const headers = { 'retry-after': '1' };
    const response = await send(
      async () => new Response('no', { status: 404, statusText: 'key=1', headers }),
    );
    assert.deepEqual([response.status, response.body], [404, 'no']);
    assert.equal(response.headers.get('retry-after'), '1');
    assert.ok(!inspect(response, { depth: 9 }).includes('key=1'));
  });

  it('rejects when its signal is aborted, even if fetch ignores it', async () => {
    const hanging = new Response(new ReadableStream({ pull: () => never }));
    for (const fetch of [() => never, async () => hanging]) {
      const abort = new AbortController();
      const reason = new Error('the end');
      const sent = send(fetch, abort.signal);
      await new Promise(setImmediate);
      abort.abort(reason);
      await assert.rejects(sent, reason);
    }
  });

  it('sends nothing if its signal is already aborted', async () => {
    const reason = new Error('the end');
    let isSent = false;
    const fetch: Fetch = async () => {
      isSent = true;
      return new Response();
    };
    await assert.rejects(send(fetch, AbortSignal.abort(reason)), reason);
    assert.ok(!isSent);
  });

  it('cancels a body that is too large', async () => {
    let isCancelled = false;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(MAX_BODY_BYTES / 4)),
      cancel: () => void (isCancelled = true),
    });
    const fetch = async () => new Response(body, { status: 201 });
    await assert.rejects(send(fetch), (error) => error instanceof BodyTooLargeError && error.status === 201);
    assert.ok(isCancelled);
  });

  it('accepts a body of 32 MiB', async () => {
    assert.equal(MAX_BODY_BYTES, 33_554_432);
    const { body } = await send(async () => new Response('x'.repeat(MAX_BODY_BYTES)));
    assert.equal(body.length, MAX_BODY_BYTES);
  });

  it('leaves no listener at its signal', async () => {
    const { signal } = new AbortController();
    await send(async () => new Response('{}'), signal);
    await send(() => Promise.reject(new TypeError('fetch failed')), signal).catch(() => undefined);
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });
});
