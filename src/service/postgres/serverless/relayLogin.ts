/**
 * The Postgres protocol of a client on a WebSocket. It is asked for its password as text, so that it can send startup,
 * password and first query at once. The login at the server is SCRAM.
 */
import { once } from 'node:events';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import sasl from 'pg/lib/crypto/sasl.js';
import { readFirstPacket } from '../network/protocol.ts';
import { LOOPBACK } from '../network/serverAddress.ts';

/** Of messages before the login is complete. Bytes. */
const MAX_LENGTH = 10_000;
const Authentication = { ok: 0, cleartext: 3, sasl: 10, saslContinue: 11, saslFinal: 12 } as const;

/** Resolves when the client is logged in, or was told why not. @throws if one of them breaks the protocol or has gone */
export async function relayLogin(client: Duplex, port: number): Promise<void> {
  const startup = await readStartup(client);
  const server = net.connect({ port, host: LOOPBACK, noDelay: true });
  server.on('error', () => server.destroy());
  server.once('close', () => client.end());
  client.once('close', () => server.destroy());
  if (startup.kind === 'cancel') return void server.end(startup.packet);
  client.write(message('R', int32(Authentication.cleartext)));
  const { type, body } = await readMessage(client);
  if (type !== 'p') throw new Error('no password');
  server.write(startup.packet);
  const loggedIn = await logIn(server, body.subarray(0, -1).toString(), (bytes) => client.write(bytes));
  if (!loggedIn) return void client.end();
  client.pipe(server);
  server.pipe(client);
}

async function readStartup(client: Duplex): Promise<{ kind: 'startup' | 'cancel'; packet: Buffer }> {
  for (;;) {
    const head = await take(client, 4);
    const length = head.readInt32BE(0);
    if (length < 8 || length > MAX_LENGTH) throw new Error('not a startup packet');
    const packet = Buffer.concat([head, await take(client, length - 4)]);
    const kind = readFirstPacket(packet);
    if (kind === 'startup' || kind === 'cancel') return { kind, packet };
    if (kind !== 'ssl' && kind !== 'gssenc') throw new Error('not a startup packet');
    client.write('N');
  }
}

/** Sends on what the client must see. @returns false if the server refused */
async function logIn(server: Duplex, password: string, send: (bytes: Buffer) => void): Promise<boolean> {
  let session: sasl.Session | undefined;
  for (;;) {
    const { type, body, bytes } = await readMessage(server);
    if (type !== 'R') send(bytes);
    if (type === 'E') return false;
    if (type !== 'R') continue;
    const text = body.subarray(4).toString();
    switch (body.readInt32BE(0)) {
      case Authentication.ok:
        send(bytes);
        return true;
      case Authentication.sasl:
        session = sasl.startSession(text.split('\0'));
        server.write(
          message('p', `${session.mechanism}\0`, int32(session.response.length), session.response),
        );
        break;
      case Authentication.saslContinue:
        if (session === undefined) throw new Error('unexpected SASL');
        await sasl.continueSession(session, password, text);
        server.write(message('p', session.response));
        break;
      case Authentication.saslFinal:
        if (session === undefined) throw new Error('unexpected SASL');
        sasl.finalizeSession(session, text);
        break;
      default:
        throw new Error('unknown authentication');
    }
  }
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

function message(type: string, ...parts: readonly (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

async function readMessage(stream: Duplex): Promise<{ type: string; body: Buffer; bytes: Buffer }> {
  const head = await take(stream, 5);
  const length = head.readInt32BE(1);
  if (length < 4 || length > MAX_LENGTH) throw new Error('not a message');
  const body = length === 4 ? Buffer.alloc(0) : await take(stream, length - 4);
  return { type: head.toString('latin1', 0, 1), body, bytes: Buffer.concat([head, body]) };
}

/** Leaves what follows in the stream. @throws if it ends first */
async function take(stream: Duplex, length: number): Promise<Buffer> {
  const ended = new AbortController();
  const end = () => ended.abort();
  stream.once('end', end).once('close', end);
  try {
    for (;;) {
      const bytes = stream.read(length) as Buffer | null;
      if (bytes?.length === length) return bytes;
      if (bytes !== null || stream.destroyed || stream.readableEnded) throw new Error('the stream ended');
      await once(stream, 'readable', { signal: ended.signal });
    }
  } finally {
    stream.off('end', end).off('close', end);
  }
}
