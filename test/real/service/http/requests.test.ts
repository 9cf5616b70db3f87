/**
 * Invalid requests: each gets a 4xx with a clear message, and the service keeps running.
 * Timers: service/http/server.ts.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { mock } from 'node:test';
import * as z from 'zod/mini';
import { startHttpServer } from '../../../../src/service/http/server.ts';
import { call, type Call } from '../../../helpers/call.ts';
import { withMockedTimeouts } from '../../../helpers/mockTimeouts.ts';
import { useQuietService } from '../useQuietService.ts';
import { SHORT_LIMIT } from '../../../limits.ts';

const COMPUTES = '/projects/shiny-wind-028834/endpoints';
const COMPUTE = `${COMPUTES}/ep-little-smoke-851426`;
const BRANCH = 'br-frosty-lake-110382';
const creation = (more: object) => ({ endpoint: { branch_id: BRANCH, type: 'read_only', ...more } });
const ErrorBody = z.object({ request_id: z.string(), code: z.string(), message: z.string() });
const errorIn = (json: unknown) => ErrorBody.parse(json);
const post = (body: unknown): Omit<Call, 'key'> => ({ method: 'POST', path: COMPUTES, body });
/** As a page of that list has it, in the list's own order. */
const cursorOf = (list: string) =>
  Buffer.from(JSON.stringify(['one', 'one', `/api/v2${list}  `])).toString('base64url');
const COMPRESSED = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
const patch = (endpoint: unknown): Omit<Call, 'key'> => ({
  method: 'PATCH',
  path: COMPUTE,
  body: { endpoint },
});
const json = { 'content-type': 'application/json' };

