/** Load for an HTTP server on loopback, light enough that the server and not the load is what is measured. */
import { once } from 'node:events';
import net from 'node:net';

export interface Load {
  readonly port: number;
  /** The bytes of the next request of a connection. */
  readonly request: (connection: number, count: number) => string;
  readonly connections: number;
  readonly milliseconds: number;
}

/**
 * Keeps every connection busy with one request after another.
 * @returns answers per second @throws when one is not 200
 */
export async function answersPerSecond(load: Load): Promise<number> {
  const startedAt = performance.now();
  const until = startedAt + load.milliseconds;
  const counts = await Promise.all(
    Array.from({ length: load.connections }, (_, connection) => askUntil(until, load, connection)),
  );
  return (counts.reduce((sum, count) => sum + count) * 1000) / (performance.now() - startedAt);
}

async function askUntil(until: number, load: Load, connection: number): Promise<number> {
  const socket = net.connect({ port: load.port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const ended = Promise.withResolvers<number>();
  let count = 0;
  let arrived: Buffer = Buffer.alloc(0);
  const ask = () => socket.write(load.request(connection, count));
  socket.on('error', ended.reject);
  socket.on('close', () => ended.reject(new Error('The server closed the connection')));
  socket.on('data', (chunk: Buffer) => {
    arrived = arrived.length === 0 ? chunk : Buffer.concat([arrived, chunk]);
    const length = answerLength(arrived);
    if (length === undefined || arrived.length < length) return;
    arrived = Buffer.alloc(0);
    count += 1;
    if (performance.now() < until) ask();
    else ended.resolve(count);
  });
  ask();
  try {
    return await ended.promise;
  } finally {
    socket.destroy();
  }
}

/** Bytes of head and body, or undefined while the head is not complete. */
function answerLength(bytes: Buffer): number | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = bytes.toString('latin1', 0, end);
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(bytes.toString());
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (length === undefined) throw new Error(`An answer without its length: ${head}`);
  return end + 4 + Number(length);
}
