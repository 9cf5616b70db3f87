/**
 * What initdb creates, packed into a file, because unpacking takes a tenth of its time. Left out is what depends on the machine
 * (collations, the configuration), and the databases template0 and postgres, which are copies of template1.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import * as z from 'zod/mini';

/** The start of the unpacked file, as a line of JSON. The contents of the files follow, in this order. */
const Index = z.object({
  folders: z.array(z.string()),
  /** Paths with slashes, and bytes. */
  files: z.array(z.tuple([z.string(), z.number()])),
});
export type Index = z.infer<typeof Index>;

/** Writes the cluster into a folder. In template1, {@link COMPLETION} must follow. @throws {Error} if the file is damaged */
export function unpackCluster(file: string, folder: string): void {
  const bytes = brotliDecompressSync(readFileSync(file));
  let start = bytes.indexOf('\n') + 1;
  const { folders, files } = z.parse(Index, JSON.parse(bytes.toString('utf8', 0, start)));
  for (const name of ['.', ...folders]) mkdirSync(path.join(folder, name), { mode: 0o700 });
  for (const [name, size] of files) {
    writeFileSync(path.join(folder, name), bytes.subarray(start, start + size), { mode: 0o600 });
    start += size;
  }
}

/**
 * What initdb does at its end, with the machine's collations (Postgres's source, initdb.c: setup_collation, vacuum_db,
 * make_template0, make_postgres).
 */
export const COMPLETION = [
  "UPDATE pg_collation SET collversion = pg_collation_actual_version(oid) WHERE collname = 'unicode'",
  "SELECT pg_import_system_collations('pg_catalog')",
  'VACUUM (FREEZE, ANALYZE) pg_collation, pg_description',
  // For their ids, which are reserved.
  'SET allow_system_table_mods = on',
  'CREATE DATABASE template0 IS_TEMPLATE = true ALLOW_CONNECTIONS = false OID = 4 STRATEGY = file_copy',
  "UPDATE pg_database SET datcollversion = NULL WHERE datname = 'template0'",
  'REVOKE CREATE, TEMPORARY ON DATABASE template0 FROM PUBLIC',
  "COMMENT ON DATABASE template0 IS 'unmodifiable empty database'",
  'CREATE DATABASE postgres OID = 5 STRATEGY = file_copy',
  'RESET allow_system_table_mods',
  "COMMENT ON DATABASE postgres IS 'default administrative connection database'",
];
