/** Messages that arrive in parts: split at each byte, or one byte at a time. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import net from 'node:net';
import { duplexPair, type Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readBackendKey, readFirstPacket } from '../../../../../src/service/postgres/network/protocol.ts';
import { filterStartupPacket } from '../../../../../src/service/postgres/network/startupPacket.ts';
import {
  readClientLogin,
  connectAfterLogin,
} from '../../../../../src/service/postgres/serverlessDriver/relayLogin.ts';
import { Conversation, int32, message } from '../../../../helpers/postgresConversation.ts';
import { connectTo, eventually } from '../clients.ts';
import { useBranch } from '../useBranch.ts';
import { gatewayTo } from './gatewayTo.ts';
import { listen } from '../../../../helpers/listen.ts';

const packet = (code: number, body: Buffer | string = ''): Buffer =>
  Buffer.concat([int32(8 + Buffer.byteLength(body)), int32(code), Buffer.from(body)]);
const startupOf = (user: string, database: string): Buffer =>
  packet(0x30000, `user\0${user}\0database\0${database}\0\0`);
const SSL_REQUEST = packet(80877103);
const GSS_REQUEST = packet(80877104);
const CANCEL_REQUEST = packet(80877102, Buffer.concat([int32(1), int32(2)]));
const CLIENT_HELLO = Buffer.concat([Buffer.from([0x16, 3, 1, 0, 60]), Buffer.alloc(60, 7)]);
const HTTP_REQUEST = Buffer.from('GET /none HTTP/1.1\r\nhost: x\r\n\r\n');

/** All ways to send bytes in two parts. */
const splits = (bytes: Buffer): (readonly Buffer[])[] =>
  Array.from({ length: bytes.length - 1 }, (_, at) => [bytes.subarray(0, at + 1), bytes.subarray(at + 1)]);

describe('readFirstPacket', () => {
  for (const [kind, bytes] of Object.entries({
    ssl: SSL_REQUEST,
    gssenc: GSS_REQUEST,
    cancel: CANCEL_REQUEST,
    startup: startupOf('someone', 'somewhere'),
    tls: CLIENT_HELLO,
  }))
    it(`waits for each byte of a packet of the kind ${kind}`, () => {
      for (const [start = bytes] of splits(bytes)) assert.equal(readFirstPacket(start), undefined);
      assert.equal(readFirstPacket(bytes), kind);
    });
});

describe('readBackendKey', () => {
  const login = Buffer.concat([message('R', int32(0)), message('S', 'TimeZone\0UTC\0')]);
  const key = message('K', Buffer.concat([int32(4711), int32(5)]));

  it('waits for the whole key', () => {
    const answer = Buffer.concat([login, key]);
    for (let length = 0; length < answer.length; length += 1)
      assert.equal(readBackendKey(answer.subarray(0, length)), undefined);
    assert.deepEqual(readBackendKey(answer), Buffer.concat([int32(4711), int32(5)]));
  });

  for (const [what, answer] of Object.entries({
    'an error': Buffer.concat([login, message('E', 'SFATAL\0\0')]),
    'an answer without it': Buffer.concat([login, message('Z', 'I')]),
    'an answer that does not end': Buffer.concat(Array.from({ length: 5000 }, () => login)),
  }))
    it(`finds none in ${what}`, () => assert.equal(readBackendKey(answer), 'none'));
});

describe('a gateway', () => {
  let port: number;
  const received: string[] = [];
  before(async () => {
    // Answers what it gets, and closes.
    port = await gatewayTo((socket) => {
      socket.once('data', (chunk) => {
        received.push(chunk.toString('hex'));
        socket.end('x');
      });
    });
  });

  /** Sends each part only after the gateway's side has got the former ones. @returns the gateway's answer */
  async function send(parts: readonly Buffer[]): Promise<string> {
    const accepted = new Promise<net.Socket>((resolve) => {
      const onSocket = (channelMessage: unknown) => {
        const { socket } = channelMessage as { socket: net.Socket };
        if (socket.localPort !== port) return;
        unsubscribe('net.server.socket', onSocket);
        resolve(socket);
      };
      subscribe('net.server.socket', onSocket);
    });
    const client = net.connect({ port, host: '127.0.0.1', noDelay: true });
    const answer = once(client, 'data');
    const socket = await accepted;
    let sent = 0;
    for (const part of parts) {
      client.write(part);
      sent += part.length;
      while (socket.bytesRead < sent) await nextTurn();
    }
    const [bytes] = await answer;
    client.destroy();
    return String(bytes);
  }

  for (const [what, bytes, forwarded] of [
    ['cancel request', CANCEL_REQUEST, CANCEL_REQUEST],
    [
      'start-up packet',
      startupOf('someone', 'somewhere'),
      filterStartupPacket(startupOf('someone', 'somewhere')),
    ],
  ] as const)
    it(`forwards a ${what} that is split anywhere`, async () => {
      received.length = 0;
      for (const parts of splits(bytes)) assert.equal(await send(parts), 'x');
      assert.deepEqual(new Set(received), new Set([forwarded.toString('hex')]));
    });

  it('answers requests and handshakes that are split anywhere', async () => {
    for (const parts of splits(GSS_REQUEST)) assert.equal(await send(parts), 'N');
    for (const parts of splits(SSL_REQUEST)) assert.equal(await send(parts), 'S');
    for (const parts of splits(HTTP_REQUEST)) assert.match(await send(parts), /^HTTP\/1\.1 404/);
    // The handshake is nonsense, so the answer is an alert.
    for (const parts of splits(CLIENT_HELLO)) assert.equal((await send(parts))[0], '\u0015');
  });
});

