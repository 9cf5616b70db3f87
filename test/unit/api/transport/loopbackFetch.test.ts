import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PUBLIC_BASE_URL, type BaseUrl } from '../../../../src/api/baseUrl.ts';
import { fetchFor, loopbackFetch } from '../../../../src/api/transport/loopbackFetch.ts';

const init = {
  method: 'GET',
  headers: {},
  redirect: 'manual',
  signal: new AbortController().signal,
} as const;

const UPGRADE = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: else\r\n\r\n';

describe('fetchFor', () => {
  it("takes Node's own HTTP for plain addresses, which are of this machine, and fetch for all others", () => {
    assert.equal(fetchFor('http://127.0.0.1:4010/api/v2' as BaseUrl), loopbackFetch);
    assert.equal(fetchFor(PUBLIC_BASE_URL), globalThis.fetch);
    assert.equal(fetchFor('https://localhost:4010/api/v2' as BaseUrl), globalThis.fetch);
  });
});

describe('loopbackFetch', () => {
  let server: Server;
  let url: string;
  let connections = 0;

  before(async () => {
    server = createServer((request, response) => {
      if (request.url === '/away') return void response.writeHead(302, { location: '/' }).end();
      if (request.url === '/hangUp') return void request.socket.end();
      if (request.url === '/upgrade') return void request.socket.write(UPGRADE);
      response.setHeader('x-seen', `${request.method} ${request.headers.authorization}`);
      request.pipe(response);
    });
    server.on('connection', () => (connections += 1));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());

  const textOf = async ({ body }: Awaited<ReturnType<typeof loopbackFetch>>) => {
    const reader = body?.getReader();
    let text = '';
    for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read())
      text += Buffer.from(piece.value).toString();
    return text;
  };

  it('sends method, headers and body, and gives status, headers and body', async () => {
    const headers = { authorization: 'Bearer key' };
    const answer = await loopbackFetch(url, { ...init, method: 'PATCH', headers, body: '{"a":"é"}' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('x-seen'), 'PATCH Bearer key');
    assert.equal(answer.headers.get('retry-after'), null);
    assert.equal(await textOf(answer), '{"a":"é"}');
  });

  it('uses a connection again', async () => {
    await textOf(await loopbackFetch(url, init));
    const before = connections;
    await textOf(await loopbackFetch(url, init));
    assert.equal(connections, before);
  });

  it('follows no redirect', async () => {
    const answer = await loopbackFetch(`${url}/away`, init);
    assert.equal(answer.status, 302);
    await textOf(answer);
  });

  it('rejects when the connection ends without a reply, in whatever way', async () => {
    await assert.rejects(loopbackFetch(`${url}/hangUp`, init), { code: 'ECONNRESET' });
    await assert.rejects(loopbackFetch(`${url}/upgrade`, init));
    await assert.rejects(loopbackFetch('http://127.0.0.1:1/', init), { code: 'ECONNREFUSED' });
    await assert.rejects(loopbackFetch(url, { ...init, signal: AbortSignal.abort() }), {
      name: 'AbortError',
    });
  });
});
