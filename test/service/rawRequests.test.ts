/** Requests written byte by byte, which no or few HTTP libraries send. */
import assert from 'node:assert/strict';
import net from 'node:net';
import { useQuietService } from './useQuietService.ts';

const COMPUTE = '/api/v2/projects/shiny-wind-028834/endpoints/ep-little-smoke-851426';

const JSON_TYPE = 'Content-Type: application/json\r\n';

describe('The HTTP server', () => {
  const service = useQuietService();

  const send = (text: string, half = true): Promise<string> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(service().baseUrl);
      const socket = net.connect(Number(port), '127.0.0.1');
      const parts: Buffer[] = [];
      socket.on('data', (part) => parts.push(part)).on('error', (error) => parts.length > 0 || reject(error));
      socket.on('close', () => resolve(Buffer.concat(parts).toString()));
      if (half) socket.end(text);
      else socket.write(text);
    });
  const authorization = () => `Authorization: Bearer ${service().key}\r\n`;
  const keyCreation = (headers: string) =>
    `POST /api/v2/api_keys HTTP/1.1\r\nHost: localhost\r\n${authorization()}${headers}` +
    'Content-Length: 16\r\n\r\n{"key_name":"x"}';
  const last = (method: string, target: string) =>
    `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${authorization()}Connection: close\r\n\r\n`;

  const texts: Record<string, readonly [() => string, number]> = {
    'text that is not HTTP': [() => 'hello\r\n\r\n', 400],
    TLS: [() => '\u0016\u0003\u0001\u0000\u00a5\u0001', 400],
    'no Host': [() => 'GET /api/v2/projects HTTP/1.1\r\n\r\n', 400],
    'HTTP/1.0 without a Host': [() => 'GET /api/v2/projects HTTP/1.0\r\n\r\n', 403],
    'endless headers': [() => `GET / HTTP/1.1\r\nHost: localhost\r\nA: ${'x'.repeat(70_000)}\r\n\r\n`, 431],
    'a target that is not a path': [
      () => 'GET \\\\x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      400,
    ],
    'two lengths': [
      () =>
        'POST /api/v2/api_keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
      400,
    ],
    'a length and chunks': [
      () =>
        'POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    'a broken chunk': [
      () =>
        `POST /api/v2/api_keys HTTP/1.1\r\nHost: localhost\r\n${authorization()}Content-Type: application/json\r\n` +
        'Transfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
    ],
    'two equal hosts': [
      () => `GET /api/v2/projects HTTP/1.1\r\nHost: localhost\r\n${authorization()}Host: localhost\r\n\r\n`,
      400,
    ],
    'two different hosts': [
      () =>
        `GET /api/v2/projects HTTP/1.1\r\nHost: localhost\r\n${authorization()}host: evil.example\r\n\r\n`,
      400,
    ],
    'two equal keys': [
      () => `GET /api/v2/projects HTTP/1.1\r\nHost: localhost\r\n${authorization().repeat(2)}\r\n`,
      400,
    ],
    'two different keys': [
      () =>
        `GET /api/v2/projects HTTP/1.1\r\nHost: localhost\r\n${authorization()}AUTHORIZATION: Bearer x\r\n\r\n`,
      400,
    ],
    'two content types': [
      () => keyCreation('Content-Type: application/json\r\nContent-Type: text/plain\r\n'),
      400,
    ],
    'two equal lengths': [() => keyCreation(`${JSON_TYPE}Content-Length: 16\r\n`), 400],
    'chunks twice': [
      () =>
        `POST /api/v2/api_keys HTTP/1.1\r\nHost: localhost\r\n${authorization()}${JSON_TYPE}` +
        'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{"key_name":"x"}\r\n0\r\n\r\n',
      400,
    ],
    'an unknown expectation': [() => keyCreation(`${JSON_TYPE}Expect: 200-ok\r\n`), 417],
    'an unknown expectation in a list': [
      () => keyCreation(`${JSON_TYPE}Expect: 100-continue, 200-ok\r\n`),
      417,
    ],
    'a request for a tunnel': [
      () => `CONNECT localhost:5432 HTTP/1.1\r\nHost: localhost\r\n${authorization()}\r\n`,
      400,
    ],
    'a request to upgrade the protocol': [
      () =>
        `GET /api/v2/projects HTTP/1.1\r\nHost: localhost\r\n${authorization()}Connection: close, upgrade\r\n` +
        'Upgrade: websocket\r\n\r\n',
      200,
    ],
    'a target with a backslash': [() => last('GET', '/api\\v2/projects'), 400],
    'an asterisk as the target': [() => last('OPTIONS', '*'), 400],
    'a target of another scheme': [() => last('GET', 'ftp://localhost/api/v2/projects'), 400],
    'an absolute target on this machine': [() => last('GET', 'http://localhost/api/v2/projects'), 200],
    'a path with dots': [() => last('GET', '/api/v1/../v2/./projects'), 200],
    'a path above the root': [() => last('GET', '/../../etc/passwd'), 404],
    'two slashes at the beginning': [() => last('GET', '//evil.example/api/v2/projects'), 404],
    'a foreign absolute target': [
      () => 'GET http://evil.example/api/v2/projects HTTP/1.1\r\nHost: evil.example\r\n\r\n',
      403,
    ],
  };
  for (const [what, [text, status]] of Object.entries(texts)) {
    it(`replies ${status} to ${what}`, async () => {
      const replies = (await send(text(), false)).split('HTTP/1.1 100 Continue\r\n\r\n').join('');
      assert.match(replies, new RegExp(`^HTTP/1.1 ${status} `));
      assert.match(replies, /^connection: close\r$/im);
      if (status < 400) return;
      const [, body = ''] = replies.split('\r\n\r\n');
      assert.deepEqual(Object.keys(JSON.parse(body) as object), ['request_id', 'code', 'message']);
    });
  }

  it('accepts one header of each name', async () => {
    assert.match(await send(keyCreation(`${JSON_TYPE}Connection: close\r\n`), false), /^HTTP\/1.1 200 /);
  });

  it('replies to the next request of a connection after a body that no route read', async () => {
    const rejected = 'POST /api/v2/api_keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n{}{}';
    const replies = await send(rejected + last('GET', '/api/v2/projects'), false);
    assert.deepEqual(replies.match(/HTTP\/1\.1 \d{3}/g), ['HTTP/1.1 401', 'HTTP/1.1 200']);
  });

  it('replies to HEAD with the headers of GET', async () => {
    const [head, whole] = [await send(last('HEAD', COMPUTE)), await send(last('GET', COMPUTE))];
    const [, body = ''] = whole.split('\r\n\r\n');
    assert.match(head, new RegExp(`^HTTP/1.1 200 [^]*content-length: ${body.length}\r\n[^]*\r\n\r\n$`, 'i'));
  });

  it('replies 413 to an endless chunked body', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const reply = await send(
      `POST /api/v2/api_keys HTTP/1.1\r\nHost: localhost\r\n${authorization()}Content-Type: application/json\r\n` +
        `Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(20)}`,
      false,
    );
    assert.match(reply, /^HTTP\/1.1 413 /);
  });
});
