/**
 * Copies a branch for a read replica: by a base backup from a running primary, else directly from the data directory. Call
 * it in the branch's turn.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ComputeSpec } from '../../core/computeEngine.ts';
import { createAtomically } from '../data/atomicDirectory.ts';
import type { ServerTools } from '../data/branchData.ts';
import { copyTree } from '../data/copyTree.ts';
import { makePrivateFolder, removeAll, writePrivateFile } from '../data/privateFiles.ts';
import { connectAsSuperuser } from '../network/superuser.ts';
import type { Postmaster } from '../process/postmaster.ts';

type Replica = Pick<ComputeSpec, 'id' | 'branchId'>;

/** Files that belong to one running server. */
const OF_ONE_SERVER =
  /^(postmaster\.(pid|opts)|standby\.signal|backup_label(\.old)?|pg_replslot\/.*|.*\bpgsql_tmp.*)$/;
/** Folders that a running server changes during the copy. The replica streams the WAL itself. */
const OF_A_RUNNING_SERVER =
  /^(pg_wal|pg_stat_tmp|pg_notify|pg_subtrans|pg_serial|pg_snapshots|pg_dynshmem)\/./;

/** Whether the replica can start from its copy: it can stream what is missing, or nothing is missing. */
export function isCopyUsable(tools: ServerTools, replica: Replica): boolean {
  const [branchId, version] = readMarker(tools, replica);
  if (branchId !== replica.branchId) return false;
  return tools.branches.primary(branchId) !== undefined || version === tools.branches.version(branchId);
}

/**
 * Copies the branch.
 * @returns a function to call when the replica has started: until then a running primary keeps the WAL it needs
 */
export async function seed(tools: ServerTools, replica: Replica): Promise<() => Promise<void>> {
  const primary = tools.branches.primary(replica.branchId);
  if (primary !== undefined) return seedFromRunning(tools, replica, primary);
  const version = tools.branches.version(replica.branchId);
  await copyBranch(tools, replica, { omit: (file) => OF_ONE_SERVER.test(file) });
  writeMarker(tools, replica, version);
  return async () => undefined;
}

async function seedFromRunning(
  tools: ServerTools,
  replica: Replica,
  primary: Postmaster,
): Promise<() => Promise<void>> {
  const client = await connectAsSuperuser(primary.address, tools.logins.superuser);
  try {
    const slot = `seed_${replica.id.replaceAll('-', '_')}`;
    await client.query('select pg_catalog.pg_create_physical_replication_slot($1, true, true)', [slot]);
    await client.query('select pg_catalog.pg_backup_start($1, true)', [slot]);
    await copyBranch(tools, replica, {
      omit: (file) => OF_ONE_SERVER.test(file) || OF_A_RUNNING_SERVER.test(file),
      async label() {
        const { rows } = await client.query<{ labelfile: string }>(
          'select labelfile from pg_catalog.pg_backup_stop(false)',
        );
        return rows[0]?.labelfile;
      },
    });
    writeMarker(tools, replica, '');
    return async () => client.end();
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function copyBranch(
  tools: ServerTools,
  replica: Replica,
  source: { readonly omit: (file: string) => boolean; readonly label?: () => Promise<string | undefined> },
): Promise<void> {
  const folder = tools.storage.replica(replica.id);
  const dataDir = path.join(folder, 'data');
  makePrivateFolder(folder);
  // A copy without its marker is not used, so the marker is removed first and written last.
  for (const old of [markerOf(tools, replica), dataDir]) removeAll(old);
  const omit = (file: string) => source.omit(file.replaceAll(path.sep, '/'));
  await createAtomically(dataDir, async (unfinished) => {
    await copyTree(tools.branches.folder(replica.branchId), unfinished, { omit, ending: tools.ending });
    const label = await source.label?.();
    if (label !== undefined) writePrivateFile(path.join(unfinished, 'backup_label'), label);
    writePrivateFile(path.join(unfinished, 'standby.signal'), '');
  });
}

/** The branch of a complete copy and, if no server ran during the copy, the version of the branch's data. */
const markerOf = (tools: ServerTools, replica: Replica): string =>
  path.join(tools.storage.replica(replica.id), 'branch');

function readMarker(tools: ServerTools, replica: Replica): string[] {
  try {
    return readFileSync(markerOf(tools, replica), 'utf8').split('\n');
  } catch {
    return []; // No copy.
  }
}

function writeMarker(tools: ServerTools, replica: Replica, version: string): void {
  writePrivateFile(markerOf(tools, replica), `${replica.branchId}\n${version}`);
}
