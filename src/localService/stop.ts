/** Ends the local service, also one that hangs. */
import { pause, systemClock } from '../base/clock.ts';
import { isRunning, type ProcessIdentity } from '../base/processIdentity.ts';
import { findServiceAddress, findServiceOwner, isServiceEnding } from './discover.ts';
import { LONGEST_END } from './endLimits.ts';
import { LocalServiceError, requestEnd } from './lease.ts';

/** Milliseconds after which a service hangs if it hasn't noted that it is ending, and in which it ends after it was killed. */
const NOTE_LIMIT = 10_000;
const KILL_LIMIT = 5_000;

/**
 * Ends the service of the data directory. If the service hangs, its Postgres processes may remain until the next start.
 * @returns whether it was running
 * @throws {LocalServiceError} if it can't be ended
 */
export async function endService(dataDir: string): Promise<boolean> {
  const owner = await findServiceOwner(dataDir);
  if (owner === undefined) return false;
  if (await requestEndOf(owner, dataDir)) {
    if (await hasEnded(owner, NOTE_LIMIT)) return true;
    // Its servers may need longer, and would have to recover at the next start if it was killed.
    if (isServiceEnding(dataDir) && (await hasEnded(owner, LONGEST_END - NOTE_LIMIT))) return true;
  }
  signal(owner, 'SIGKILL');
  if (await hasEnded(owner, KILL_LIMIT)) return true;
  throw new LocalServiceError('silent', `The local service (process ${owner.pid}) could not be ended`);
}

/** Asks the service to stop its servers and end. @returns false if it can't be asked, is silent or refuses, so that it won't end */
async function requestEndOf(owner: ProcessIdentity, dataDir: string): Promise<boolean> {
  if (process.platform !== 'win32') {
    signal(owner, 'SIGTERM');
    return true;
  }
  // On Windows, each signal kills. A service that is still starting has no address.
  const address = await findServiceAddress(dataDir, owner);
  return address !== undefined && requestEnd(address).catch(() => false);
}

function signal({ pid }: ProcessIdentity, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The service has already ended.
  }
}

/** @param limit milliseconds to wait */
async function hasEnded(owner: ProcessIdentity, limit: number): Promise<boolean> {
  const deadline = systemClock.now() + limit;
  for (; systemClock.now() < deadline; await pause(50)) if (!(await isRunning(owner))) return true;
  return false;
}
