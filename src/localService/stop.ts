/** Ends the local service, also one that hangs. */
import { pause, systemClock } from '../base/clock.ts';
import { isRunning } from '../base/processIdentity.ts';
import { findServiceOwner } from './discover.ts';
import { LocalServiceError } from './lease.ts';

/** Signals, and the milliseconds to wait after each. */
const SIGNALS = [
  ['SIGTERM', 10_000],
  ['SIGKILL', 5_000],
] as const;

/**
 * Ends the service of the data directory. If the service hangs, its Postgres processes may remain until the next start.
 * @returns whether it was running
 * @throws {LocalServiceError} if it can't be ended
 */
export async function endService(dataDir: string): Promise<boolean> {
  const owner = await findServiceOwner(dataDir);
  if (owner === undefined) return false;
  for (const [signal, milliseconds] of SIGNALS) {
    const deadline = systemClock.now() + milliseconds;
    try {
      process.kill(owner.pid, signal);
    } catch {
      // The service has already ended.
    }
    for (; systemClock.now() < deadline; await pause(50)) if (!(await isRunning(owner))) return true;
  }
  throw new LocalServiceError('silent', `The local service (process ${owner.pid}) could not be ended`);
}
