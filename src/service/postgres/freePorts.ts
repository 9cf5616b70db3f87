/** Picks ports for computes to keep. */
import { randomInt } from 'node:crypto';
import net from 'node:net';

/**
 * Below the range that systems give to outgoing connections (from 32768 on Linux), so that a compute finds its port
 * free when the service comes back.
 */
const FIRST = 15_000;
const LAST = 32_000;
const ATTEMPTS = 1000;

/** @returns `count` free ports on 127.0.0.1, or fewer when that many cannot be found */
export async function freePorts(count: number, taken: ReadonlySet<number>): Promise<number[]> {
  const found: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS && found.length < count; attempt += 1) {
    const port = randomInt(FIRST, LAST);
    if (!taken.has(port) && !found.includes(port) && (await isFree(port))) found.push(port);
  }
  return found;
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
