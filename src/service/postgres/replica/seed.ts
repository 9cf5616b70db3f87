/**
 * Makes a read replica's copy of its branch: from the running primary by a base backup, from the directory itself
 * while the primary sleeps. Also brings an older copy up to a sleeping primary. Call all of it in the branch's turn.
 */
import type Client from 'pg/lib/client.js';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { makePrivateFolder, writePrivateFile } from '../data/privateFiles.ts';
import { readControlFile } from './controlFile.ts';
import { copyTree } from '../data/copyTree.ts';
import { createAtomically } from '../data/atomicDirectory.ts';
import type { Postmaster } from '../process/postmaster.ts';
import type { ServerTools } from '../data/branchData.ts';
import { connectAsSuperuser } from '../network/superuser.ts';

/** Belongs to one running server, so must not come along. */
const OF_ONE_SERVER =
  /^(postmaster\.(pid|opts)|standby\.signal|backup_label(\.old)?|pg_replslot\/.*|.*\bpgsql_tmp.*)$/;
/** The log of a running server changes under the copy; the replica streams its own. */
const OF_A_RUNNING_SERVER =
  /^(pg_wal|pg_stat_tmp|pg_notify|pg_subtrans|pg_serial|pg_snapshots|pg_dynshmem)\/./;

const portable = (relative: string) => relative.replaceAll(path.sep, '/');

/** Whether a replica has a finished copy of this branch. */
export function isSeeded(tools: ServerTools, computeId: string, branchId: string): boolean {
  const marker = path.join(tools.storage.replica(computeId), 'branch');
  return existsSync(marker) && readFileSync(marker, 'utf8') === branchId;
}

/**
 * Copies the branch of a running primary. The session it returns keeps the log that the replica still needs from
 * being removed: close it when the replica has started.
 */
export async function seedFromRunning(
  tools: ServerTools,
  replica: { readonly computeId: string; readonly branchId: string },
  primary: Postmaster,
): Promise<Client> {
  const client = await connectAsSuperuser(primary.address, tools.logins.superuser);
  try {
    const slot = `seed_${replica.computeId.replaceAll('-', '_')}`;
    await client.query(`select pg_catalog.pg_create_physical_replication_slot('${slot}', true, true)`);
    await client.query(`select pg_catalog.pg_backup_start('${slot}', true)`);
    await seed(tools, replica, {
      omit: (file) => OF_ONE_SERVER.test(portable(file)) || OF_A_RUNNING_SERVER.test(portable(file)),
      async label() {
        const { rows } = await client.query<{ labelfile: string }>(
          'select labelfile from pg_catalog.pg_backup_stop(false)',
        );
        return rows[0]?.labelfile;
      },
    });
    return client;
  } catch (error) {
    await client.end();
    throw error;
  }
}

/** Copies the directory of a branch that no server runs on. */
export async function seedFromStopped(
  tools: ServerTools,
  replica: { readonly computeId: string; readonly branchId: string },
): Promise<void> {
  await seed(tools, replica, {
    omit: (file) => OF_ONE_SERVER.test(portable(file)),
    label: async () => undefined,
  });
}

async function seed(
  tools: ServerTools,
  replica: { readonly computeId: string; readonly branchId: string },
  source: { readonly omit: (file: string) => boolean; readonly label: () => Promise<string | undefined> },
): Promise<void> {
  const folder = tools.storage.replica(replica.computeId);
  const dataDir = path.join(folder, 'data');
  makePrivateFolder(folder);
  // Without its marker a copy counts as none, so the marker goes first and comes last.
  for (const old of [path.join(folder, 'branch'), dataDir]) rmSync(old, { recursive: true, force: true });
  const { omit } = source;
  await createAtomically(dataDir, async (making) => {
    await copyTree(tools.branches.folder(replica.branchId), making, { omit, ending: tools.ending });
    const label = await source.label();
    if (label !== undefined) writePrivateFile(path.join(making, 'backup_label'), label);
    writePrivateFile(path.join(making, 'standby.signal'), '');
  });
  writePrivateFile(path.join(folder, 'branch'), replica.branchId);
}

/**
 * Gives a replica the log that its sleeping primary wrote since, so that it shows every committed row without waking it.
 * @returns false when the branch no longer has all of it: the replica must be seeded again
 */
export function catchUpWithStopped(tools: ServerTools, computeId: string, branchId: string): boolean {
  const replicaDir = path.join(tools.storage.replica(computeId), 'data');
  const branchDir = tools.branches.folder(branchId);
  const replica = readControlFile(replicaDir);
  const branch = readControlFile(branchDir);
  const segments = readdirSync(path.join(branchDir, 'pg_wal')).filter((name) => /^[0-9A-F]{24}$/.test(name));
  if (replica.systemId !== branch.systemId || replica.timeline !== branch.timeline) return false;
  if (!segments.includes(replica.firstSegment)) return false;
  mkdirSync(path.join(replicaDir, 'pg_wal'), { recursive: true });
  for (const name of segments.filter((segment) => segment >= replica.firstSegment)) {
    copyFileSync(path.join(branchDir, 'pg_wal', name), path.join(replicaDir, 'pg_wal', name));
  }
  return true;
}
