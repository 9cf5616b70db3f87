import path from 'node:path';
import { installedPostgres } from '../../test/real/service/postgres/clients.ts';

/** Returns the program of the installed Postgres. @throws {Error} without one, so that a row that needs it fails */
export function findPgbench(): string {
  const programs = installedPostgres();
  if (programs === undefined) throw new Error('pgbench is not installed');
  return path.join(programs, 'pgbench');
}
