/**
 * Reads Postgres's control file. Its first fields are the same in all versions that the service supports
 * (src/include/catalog/pg_control.h).
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const [STATE, SHUT_DOWN, SHUT_DOWN_IN_RECOVERY] = [16, 1, 2];

/** Whether the last server on the data wrote everything and ended. */
export function isShutDown(dataDir: string): boolean {
  if (existsSync(path.join(dataDir, 'postmaster.pid'))) return false;
  const state = readFileSync(path.join(dataDir, 'global', 'pg_control')).readInt32LE(STATE);
  return state === SHUT_DOWN || state === SHUT_DOWN_IN_RECOVERY;
}
