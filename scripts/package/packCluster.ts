// Writes src/service/postgres/template/cluster-<major>.br with the Postgres from npm: see packedCluster.ts. Run it when Postgres's
// major version or the arguments of initdb change. The file is in Git because initdb's result has its time in it, and the same
// commit must give the same packages.
//   node scripts/package/packCluster.ts
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import {
  chooseBinaries,
  PACKED_CLUSTER_IN_CLONE,
  findPrograms,
  PACKED_CLUSTER_MAJOR,
} from '../../src/service/postgres/server/programs.ts';
import type { ClusterIndex } from '../../src/service/postgres/template/packedCluster.ts';
import { clusterArguments, removeVacuumMaps } from '../../src/service/postgres/template/clusterTemplate.ts';
import { findNobody } from '../../src/service/privileges/unixAccount.ts';
import { projectRoot } from '../../test/workbench/folders.ts';

/** The import gives new rows these ids and above, so that the old ones are recognized (Postgres's source, transam.h). */
const FIRST_UNPINNED = 12_000;

const REDUCTION = [
  `DELETE FROM pg_collation WHERE oid >= ${FIRST_UNPINNED}`,
  `DELETE FROM pg_description WHERE classoid = 'pg_collation'::regclass AND objoid >= ${FIRST_UNPINNED}`,
  "UPDATE pg_collation SET collversion = NULL WHERE collname = 'unicode'",
  "UPDATE pg_database SET datistemplate = false WHERE datname = 'template0'",
  'DROP DATABASE template0',
  'DROP DATABASE postgres',
  'VACUUM (FREEZE) pg_collation, pg_description, pg_database, pg_shdescription',
];

/** The service writes its own configuration. The last holds statistics that a server writes when it ends. */
const LEFT_OUT = /^(?:postgresql\.conf|pg_hba\.conf|pg_stat\/.*)$/;

const binaries = chooseBinaries(findPrograms(undefined));
if (typeof binaries === 'string') throw new Error(binaries);
if (binaries.major !== PACKED_CLUSTER_MAJOR)
  throw new Error(`Postgres ${binaries.major} instead of ${PACKED_CLUSTER_MAJOR}`);
const account = process.getuid?.() === 0 ? findNobody() : undefined;
const folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-cluster-'));
if (account !== undefined) chownSync(folder, account.uid, account.gid);
chmodSync(folder, 0o700);
try {
  const data = path.join(folder, 'data');
  // Without a PATH, initdb finds no collations of this machine.
  const options = { ...account, cwd: folder, env: { LC_ALL: 'C', TZ: 'UTC' } };
  execFileSync(binaries.initdb, ['-D', data, ...clusterArguments(binaries.major), '--auth=trust'], {
    ...options,
    stdio: 'ignore',
  });
  const statements = REDUCTION.map((statement) => `${statement};\n`).join('');
  const single = ['--single', '-D', data, '-c', 'exit_on_error=on', 'template1'];
  execFileSync(binaries.postgres, single, { ...options, input: statements });
  removeVacuumMaps(data);
  removeUnusedLog(path.join(data, 'pg_wal'));
  const packed = pack(data);
  writeFileSync(path.join(projectRoot, PACKED_CLUSTER_IN_CLONE), packed);
  console.log(`${(packed.length / 1_000_000).toFixed(2)} MB`);
} finally {
  rmSync(folder, { recursive: true });
}

/** The first segment ends with the last checkpoint. The others were made for later use. */
function removeUnusedLog(wal: string): void {
  const [, ...others] = readdirSync(wal)
    .filter((name) => /^[0-9A-F]{24}$/.test(name))
    .toSorted();
  for (const name of others) rmSync(path.join(wal, name));
}

function pack(data: string): Buffer {
  const entries = readdirSync(data, { recursive: true, withFileTypes: true })
    .map((entry) => ({
      isFolder: entry.isDirectory(),
      name: path.relative(data, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'),
    }))
    .filter(({ name }) => !LEFT_OUT.test(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const files = entries.flatMap(({ isFolder, name }) =>
    isFolder ? [] : { name, bytes: readFileSync(path.join(data, name)) },
  );
  const index: ClusterIndex = {
    folders: entries.flatMap(({ isFolder, name }) => (isFolder ? name : [])),
    files: files.map(({ name, bytes }) => [name, bytes.length]),
  };
  const bytes = Buffer.concat([
    Buffer.from(`${JSON.stringify(index)}\n`),
    ...files.map((file) => file.bytes),
  ]);
  const params = {
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params });
}
