/** Sends HTTP requests over raw sockets, so that the load itself takes little CPU time compared with the server. */
import { once } from 'node:events';
import net from 'node:net';

export interface Load {
  readonly port: number;
  /** Returns the bytes of a connection's next request. */
  readonly request: (connection: number, count: number) => string;
  readonly connections: number;
  readonly milliseconds: number;
}

/**
 * Sends one request after the other on every connection.
 * @returns replies per second
 * @throws {Error} if a reply is not 200
 */
export async function repliesPerSecond(load: Load): Promise<number> {
  const startedAt = performance.now();
  const endAt = startedAt + load.milliseconds;
  const counts = await Promise.all(
    Array.from({ length: load.connections }, (_, connection) => sendUntil(endAt, load, connection)),
  );
  return (counts.reduce((sum, count) => sum + count) * 1000) / (performance.now() - startedAt);
}

async function sendUntil(endAt: number, load: Load, connection: number): Promise<number> {
  const socket = net.connect({ port: load.port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const ended = Promise.withResolvers<number>();
  let count = 0;
  let received: Buffer = Buffer.alloc(0);
  const send = () => socket.write(load.request(connection, count));
  socket.on('error', ended.reject);
  socket.on('close', () => ended.reject(new Error('The server closed the connection')));
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const length = replyLength(received);
    if (length === undefined || received.length < length) return;
    received = Buffer.alloc(0);
    count += 1;
    if (performance.now() < endAt) send();
    else ended.resolve(count);
  });
  send();
  try {
    return await ended.promise;
  } finally {
    socket.destroy();
  }
}

/** Returns the bytes of head and body, or undefined if the head is incomplete. */
function replyLength(bytes: Buffer): number | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = bytes.toString('latin1', 0, end);
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(bytes.toString());
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (length === undefined) throw new Error(`A reply without content-length: ${head}`);
  return end + 4 + Number(length);
}
