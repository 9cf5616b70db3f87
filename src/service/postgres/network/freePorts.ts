/** Picks ports for computes to keep. */
import { randomInt } from 'node:crypto';
import net from 'node:net';
import { EngineError, type ComputeAddress } from '../../core/computeEngine.ts';

/**
 * Below the range that systems give to outgoing connections (from 32768 on Linux), so that a compute finds its port
 * free when the service comes back.
 */
const FIRST = 15_000;
const LAST = 32_000;
const ATTEMPTS = 1000;

/** Two free ports on 127.0.0.1, none of `taken`. @throws {EngineError} when they cannot be found */
export async function freePorts(taken: ReadonlySet<number>): Promise<ComputeAddress> {
  const found: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST, LAST);
    if (!taken.has(port) && !found.includes(port) && (await isFree(port))) found.push(port);
    const [first, second] = found;
    if (first !== undefined && second !== undefined) return { port: first, poolerPort: second };
  }
  throw new EngineError('No free ports on 127.0.0.1');
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
