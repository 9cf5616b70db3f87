/** Whether there are known hosts. This is separate from their table, because every window calls this at activation. */
import type { Memory } from '../window/memory.ts';

/** The entry of {@link KnownHosts}. */
export const KNOWN_HOSTS_ENTRY = 'hostedPostgres.knownHosts';

/** Whether any window has an env file to show or update. */
export function hasKnownHosts(memory: Pick<Memory, 'get'>): boolean {
  return Array.isArray(memory.get(KNOWN_HOSTS_ENTRY));
}
