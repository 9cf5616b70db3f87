/** Several requests sent over one connection without waiting for the replies. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type RequestListener, type ServerResponse } from 'node:http';
import net, { type Socket } from 'node:net';
import { listen, type HttpServer } from '../../src/service/http/server.ts';
import { until } from '../workbench/until.ts';
import { useQuietService } from './useQuietService.ts';

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
/** A few thousand of these exceed the buffers of the system. */
const LONG_GET = get('/1', `A: ${'x'.repeat(4000)}\r\n`);
const LAST = 'Connection: close\r\n';

describe('Pipelined requests', () => {
  let server: HttpServer;
  let listener: RequestListener;
  const sockets: Socket[] = [];
  before(async () => {
    server = await listen((request, response) => listener(request, response), 0);
  });
  after(() => server.close());
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

  const connect = (): Socket => {
    const socket = net.connect(server.port, '127.0.0.1');
    // The server may reset it.
    socket.on('error', () => undefined);
    sockets.push(socket);
    return socket;
  };
  const repliesTo = async (text: string): Promise<string> => {
    const socket = connect();
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    socket.write(text);
    await once(socket, 'close');
    return Buffer.concat(parts).toString();
  };
  const oneAfterAnother = (count: number) =>
    Array.from({ length: count }, (_, index) => get(`/${index}`, index === count - 1 ? LAST : '')).join('');
  const pathsIn = (text: string) => text.match(/(?<=\r\n\r\n)\/\d+/g);

  it('are handled one at a time and in order', async () => {
    let [running, most] = [0, 0];
    listener = (request, response) => {
      running += 1;
      most = Math.max(most, running);
      // Every other request takes longer.
      const turns = Number(request.url?.slice(1)) % 2 === 0 ? 5 : 0;
      const end = (left: number): void => {
        if (left > 0) return void setImmediate(() => end(left - 1));
        running -= 1;
        response.end(request.url);
      };
      end(turns);
    };
    const text = await repliesTo(oneAfterAnother(3000));
    assert.deepEqual(
      pathsIn(text),
      Array.from({ length: 3000 }, (_, index) => `/${index}`),
    );
    assert.equal(most, 1);
  });

  it('can have bodies, even longer ones than one read', async () => {
    listener = (request, response) => {
      let bytes = 0;
      request.on('data', (part: Buffer) => (bytes += part.length));
      request.on('end', () => response.end(`/${bytes}`));
    };
    const bodies = [0, 1, 500_000, 10, 200_000, 3];
    const text = await repliesTo(
      bodies.map((bytes) => post('/', 'x'.repeat(bytes))).join('') + get('/', LAST),
    );
    assert.deepEqual(
      pathsIn(text),
      [...bodies, 0].map((bytes) => `/${bytes}`),
    );
  });

  it('do not block requests of other connections', async () => {
    const order: string[] = [];
    let other: Socket | undefined;
    listener = (request, response) => {
      order.push(request.url ?? '');
      response.end('/1');
      if (request.url === '/0') other = connect();
      if (order.length === 1) other?.write(get('/other'));
    };
    await repliesTo(oneAfterAnother(500));
    await until('the other request', async () => order.includes('/other'));
    assert.ok(order.indexOf('/other') < 500, String(order.indexOf('/other')));
  });

  it('are not read while one is unreplied', async () => {
    const responses: ServerResponse[] = [];
    listener = (request, response) => {
      if (request.url === '/other') response.end();
      else responses.push(response);
    };
    const flood = connect();
    flood.write(LONG_GET.repeat(5000));
    await until('the first request', async () => responses.length > 0);
    for (let turns = 0; turns < 50; turns += 1) await quickRequest();
    const read = responses[0]?.req.socket.bytesRead ?? 0;
    assert.ok(read <= 256 * 1024, `${read} bytes`);
    assert.equal(responses.length, 1);
  });

  it('are not read while the client does not read the replies', async () => {
    let [replied, read] = [0, 0];
    const reply = 'x'.repeat(100_000);
    listener = (request, response) => {
      if (request.url === '/other') return void response.end();
      replied += 1;
      read = request.socket.bytesRead;
      response.end(reply);
    };
    const flood = connect();
    flood.pause().write(LONG_GET.repeat(5000));
    let last = -1;
    await until('the connection to be full', async () => {
      if (last === replied) return true;
      last = replied;
      for (let turns = 0; turns < 20; turns += 1) await quickRequest();
      return undefined;
    });
    assert.ok(replied < 500, `${replied} replies`);
    assert.ok(read <= 512 * 1024, `${read} bytes after ${replied} replies`);
  });

  const quickRequest = () =>
    new Promise((resolve, reject) => {
      http
        .get({ port: server.port, path: '/other' }, (response) => response.resume().on('end', resolve))
        .on('error', reject);
    });

  const broken: Record<string, readonly [string, RegExp]> = {
    'text that is not a request': ['hello\r\n\r\n', /^\/1HTTP\/1\.1 400 [^]*"BAD_REQUEST"/],
    'headers that are too large': [
      get('/', `A: ${'x'.repeat(70_000)}\r\n`),
      /^\/1HTTP\/1\.1 431 [^]*"HEADERS_TOO_LARGE"/,
    ],
    'a broken chunk': [
      'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      /^\/1HTTP\/1\.1 400 [^]*"BAD_REQUEST"/,
    ],
    'two lengths': [
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n{',
      /^\/1HTTP\/1\.1 400 [^]*"BAD_REQUEST"/,
    ],
  };
  for (const [what, [second, rest]] of Object.entries(broken)) {
    for (const isPipelined of [true, false]) {
      it(`get their replies before ${what} sent ${isPipelined ? 'with' : 'after'} them is rejected`, async () => {
        const socket = connect();
        let text = '';
        socket.on('data', (part) => (text += part.toString()));
        listener = (request, response) => {
          request.resume();
          if (request.method === 'GET') setImmediate(() => response.end('/1'));
        };
        socket.write(isPipelined ? get('/1') + second : get('/1'));
        if (!isPipelined) {
          await until('the first reply', async () => text.endsWith('/1'));
          socket.write(second);
        }
        await once(socket, 'close');
        const [, ...others] = text.split('\r\n\r\n');
        assert.match(others.join('\r\n\r\n'), rest);
        assert.match(text, /connection: close/i);
      });
    }
  }
});

describe('Pipelined calls', () => {
  const service = useQuietService();

  it('see the effects of earlier ones', async () => {
    const { baseUrl, key } = service();
    const head = `Host: localhost\r\nAuthorization: Bearer ${key}\r\n`;
    const body = '{"key_name":"pipelined"}';
    const socket = net.connect(Number(new URL(baseUrl).port), '127.0.0.1');
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    socket.write(
      `POST /api/v2/api_keys HTTP/1.1\r\n${head}Content-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}` +
        `GET /api/v2/api_keys HTTP/1.1\r\n${head}${LAST}\r\n`,
    );
    await once(socket, 'close');
    const [, , list = ''] = Buffer.concat(parts).toString().split('\r\n\r\n');
    assert.match(list, /"pipelined"/);
  });
});
