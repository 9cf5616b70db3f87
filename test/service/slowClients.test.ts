import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import net from 'node:net';
import { listen, type HttpServer } from '../../src/service/http/server.ts';

describe('Slow clients', () => {
  let server: HttpServer;
  before(async () => {
    const listener: RequestListener = (request, response) => {
      request.resume().on('end', () => response.end('{}'));
    };
    server = await listen(listener, 0, { headers: 2000, request: 4000, idle: 1000 });
  });
  after(() => server.close());

  /** Returns everything that the service sent until it closed the connection. */
  const talk = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const parts: Buffer[] = [];
      const socket = net.connect(server.port, '127.0.0.1', () => socket.write(text));
      socket.on('data', (part) => parts.push(part)).on('error', reject);
      socket.on('close', () => resolve(Buffer.concat(parts).toString()));
    });

  const clients: Record<string, readonly [string, RegExp]> = {
    'sends nothing': ['', /^HTTP\/1\.1 408 |^$/],
    'does not end its headers': ['GET / HTTP/1.1\r\nHost: localhost\r\n', /^HTTP\/1\.1 408 [^]*"TOO_SLOW"/],
    'does not end its body': [
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{',
      /^HTTP\/1\.1 408 [^]*"TOO_SLOW"/,
    ],
    'sends no further request': ['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', /^HTTP\/1\.1 200 /],
  };
  for (const [what, [text, reply]] of Object.entries(clients)) {
    it(`are disconnected when one ${what}`, async () => {
      assert.match(await talk(text), reply);
    });
  }
});
