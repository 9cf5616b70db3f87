/**
 * Reads Postgres's control file. Its first fields are the same in all versions that the service supports
 * (src/include/catalog/pg_control.h).
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const [STATE, CHECKPOINT, TIMELINE] = [16, 32, 48];
const SHUT_DOWN = 1;
/** The record of a checkpoint, with the headers of the pages on which it is, is shorter. Bytes. */
const CHECKPOINT_LENGTH = 256n;
/** A file of the write-ahead log (WAL). The names of a timeline are in the order of their contents. */
export const WAL_FILE = /^[0-9A-F]{24}$/;

const readControlFile = (dataDir: string) => readFileSync(path.join(dataDir, 'global', 'pg_control'));

/** Whether the last server on the data wrote everything and ended. */
export const isShutDown = (dataDir: string): boolean =>
  !existsSync(path.join(dataDir, 'postmaster.pid')) &&
  readControlFile(dataDir).readInt32LE(STATE) === SHUT_DOWN;

/** The WAL files that a server needs to start after a clean shutdown: those with its checkpoint. */
export function walOfShutdown(dataDir: string): ReadonlySet<string> {
  const control = readControlFile(dataDir);
  const folder = path.join(dataDir, 'pg_wal');
  const [file] = readdirSync(folder).filter((name) => WAL_FILE.test(name));
  if (file === undefined) return new Set();
  // They all have the same size.
  const { size } = statSync(path.join(folder, file), { bigint: true });
  const start = control.readBigUInt64LE(CHECKPOINT);
  return new Set(
    [start, start + CHECKPOINT_LENGTH].map((position) => walFile(control, position / size, size)),
  );
}

/** The name of the WAL file with this number: its timeline, and two parts of the number. */
function walFile(control: Buffer, number: bigint, size: bigint): string {
  const perPart = 0x1_0000_0000n / size;
  const parts = [control.readUInt32LE(TIMELINE), number / perPart, number % perPart];
  return parts.map((part) => part.toString(16).toUpperCase().padStart(8, '0')).join('');
}