describe('messages that arrive in parts', function () {
  this.timeout(600_000);
  const branch = useBranch({}, { withoutPgBouncer: true });

  describe('of a login on a WebSocket', () => {
    /** Sends the parts, each in its own turn of the event loop. @returns all that the client receives */
    async function logIn(parts: readonly Buffer[], port = branch.compute.address.port): Promise<string> {
      const [client, relay] = duplexPair();
      limitReads(relay);
      let received = '';
      client.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
      const done = readClientLogin(relay).then(async (login) => connectAfterLogin(relay, login, port));
      for (const part of parts) {
        client.write(part);
        await nextTurn();
      }
      await done;
      await eventually(() => received.includes('SELECT 1') || relay.destroyed);
      client.destroy();
      return received;
    }
    const wanted = () => {
      const { username, password, pathname } = new URL(branch.uri);
      const [startup, login] = [startupOf(username, pathname.slice(1)), message('p', `${password}\0`)];
      return Buffer.concat([startup, login, message('Q', 'select 5 as five\0')]);
    };

    it('are complete wherever they are split', async () => {
      // Without a password, which would take most of the time.
      const texts: string[] = [];
      const server = net.createServer((socket) => new Conversation(socket, () => undefined, { texts }));
      const port = await listen(server);
      for (const parts of splits(wanted())) assert.match(await logIn(parts, port), /SELECT 1/);
      assert.deepEqual(new Set(texts), new Set(['select 5 as five']));
    });

    it('are complete one byte at a time, after a request for TLS', async () => {
      const bytes = [...SSL_REQUEST, ...GSS_REQUEST, ...wanted()];
      assert.match(await logIn(bytes.map((byte) => Buffer.from([byte]))), /^NN.*five.*SELECT 1/s);
    });

    it('end with the client, wherever it leaves', async () => {
      const { length } = startupOf('app_owner', 'app');
      for (const [start = Buffer.alloc(0)] of splits(wanted().subarray(0, length + 10)))
        for (const leave of ['end', 'destroy'] as const) {
          const [client, relay] = duplexPair();
          limitReads(relay);
          const done = assert.rejects(readClientLogin(relay));
          client.resume().write(start);
          await nextTurn();
          client[leave]();
          if (leave === 'destroy') relay.destroy();
          await done;
        }
    });
  });

  for (const [name, options] of [
    ['without TLS', {}],
    ['with TLS', { ssl: { rejectUnauthorized: false } }],
  ] as const)
    it(`log in a client ${name}, one byte at a time both ways`, async () => {
      const port = await byteByByte(branch.compute.address.port);
      const client = await connectTo(
        branch.uri.replace(String(branch.compute.address.port), String(port)),
        options,
      );
      assert.deepEqual((await client.query('select $1::int + 1 as two', [1])).rows, [{ two: 2 }]);
    });

  it('are a whole POST /sql, one byte at a time', async () => {
    const port = await byteByByte(branch.compute.address.port);
    const headers = { 'neon-connection-string': branch.uri };
    const body = JSON.stringify({ query: "select 'ä' as a" });
    const reply = await fetch(`http://127.0.0.1:${port}/sql`, { method: 'POST', headers, body });
    assert.match(await reply.text(), /"rows":\[\{"a":"ä"\}\]/);
  });
});

/** Ends the stream if a reader reads without end although nothing has arrived, because this would freeze the tests. */
function limitReads(stream: Duplex): void {
  const read = stream.read.bind(stream);
  let reads = 0;
  stream.read = (size) => {
    reads += 1;
    if (reads > 5000) stream.destroy();
    return read(size);
  };
}

/** Forwards connections to a port, each byte in its own turn of the event loop. */
async function byteByByte(to: number): Promise<number> {
  const pass = async (from: net.Socket, target: net.Socket) => {
    for await (const chunk of from)
      for (const byte of chunk as Buffer) {
        target.write(Buffer.from([byte]));
        await nextTurn();
      }
    target.end();
  };
  const server = net.createServer({ noDelay: true }, (client) => {
    const target = net.connect({ port: to, host: '127.0.0.1', noDelay: true });
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const)
      pass(one, other).catch(() => other.destroy());
  });
  return listen(server);
}
