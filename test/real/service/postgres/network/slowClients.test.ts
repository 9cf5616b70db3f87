/**
 * Clients that send their request slowly, or never to its end. They have no password yet.
 * Timers: service/postgres/serverlessDriver/incompleteRequests.ts.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { mock } from 'node:test';
import { Conversation, int32, message } from '../../../../helpers/postgresConversation.ts';
import { eventually } from '../clients.ts';
import { gatewayTo } from './gatewayTo.ts';

/** For a whole request, and for the first packet of a Postgres client. Milliseconds. */
const LIMIT = 60_000;
const HEAD = 'POST /sql HTTP/1.1\r\nhost: x\r\n';
const LOGIN = 'neon-connection-string: postgresql://someone:secret@127.0.0.1/app\r\n';
const UPGRADE =
  'GET /v2 HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
const QUERY = '{"query":"select 1"}';
const COMPLETE = `${HEAD}${LOGIN}content-length: ${QUERY.length}\r\n\r\n${QUERY}`;

/** The limit for HTTP clients and WebSockets at a compute's address. */
const MAX_CONNECTIONS = 1000;
const STARTUP = Buffer.from('\0\u0003\0\0user\0someone\0\0');

/** How a request begins, and what the client sends again and again. */
const SLOW: Readonly<Record<string, readonly [start: string, next: string]>> = {
  'the head of a request': [HEAD, 'x: y\r\n'],
  'a body with a length': [`${HEAD}${LOGIN}content-length: 1000\r\n\r\n`, ' '],
  'a body in chunks': [`${HEAD}${LOGIN}transfer-encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
  'the login on a WebSocket': [UPGRADE, '\u0082\u0081\0\0\0\0\0'],
  'a start-up packet': ['\0\0\0\u0050\0\u0003\0\0', 'x'],
  'a TLS handshake after a request for TLS': [
    '\0\0\0\u0008\u0004\u00d2\u0016\u002f',
    '\u0016\u0003\u0001\u0001\0',
  ],
  'a TLS handshake': ['\u0016\u0003\u0001\u0001\0', 'x'],
};

describe('slow clients', () => {
  let port: number;
  const clients = new Set<net.Socket>();
  /** Connections to the server, which the test answers later. */
  let unanswered: net.Socket[] | undefined;
  const answer = (socket: net.Socket) => {
    const reply = { columns: ['one'], rows: [['1']] };
    void new Conversation(socket, () => reply);
  };
  beforeEach(async () => {
    unanswered = undefined;
    port = await gatewayTo((socket) => (unanswered === undefined ? answer(socket) : unanswered.push(socket)));
  });
  afterEach(async () => {
    mock.timers.reset();
    for (const client of clients) client.destroy();
    clients.clear();
  });

  const connect = async (bytes: string): Promise<net.Socket> => {
    const client = net.connect(port, '127.0.0.1').on('error', () => undefined);
    clients.add(client);
    await once(client, 'connect');
    client.write(bytes, 'latin1');
    return client;
  };
  /** Sends a whole request on a new connection. */
  const post = async () => {
    const client = await connect(COMPLETE);
    const [chunk] = await once(client, 'data');
    assert.match(String(chunk), /^HTTP\/1\.1 200 OK/);
    client.destroy();
  };
  const openSocket = async (): Promise<WebSocket> => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v2`);
    socket.binaryType = 'arraybuffer';
    await once(socket, 'open');
    return socket;
  };
  const logIn = async () => {
    const socket = await openSocket();
    let received = '';
    socket.addEventListener('message', ({ data }) => (received += Buffer.from(data).toString('latin1')));
    socket.send(Buffer.concat([int32(4 + STARTUP.length), STARTUP, message('p', 'secret\0')]));
    await eventually(() => received.endsWith('Z\0\0\0\u0005I'));
    socket.close();
  };

  for (const [what, [start, next]] of Object.entries(SLOW))
    it(`have ${LIMIT / 1000} s for ${what}, however often they send a part of it`, async () => {
      mock.timers.enable({ apis: ['setTimeout'] });
      const client = await connect(start);
      await post();
      for (const _ of [1, 2, 3]) {
        mock.timers.tick(LIMIT / 3 - 1);
        client.write(next, 'latin1');
        await post();
      }
      assert.equal(client.closed, false);
      const closed = once(client.resume(), 'close');
      mock.timers.tick(LIMIT);
      await closed;
    });

  it('are not those whose request is complete and waits for its result', async () => {
    const waiting: net.Socket[] = (unanswered = []);
    mock.timers.enable({ apis: ['setTimeout'] });
    const reply = once(await connect(COMPLETE), 'data');
    await eventually(() => waiting.length === 1);
    mock.timers.tick(10 * LIMIT);
    waiting.forEach(answer);
    assert.match(String((await reply)[0]), /^HTTP\/1\.1 200 OK/);
  });

  it('make room for another one when there are too many', async () => {
    const slow = [];
    for (let count = 0; count < MAX_CONNECTIONS; count += 1) slow.push(await connect(HEAD));
    const first = once(slow[0]?.resume() ?? assert.fail(), 'close');
    await post();
    await first;
    assert.deepEqual(
      slow.filter(({ closed }) => closed),
      slow.slice(0, 1),
    );
  });

  it('have 64 MB together for what they send on WebSockets before the login', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const sent = Buffer.alloc(30 * 1024 * 1024);
    const large = await Promise.all(Array.from({ length: 5 }, async () => connect(UPGRADE)));
    for (const client of large) {
      await once(client, 'data');
      // A message that is not complete.
      client.write(Buffer.concat([Buffer.from([0x82, 0xff]), int32(0), int32(sent.length + 1), sent]));
    }
    await eventually(() => large.filter(({ closed }) => closed).length === 3);
    await logIn();
  });

  it('do not keep WebSockets from logging in, sixty at once', async () => {
    const slow = await Promise.all(Array.from({ length: 60 }, openSocket));
    await Promise.all(Array.from({ length: 60 }, logIn));
    for (const socket of slow) socket.close();
  });
});
