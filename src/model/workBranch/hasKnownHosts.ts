/** Separate from the table, because every window asks at activation. */
import type { Memory } from '../memory.ts';

/** The entry of {@link KnownHosts}. */
export const KNOWN_HOSTS = 'hostedPostgres.knownHosts';

/** Whether an env file may have to be shown or followed. */
export function hasKnownHosts(memory: Pick<Memory, 'get'>): boolean {
  const stored = memory.get(KNOWN_HOSTS);
  return Array.isArray(stored) && stored.length > 0;
}
