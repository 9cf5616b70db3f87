/** Chooses the ports of a compute, which keeps them for its whole life. */
import { randomInt } from 'node:crypto';
import net from 'node:net';
import { EngineError, type ComputeAddress } from '../../core/computeEngine.ts';

/**
 * Below the range for outgoing connections (from 32768 on Linux), so that a compute's ports are likely to be free when the
 * service starts again.
 */
const FIRST = 15_000;
const LAST = 32_000;
const PORT_ATTEMPTS = 1000;

/**
 * Each process looks first in a part of the range that few others have: two services that start at the same time could both
 * find a port free and only then use it.
 */
const SLICES = 16;
const SLICE = Math.floor((LAST - FIRST) / SLICES);
const OWN_FIRST = FIRST + (process.pid % SLICES) * SLICE;

/** Two free ports on 127.0.0.1, except those in `taken`. @throws {EngineError} if there are not enough */
export async function freePorts(taken: ReadonlySet<number>): Promise<ComputeAddress> {
  const found: number[] = [];
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt += 1) {
    const isOwnPart = attempt < PORT_ATTEMPTS / 2;
    const port = isOwnPart ? randomInt(OWN_FIRST, OWN_FIRST + SLICE) : randomInt(FIRST, LAST);
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
