/**
 * What initdb creates, packed into a file, because unpacking takes a tenth of its time. Left out is what depends on the machine
 * (collations, the configuration), and the databases template0 and postgres, which are copies of template1.
 */
import { randomFillSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import * as z from 'zod/mini';

/** The start of the unpacked file, as a line of JSON. The contents of the files follow, in this order. */
const ClusterIndex = z.object({
  folders: z.array(z.string()),
  /** The files: their paths with slashes, and their bytes. */
  files: z.array(z.tuple([z.string(), z.number()])),
});
export type ClusterIndex = z.infer<typeof ClusterIndex>;

/** Writes the cluster into a folder. In template1, {@link COMPLETION_STATEMENTS} must follow. @throws {Error} if the file is damaged */
export function unpackCluster(file: string, folder: string): void {
  const bytes = brotliDecompressSync(readFileSync(file));
  let start = bytes.indexOf('\n') + 1;
  const { folders, files } = z.parse(ClusterIndex, JSON.parse(bytes.toString('utf8', 0, start)));
  for (const name of ['.', ...folders]) mkdirSync(path.join(folder, name), { mode: 0o700 });
  for (const [name, size] of files) {
    const content = bytes.subarray(start, start + size);
    const written = name === 'global/pg_control' ? withNewNonce(content) : content;
    writeFileSync(path.join(folder, name), written, { mode: 0o600 });
    start += size;
  }
}

/**
 * Bytes of the control file of this version (`ControlFileData` in Postgres's source, pg_control.h) from which Postgres makes its answer
 * to a login as a role that doesn't exist (SCRAM's mock nonce).
 */
const NONCE = { start: 257, end: 289 };
/** The position of the sum of all bytes before it. Postgres checks it at each start. */
const CRC = 292;

/** Returns the control file with another nonce, without which all installations would give the same answer. */
function withNewNonce(file: Uint8Array): Buffer {
  const changed = Buffer.from(file);
  randomFillSync(changed, NONCE.start, NONCE.end - NONCE.start);
  changed.writeUInt32LE(crc32c(changed.subarray(0, CRC)), CRC);
  return changed;
}

/** Castagnoli's polynomial, with its bits in reverse order. */
const POLYNOMIAL = 0x82f6_3b78;

function crc32c(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
  }
  return ~crc >>> 0;
}

/**
 * What initdb does at its end, with the machine's collations (Postgres's source, initdb.c: setup_collation, vacuum_db,
 * make_template0, make_postgres).
 */
export const COMPLETION_STATEMENTS = [
  "UPDATE pg_collation SET collversion = pg_collation_actual_version(oid) WHERE collname = 'unicode'",
  "SELECT pg_import_system_collations('pg_catalog')",
  'VACUUM (FREEZE, ANALYZE) pg_collation, pg_description',
  // With this setting, Postgres creates databases with reserved ids.
  'SET allow_system_table_mods = on',
  'CREATE DATABASE template0 IS_TEMPLATE = true ALLOW_CONNECTIONS = false OID = 4 STRATEGY = file_copy',
  "UPDATE pg_database SET datcollversion = NULL WHERE datname = 'template0'",
  'REVOKE CREATE, TEMPORARY ON DATABASE template0 FROM PUBLIC',
  "COMMENT ON DATABASE template0 IS 'unmodifiable empty database'",
  'CREATE DATABASE postgres OID = 5 STRATEGY = file_copy',
  'RESET allow_system_table_mods',
  "COMMENT ON DATABASE postgres IS 'default administrative connection database'",
];
