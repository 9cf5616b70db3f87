/** The copy of a branch on which a read replica runs. The caller shares the branch's lock. */
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type Client from 'pg/lib/client.js';
import type { ComputeSpec } from '../../core/computeEngine.ts';
import { KEPT_WAL_FILE } from '../server/settings.ts';
import { copyBranchDataTo, prepareBranchForCopy, takeBaseBackup } from './baseBackup.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import {
  createAtomically,
  makePrivateFolder,
  removeFileOrFolder,
  writePrivateFile,
} from '../storage/privateFiles.ts';
import { hasHistory, KEPT_WAL_SETTING } from '../history/history.ts';

type Replica = Pick<ComputeSpec, 'id' | 'branchId'>;

/** Whether the replica can start from its copy: it can stream what is missing, or nothing is missing. */
export function isCopyUsable(deps: ServerDependencies, replica: Replica): boolean {
  const [branchId, version] = readMarker(path.join(deps.storage.replica(replica.id), MARKER));
  if (branchId !== replica.branchId) return false;
  return deps.branches.primary(branchId) !== undefined || version === deps.branches.dataVersion(branchId);
}

/** Copies the branch for a replica, and starts it. Until it has started, a running primary keeps the WAL for it. */
export async function startOnNewCopy<T>(
  deps: ServerDependencies,
  replica: Replica,
  start: () => Promise<T>,
): Promise<T> {
  // This comes before the version is read, because recovery changes the version.
  await prepareBranchForCopy(deps, replica.branchId);
  const primary = deps.branches.primary(replica.branchId);
  const version = primary === undefined ? deps.branches.dataVersion(replica.branchId) : '';
  let session: Client | undefined;
  try {
    await createAtomically(deps.storage.replica(replica.id), async (unfinished) => {
      makePrivateFolder(unfinished);
      const dataDir = path.join(unfinished, 'data');
      const from = deps.branches.folder(replica.branchId);
      // The replica gets the WAL of a running primary from that primary.
      if (primary === undefined) await copyBranchDataTo(deps, replica.branchId, dataDir);
      else ({ session } = await takeBaseBackup(deps, primary, [{ from, to: dataDir }]));
      writePrivateFile(path.join(dataDir, 'standby.signal'), '');
      writePrivateFile(path.join(unfinished, MARKER), `${replica.branchId}\n${version}`);
      removeFileOrFolder(deps.storage.replica(replica.id));
    });
    updateKeptWal(deps, replica.branchId);
    return await start();
  } finally {
    await session?.end();
  }
}

/** How far a suspended read replica can fall behind before its branch is copied again. The user's `wal_keep_size` replaces it. */
const REPLICA_WAL_SETTING = "wal_keep_size = '256MB'\n";

/** Makes primaries of the branch keep WAL if the branch has history or replicas. */
export function updateKeptWal(deps: ServerDependencies, branchId: string): void {
  const folder = deps.storage.branch(branchId);
  const forReplicas = findCopyMarkers(deps, branchId).length > 0 ? REPLICA_WAL_SETTING : '';
  writePrivateFile(path.join(folder, KEPT_WAL_FILE), hasHistory(folder) ? KEPT_WAL_SETTING : forReplicas);
  deps.branches.primary(branchId)?.reload();
}

/** Makes the replicas of the branch copy its data again when they start. */
export function invalidateReplicaCopies(deps: ServerDependencies, branchId: string): void {
  for (const marker of findCopyMarkers(deps, branchId)) rmSync(marker);
}

/** A file with the branch of a copy and, if no server ran during the copy, the version of the branch's data. */
const MARKER = 'branch';

/** Returns the markers of the branch's copies. */
function findCopyMarkers({ storage }: ServerDependencies, branchId: string): string[] {
  const folder = path.join(storage.root, 'replicas');
  const markers = readdirSync(folder).map((id) => path.join(folder, id, MARKER));
  return markers.filter((marker) => readMarker(marker)[0] === branchId);
}

function readMarker(marker: string): string[] {
  try {
    return readFileSync(marker, 'utf8').split('\n');
  } catch {
    return []; // There is no copy.
  }
}
