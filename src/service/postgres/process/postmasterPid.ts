/** Reads `postmaster.pid`, the file a running Postgres keeps in its data directory. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface PostmasterPid {
  readonly pid: number;
  /** Seconds since 1970. */
  readonly startedAt: number;
  /** `starting`, `ready`, `standby` (accepts reads), `stopping`; empty while there is none yet. */
  readonly status: string;
}

export const postmasterPidFile = (dataDir: string): string => path.join(dataDir, 'postmaster.pid');

export function readPostmasterPid(dataDir: string): PostmasterPid | undefined {
  let text: string;
  try {
    text = readFileSync(postmasterPidFile(dataDir), 'utf8');
  } catch {
    return undefined; // Not running.
  }
  const lines = text.split('\n');
  // A single-user server writes its pid with a minus.
  const pid = Math.abs(Number(lines[0]));
  return pid > 0 ? { pid, startedAt: Number(lines[2]), status: (lines[7] ?? '').trim() } : undefined;
}