/** What each attribute must be is tested with the schemas, in `test/unit/api/records/requests.test.ts`. */
const INVALID: Readonly<Record<string, readonly [Omit<Call, 'key'>, number, RegExp]>> = {
  'a body that is not JSON': [post('{"endpoint":'), 400, /not valid JSON/],
  'an empty body': [{ method: 'POST', path: COMPUTES, headers: json }, 400, /not valid JSON/],
  'a body that is not UTF-8': [post(Buffer.from([0x22, 0xff, 0x22])), 400, /not valid UTF-8/],
  'a list for a body': [post([]), 400, /of type object/],
  'deep nesting': [post('['.repeat(100_000) + ']'.repeat(100_000)), 400, /of type object/],
  'half of a surrogate pair in a name': [patch({ name: '\ud800' }), 400, /half of a surrogate pair/],
  'half of a surrogate pair in a setting': [
    patch({ settings: { pg_settings: { '\udc00': 'x' } } }),
    400,
    /half of a surrogate pair/,
  ],
  'no endpoint': [post({}), 400, /endpoint/],
  'another property next to the endpoint': [post({ ...creation({}), other: 1 }), 400, /other/],
  'a size that is a string': [
    post(creation({ autoscaling_limit_min_cu: '1' })),
    400,
    /autoscaling_limit_min_cu/,
  ],
  'a delay below never': [post(creation({ suspend_timeout_seconds: -2 })), 422, /suspend_timeout_seconds/],
  'a setting that is an object': [
    post(creation({ settings: { pg_settings: { a: {} } } })),
    400,
    /pg_settings\.a/,
  ],
  'an unknown attribute': [post(creation({ colour: 'red' })), 400, /endpoint\.colour/],
  'the attribute __proto__': [post('{"endpoint":{"__proto__":{"type":"read_only"}}}'), 400, /./],
  'an update of the type': [patch({ type: 'read_only' }), 400, /endpoint\.type/],
  'an update that is null': [patch(null), 400, /endpoint/],
  'an empty key name': [{ method: 'POST', path: '/api_keys', body: { key_name: '' } }, 422, /key_name/],
  'a key id that is not a number': [{ method: 'DELETE', path: '/api_keys/abc' }, 404, /API key/],
  'an endless key id': [{ method: 'DELETE', path: `/api_keys/${'9'.repeat(30)}` }, 404, /API key/],
  'a key id with leading zeros': [{ method: 'DELETE', path: '/api_keys/0001' }, 400, /leading zeros/],
  'a limit with a leading zero': [{ path: '/projects?limit=010' }, 400, /limit/],
  'two limits': [{ path: '/projects?limit=1&limit=2' }, 400, /limit.*once/],
  'a body over a mebibyte': [post(`"${'x'.repeat(1024 * 1024)}"`), 413, /1048576 bytes/],
  'a form': [
    { ...post('a=1'), headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    415,
    /json/,
  ],
  'plain text': [{ ...post('{}'), headers: { 'content-type': 'text/plain' } }, 415, /json/],
  'an unknown path': [{ path: '/nothing' }, 404, /nothing at this path/],
  'an unsupported method of a project': [{ method: 'PUT', path: '/projects' }, 405, /GET/],
  'an unsupported method of a compute': [{ method: 'POST', path: COMPUTE }, 405, /GET, PATCH, DELETE/],
  'a preflight request': [{ method: 'OPTIONS', path: '/projects' }, 405, /GET/],
  'an unknown operation': [
    { path: '/projects/shiny-wind-028834/operations/00000000-0000-4000-8000-000000000000' },
    404,
    /operation/,
  ],
  'an invalid cursor': [{ path: '/projects/shiny-wind-028834/operations?cursor=eA' }, 400, /cursor/],
  'the cursor of another list': [
    { path: `/projects/shiny-wind-028834/operations?cursor=${cursorOf('/projects')}` },
    400,
    /this list/,
  ],
  'the cursor of another order': [
    {
      path: `/projects/shiny-wind-028834/branches?sort_by=name&cursor=${cursorOf('/projects/shiny-wind-028834/branches')}`,
    },
    400,
    /this order/,
  ],
  'a compressed body': [{ ...post('{}'), headers: COMPRESSED }, 415, /uncompressed/],
  'too many operations': [{ path: '/projects/shiny-wind-028834/operations?limit=1001' }, 400, /limit/],
  'an extra slash': [{ path: '/projects/' }, 404, /nothing at this path/],
  'no project in the path': [{ path: '/projects//endpoints' }, 404, /nothing at this path/],
  'an escaped slash in a project': [{ path: '/projects/a%2Fb/endpoints' }, 404, /project.*"a\/b"/],
  'a path with a broken escape': [{ path: '/projects/%zz/endpoints' }, 404, /project/],
  'a foreign host name': [{ path: '/projects', headers: { host: 'evil.example' } }, 403, /Host header/],
  'a host name that begins with localhost': [
    { path: '/projects', headers: { host: 'localhost.evil.example' } },
    403,
    /Host/,
  ],
  'a host name that ends with localhost': [
    { path: '/projects', headers: { host: 'evil-localhost' } },
    403,
    /Host/,
  ],
  'another address of this machine': [{ path: '/projects', headers: { host: '127.0.0.2:80' } }, 403, /Host/],
  'a web page': [{ path: '/projects', headers: { origin: 'https://evil.example' } }, 403, /Web pages/],
};

describe('Requests', () => {
  const service = useQuietService();

  for (const [what, [request, status, pattern]] of Object.entries(INVALID)) {
    it(`with ${what} get ${status}`, async () => {
      const reply = await call(service().baseUrl, { ...request, key: service().key });
      assert.equal(reply.status, status, reply.text);
      const { message, code, request_id } = errorIn(reply.json);
      assert.match(message, pattern);
      assert(code && request_id);
      assert.equal(reply.headers['content-type'], 'application/json');
      assert(!('access-control-allow-origin' in reply.headers));
    });
  }

  it('with an unsupported method get the supported ones in Allow', async () => {
    const { headers } = await call(service().baseUrl, { method: 'PUT', path: COMPUTE, key: service().key });
    assert.equal(headers['allow'], 'GET, PATCH, DELETE');
  });

  it('with HEAD get the headers of GET', async () => {
    const [head, get] = await Promise.all(
      ['HEAD', 'GET'].map((method) => call(service().baseUrl, { method, path: COMPUTE, key: service().key })),
    );
    assert.deepEqual([head?.status, head?.text], [200, '']);
    assert.equal(head?.headers['content-length'], get?.headers['content-length']);
  });

  /** Sends the lines of a request, which no client would send so. @returns the first line of the reply */
  async function statusLineFor(...lines: readonly string[]): Promise<string | undefined> {
    const { port, host } = new URL(service().baseUrl);
    const socket = net.connect(Number(port), '127.0.0.1');
    const [first = '', ...more] = lines;
    const headers = [`Host: ${host}`, `Authorization: Bearer ${service().key}`, 'Connection: close'];
    socket.end([first, ...headers, ...more].join('\r\n'));
    return (await text(socket)).split('\r\n')[0];
  }

  it('can have the whole URL as their target', async () => {
    const line = `GET ${service().baseUrl}/projects?limit=1 HTTP/1.1`;
    assert.equal(await statusLineFor(line, '', ''), 'HTTP/1.1 200 OK');
  });

  it('can announce chunks and send none, where a body is optional', async () => {
    const line = 'POST /api/v2/projects/none/branches HTTP/1.1';
    assert.equal(
      await statusLineFor(line, 'Transfer-Encoding: chunked', '', '0', '', ''),
      'HTTP/1.1 404 Not Found',
    );
  });

  it('can escape characters without need', async () => {
    const path = '/%70rojects/shiny%2Dwind-028834/endpoints';
    assert.equal((await call(service().baseUrl, { path, key: service().key })).status, 200);
  });

  for (const host of ['localhost', 'LOCALHOST:1234', '[::1]:8790', '127.0.0.1']) {
    it(`to ${host} are accepted`, async () => {
      assert.equal(
        (await call(service().baseUrl, { path: '/projects', key: service().key, headers: { host } })).status,
        200,
      );
    });
  }

  it('keep their id if it is valid', async () => {
    const id = async (sent: string) => {
      const { json: body } = await call(service().baseUrl, {
        path: '/x',
        headers: { 'x-request-id': sent },
      });
      return errorIn(body).request_id;
    };
    assert.equal(await id('trace-1.2:3'), 'trace-1.2:3');
    assert.match(await id('x'.repeat(65)), /^[0-9a-f-]{36}$/);
    assert.match(await id('<script>'), /^[0-9a-f-]{36}$/);
  });
});

describe('The HTTP server', () => {
  const limits = {
    headersTimeout: SHORT_LIMIT,
    requestTimeout: 2 * SHORT_LIMIT,
    keepAliveTimeout: SHORT_LIMIT,
  };

  it('disconnects clients that are slow or idle, but none that waits for its reply', async () => {
    const { promise: othersEnded, resolve: endOthers } = Promise.withResolvers<void>();
    const server = await startHttpServer(
      (request, response) => {
        if (request.url === '/waits') response.write('begin');
        const mayEnd = request.url === '/waits' ? othersEnded : Promise.resolve();
        request.resume().on('end', () => void mayEnd.then(() => response.end('end')));
      },
      0,
      { ...limits, connectionsCheckingInterval: 10 },
    );
    const port = Number(new URL(server.baseUrl).port);
    const send = async (text: string): Promise<string> => {
      const client = net.connect(port, '127.0.0.1').setEncoding('latin1');
      let received = '';
      client.on('data', (chunk: string) => (received += chunk)).write(text);
      await once(client, 'close');
      return received;
    };
    const head = (path: string) => `POST ${path} HTTP/1.1\r\nhost: localhost\r\n`;
    const waiting = send(`${head('/waits')}connection: close\r\n\r\n`);
    assert.match(await send(head('/')), /^HTTP\/1\.1 408 /);
    assert.match(await send(`${head('/')}content-length: 9\r\n\r\nx`), /^HTTP\/1\.1 408 /);
    assert.match(await send(`${head('/')}\r\n`), /^HTTP\/1\.1 200 /);
    endOthers();
    assert.match(await waiting, /begin[^]*end/);
    await server.close();
  });

  it('cuts running requests two seconds after it is closed', () =>
    withMockedTimeouts(async () => {
      const { promise: received, resolve: receive } = Promise.withResolvers<unknown>();
      const server = await startHttpServer(receive, 0);
      const client = net.connect(Number(new URL(server.baseUrl).port), '127.0.0.1');
      client.on('error', () => undefined).write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
      await received;
      const destroyed = mock.method(net.Socket.prototype, 'destroy').mock;
      const closed = server.close();
      mock.timers.tick(1999);
      assert.equal(destroyed.callCount(), 0);
      mock.timers.tick(1);
      await Promise.all([closed, once(client, 'close')]);
      destroyed.restore();
    }));
});
