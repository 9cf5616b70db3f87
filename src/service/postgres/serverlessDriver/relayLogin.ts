/**
 * The Postgres protocol of a client on a WebSocket. It is asked for its password as text, so that it can send startup,
 * password and first query at once. The login at the server is SCRAM.
 */
import { once } from 'node:events';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { createPgClient } from '../../../base/sql/pgClient.ts';
import { readFirstPacket } from '../network/protocol.ts';
import { LOOPBACK } from '../server/serverAddress.ts';

/** The longest packet before the login, in bytes. */
const MAX_LENGTH = 10_000;
const AUTHENTICATION = 'R'.charCodeAt(0);
const CLEARTEXT_PASSWORD = Buffer.from([AUTHENTICATION, 0, 0, 0, 8, 0, 0, 0, 3]);

interface ClientLogin {
  /** The start-up packet, or a cancel request. */
  readonly packet: Buffer;
  /** A secret. Undefined for a cancel request. */
  readonly password: string | undefined;
}

/** Reads what a client sends before it waits for the server. @throws if it breaks the protocol or has gone */
export async function readClientLogin(client: Duplex): Promise<ClientLogin> {
  const { kind, packet } = await readStartup(client);
  if (kind === 'cancel') return { packet, password: undefined };
  client.write(CLEARTEXT_PASSWORD);
  if (String(await readExactly(client, 1)) !== 'p') throw new Error('no password');
  return { packet, password: (await readPacket(client)).subarray(4, -1).toString() };
}

/**
 * Logs the client in at the server and connects both for the rest of the session. A cancel request is only passed on.
 * Resolves when the client is logged in or has received the error message, at once for a cancel request.
 * @throws if the server breaks the protocol
 */
export async function connectAfterLogin(
  client: Duplex,
  { packet, password }: ClientLogin,
  port: number,
): Promise<void> {
  if (client.destroyed) return;
  if (password === undefined) {
    const server = net.connect(port, LOOPBACK, () => server.end(packet));
    server.on('error', () => server.destroy()).once('close', () => client.end());
    return;
  }
  // The password is a function, so that an empty one isn't replaced by that of the environment.
  const session = createPgClient({ host: LOOPBACK, port, ssl: false, password: async () => password });
  const server = session.connection.stream;
  server.once('close', () => client.end());
  client.once('close', () => server.destroy());
  // The session begins with the client's own packet, with all its parameters.
  Object.assign(session.connection, { startup: () => server.write(packet) });
  const received: Buffer[] = [];
  // The chunks are copied: with the rest of a message, `pg` writes into the chunk that has its beginning.
  server.on('data', (chunk: Buffer) => received.push(Buffer.from(chunk)));
  const isLoggedIn = await session.connect().then(
    () => true,
    () => false,
  );
  server.removeAllListeners('data');
  client.write(skipScramMessages(Buffer.concat(received)));
  if (!isLoggedIn) return void server.destroy();
  client.pipe(server);
  server.pipe(client);
}

/** Leaves out the messages of the login before AuthenticationOk or an error. */
function skipScramMessages(answer: Buffer): Buffer {
  let start = 0;
  while (answer[start] === AUTHENTICATION && answer.readInt32BE(start + 5) !== 0)
    start += 1 + answer.readInt32BE(start + 1);
  return answer.subarray(start);
}

/** Reads the start-up packet or a cancel request. Encryption inside of the WebSocket is refused. */
async function readStartup(client: Duplex): Promise<{ kind: 'startup' | 'cancel'; packet: Buffer }> {
  for (;;) {
    const packet = await readPacket(client);
    const kind = readFirstPacket(packet);
    if (kind === 'startup' || kind === 'cancel') return { kind, packet };
    if (kind !== 'ssl' && kind !== 'gssenc') throw new Error('not a startup packet');
    client.write('N');
  }
}

/** Reads a length and the bytes that it counts. */
async function readPacket(client: Duplex): Promise<Buffer> {
  const head = await readExactly(client, 4);
  const length = head.readInt32BE(0);
  if (length < 5 || length > MAX_LENGTH) throw new Error('not a packet');
  return Buffer.concat([head, await readExactly(client, length - 4)]);
}

/** Reads this many bytes, and leaves what follows in the stream. @throws if the stream ends first */
async function readExactly(stream: Duplex, length: number): Promise<Buffer> {
  const ended = new AbortController();
  const end = () => ended.abort();
  stream.once('end', end).once('close', end);
  let bytes = Buffer.alloc(0);
  try {
    while (bytes.length < length) {
      // This takes all that has arrived. Otherwise, `readable` would fire again at once, before any other event of the process.
      const size = Math.min(length - bytes.length, stream.readableLength);
      const chunk = stream.read(size) as Buffer | null;
      if (chunk !== null) bytes = Buffer.concat([bytes, chunk]);
      else if (stream.destroyed || stream.readableEnded) throw new Error('the stream ended');
      else await once(stream, 'readable', { signal: ended.signal });
    }
    return bytes;
  } finally {
    stream.off('end', end).off('close', end);
  }
}
