/** Several requests sent over one connection without waiting for the replies. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import net, { type Socket } from 'node:net';
import { MAX_PIPELINED_REQUESTS } from '../../../../src/service/core/oneAtATime.ts';
import { startHttpServer, type HttpServer } from '../../../../src/service/http/server.ts';
import { until } from '../../../workbench/until.ts';

describe('Pipelined requests', () => {
  let server: HttpServer;
  let listener: RequestListener;
  const sockets: Socket[] = [];
  before(async () => {
    server = await startHttpServer((request, response) => listener(request, response), 0);
  });
  after(() => server.close());
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

  const connect = (): Socket => {
    const socket = net.connect(Number(new URL(server.baseUrl).port), '127.0.0.1');
    // The server may reset it.
    socket.on('error', () => undefined);
    sockets.push(socket);
    return socket;
  };
  const post = (index: number, bodyLength: number) =>
    `POST /${index} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bodyLength}\r\n\r\n${'x'.repeat(bodyLength)}`;
  const posts = (count: number, bodyLength = 0) =>
    Array.from({ length: count }, (_, index) => post(index, bodyLength)).join('');

  it('are handled one at a time and in order, with their bodies', async () => {
    let [running, mostRunning] = [0, 0];
    listener = (request, response) => {
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      let bytes = 0;
      request.on('data', (chunk: Buffer) => (bytes += chunk.length));
      request.once('end', () =>
        setImmediate(() => {
          running -= 1;
          response.end(`${request.url} has ${bytes};`);
        }),
      );
    };
    const socket = connect();
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.write(posts(MAX_PIPELINED_REQUESTS, 5_000));
    await until('the last reply', async () => text.endsWith(`/${MAX_PIPELINED_REQUESTS - 1} has 5000;`));
    assert.deepEqual(
      text.match(/\/\d+ has 5000;/g),
      Array.from({ length: MAX_PIPELINED_REQUESTS }, (_, index) => `/${index} has 5000;`),
    );
    assert.equal(mostRunning, 1);
  });

  it('cost one reply if the client does not read it', async () => {
    let handled = 0;
    listener = (_request, response) => {
      handled += 1;
      response.end(Buffer.alloc(64 * 1024 * 1024));
    };
    const socket = connect();
    socket.pause().write(posts(MAX_PIPELINED_REQUESTS));
    await until('the first request', async () => handled > 0);
    const other = connect();
    other.resume().write(post(0, 0));
    await until('a request of another connection', async () => handled > 1);
    assert.equal(handled, 2);
  });

  it('end the connection if there are too many', async () => {
    let handled = 0;
    listener = () => (handled += 1);
    const socket = connect().resume();
    socket.write(posts(MAX_PIPELINED_REQUESTS + 1));
    await once(socket, 'close');
    assert.equal(handled, 1);
  });
});
