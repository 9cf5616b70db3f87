/** The copy of a branch on which a read replica runs. The caller holds the branch's lock. */
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { ComputeSpec } from '../../core/computeEngine.ts';
import { REPLICAS_FILE } from '../config/settings.ts';
import { copyData, prepareCopy } from './baseBackup.ts';
import type { ServerTools } from './branchData.ts';
import { createAtomically, makePrivateFolder, removeAll, writePrivateFile } from './files.ts';

type Replica = Pick<ComputeSpec, 'id' | 'branchId'>;

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
  // Recovery changes the version.
  await prepareCopy(tools, replica.branchId);
  const primary = tools.branches.primary(replica.branchId);
  const version = primary === undefined ? tools.branches.version(replica.branchId) : '';
  const folder = tools.storage.replica(replica.id);
  const dataDir = path.join(folder, 'data');
  makePrivateFolder(folder);
  // A copy without its marker is not used, so the marker is removed first and written last.
  for (const old of [markerOf(tools, replica), dataDir]) removeAll(old);
  let release = async (): Promise<void> => undefined;
  await createAtomically(dataDir, async (unfinished) => {
    release = await copyData(tools, replica.branchId, unfinished, 'streamed');
    writePrivateFile(path.join(unfinished, 'standby.signal'), '');
  });
  writeMarker(tools, replica, version);
  keepWalForReplicas(tools, replica.branchId);
  return release;
}

/** How far a suspended read replica can fall behind before its branch is copied again. The user's setting wins. */
const KEPT_FOR_REPLICAS = "wal_keep_size = '256MB'\n";

/** Makes primaries of the branch keep WAL if the branch has replicas. */
export function keepWalForReplicas(tools: ServerTools, branchId: string): void {
  const file = path.join(tools.storage.branch(branchId), REPLICAS_FILE);
  writePrivateFile(file, copiesOf(tools, branchId).length > 0 ? KEPT_FOR_REPLICAS : '');
  tools.branches.primary(branchId)?.reload();
}

/** Makes the branch's replicas copy it again when they start. */
export function forgetCopies(tools: ServerTools, branchId: string): void {
  for (const replica of copiesOf(tools, branchId)) rmSync(markerOf(tools, replica));
}

const copiesOf = (tools: ServerTools, branchId: string): Replica[] =>
  readdirSync(path.join(tools.storage.root, 'replicas'))
    .map((id) => ({ id, branchId }))
    .filter((replica) => readMarker(tools, replica)[0] === branchId);

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
