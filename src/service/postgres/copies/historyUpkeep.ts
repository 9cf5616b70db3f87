/**
 * Makes bases, and removes history that is too old or takes too much space, in the background. If the service is killed at any
 * point, it leaves bases that no branch names, and WAL before the oldest base. These are removed later.
 */
import { randomBytes } from 'node:crypto';
import { constants, existsSync, rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import type { BranchRetention, HistoryLimits } from '../../core/branchHistory.ts';
import { createAtomically, databasesSize, folderSize } from '../storage/privateFiles.ts';
import { updateSpaceNote, readDiskSpace, reportSpace, type DiskSpace } from '../history/historySpace.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { takeBaseBackup } from './baseBackup.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import {
  hasWalBeforeHistory,
  historySize,
  hasHistory,
  KEPT_WAL_MB,
  readBases,
  readHistory,
  readHistoryIfReadable,
  removeHistory,
  removeWalBeforeHistory,
  removeUnusedBases,
  totalHistorySize,
  usedBases,
  writeHistory,
  type BaseBackupRecord,
  type History,
} from '../history/history.ts';
import { updateKeptWal } from './replicaCopies.ts';
import { syncToDisk } from '../template/syncToDisk.ts';
import type { ComputeEngine } from '../../core/computeEngine.ts';

const MB = 1024 ** 2;
const LIMITS: HistoryLimits = {
  branch: KEPT_WAL_MB * MB,
  total: 4 * KEPT_WAL_MB * MB,
  leastWritten: 64 * MB,
  mostWritten: 768 * MB,
};

/**
 * Makes and removes history of branches. A problem with one of them, such as damaged data, doesn't keep the others from being checked.
 * @returns the problems. Does not throw
 */
export async function keepHistory(
  deps: ServerDependencies & { readonly log: (line: string) => void },
  branches: readonly BranchRetention[],
  { isAll, canExpire = true, limits = LIMITS }: Parameters<ComputeEngine['keepHistory']>[1],
): Promise<readonly unknown[]> {
  const { storage, isTemporary } = deps;
  if (isTemporary) return [];
  const problems: unknown[] = [];
  const report = (problem: unknown) => problems.push(problem);
  let isReduced = false;
  for (const branch of branches) {
    try {
      if (!deps.branches.hasData(branch.id)) continue;
      isReduced = (await keepBranchHistory(deps, branch, { ...limits, canExpire })) || isReduced;
    } catch (error) {
      report(error);
    }
  }
  if (isAll) await removeOldestMomentsOfAll(deps, branches, limits, report).catch(report);
  if (isReduced) await removeUnusedBases(storage).catch(report);
  return problems;
}

/** Makes and removes history of a branch. Returns whether something was removed. */
async function keepBranchHistory(
  deps: ServerDependencies,
  { id, seconds }: BranchRetention,
  { canExpire, ...limits }: HistoryLimits & { readonly canExpire: boolean },
): Promise<boolean> {
  const folder = deps.storage.branch(id);
  if (seconds > 0) {
    await makeBaseIfDue(deps, id, limits);
    const isReduced = await removeOldestMoments(
      deps,
      id,
      limits,
      canExpire ? Date.now() - seconds * 1000 : 0,
    );
    if (isReduced) updateSpaceNote(folder, undefined);
    return isReduced;
  }
  if (!hasHistory(folder)) return false;
  removeHistory(folder);
  updateKeptWal(deps, id);
  return true;
}

/** Whether the data of deleted branches can stay, because it is within the limit of all history and leaves enough space on the disk. */
export async function canKeepDeleted(
  { storage, isTemporary, branches }: ServerDependencies,
  branchIds: readonly string[],
): Promise<boolean> {
  if (isTemporary || !(await readDiskSpace(storage)).isFree) return false;
  const sizes: Sizes = new Map();
  for (const id of branchIds) {
    const folder = storage.branch(id);
    if (!existsSync(folder)) continue;
    const version = readDataVersion(branches, id);
    const known = deletedSizes.get(folder);
    sizes.set(folder, known?.version === version ? known : { version, bytes: await folderSize(folder) });
  }
  deletedSizes = sizes;
  return [...sizes.values()].reduce((sum, { bytes }) => sum + bytes, 0) <= LIMITS.total;
}

/** Returns the version of the branch's data, or an empty text if there is no data or it is damaged. */
function readDataVersion(branches: ServerDependencies['branches'], id: string): string {
  try {
    return branches.dataVersion(id);
  } catch {
    return '';
  }
}

type Sizes = Map<string, { readonly version: string; readonly bytes: number }>;

/**
 * The sizes of deleted branches by their folders. Only servers change the data, so a size is measured again only if a server has run,
 * such as after a recovery.
 */
let deletedSizes: Sizes = new Map();

/** Makes a base if enough was written since the newest one, and the disk has space for it. */
async function makeBaseIfDue(deps: ServerDependencies, id: string, limits: HistoryLimits): Promise<void> {
  const { storage, branches } = deps;
  const primary = branches.primary(id);
  if (primary === undefined || primary.isStopping) return;
  const folder = storage.branch(id);
  const { wal, bases = [] } = readHistory(storage, folder) ?? {};
  const newest = bases.at(-1);
  const written =
    wal === undefined || newest === undefined
      ? Infinity
      : (wal.newestSegment() - wal.segmentAt(newest.start)) * wal.size;
  const checkSpace = async (needed = 0) => {
    const disk = await readDiskSpace(storage, { ...limits, needed });
    if (!disk.isFree && newest === undefined) updateSpaceNote(folder, disk);
    return disk.isFree;
  };
  if (written < limits.leastWritten || !(await checkSpace())) return;
  const data = path.join(folder, 'data');
  const size = await databasesSize(data);
  if (written < Math.min(size, limits.mostWritten)) return;
  const bytes = (await sharesBlocks(data, folder)) ? 0 : size;
  if (!(await checkSpace(bytes))) return;
  if (!hasHistory(folder)) {
    // With a history, even an empty one, the server keeps its WAL. The base needs the WAL from its start on.
    writeHistory(folder, []);
    updateKeptWal(deps, id);
  }
  await branches.lock(id).shared(async () => {
    if (branches.primary(id) === primary) await makeBase(deps, id, primary, bytes);
  });
}

async function makeBase(
  deps: ServerDependencies,
  id: string,
  primary: Postmaster,
  bytes: number,
): Promise<void> {
  const { storage } = deps;
  const name = path.join('bases', randomBytes(8).toString('hex'));
  const branch = storage.branch(id);
  const data = path.join(branch, 'data');
  let base: BaseBackupRecord | undefined;
  await createAtomically(path.join(storage.root, name), async (folder) => {
    const { session, start, end } = await takeBaseBackup(deps, primary, [{ from: data, to: folder }]);
    await session.end();
    base = {
      folder: name.replaceAll('\\', '/'),
      start,
      end,
      time: Date.now(),
      bytes,
    };
    await syncToDisk(deps, folder);
  });
  if (base !== undefined && hasHistory(branch)) writeHistory(branch, [...readBases(branch), base]);
}

/** Whether a copy of a file takes no space until the copy or the original changes. */
async function sharesBlocks(from: string, to: string): Promise<boolean> {
  const file = path.join(to, 'shares-blocks');
  try {
    await copyFile(path.join(from, 'PG_VERSION'), file, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * Removes the oldest moments of a branch: those before its retention, and more if its history is too large.
 * @param before when the retention begins @returns whether a base was removed from the history
 */
async function removeOldestMoments(
  deps: ServerDependencies,
  id: string,
  limits: HistoryLimits,
  before: number,
): Promise<boolean> {
  const folder = deps.storage.branch(id);
  const history = readHistory(deps.storage, folder);
  if (history === undefined) return false;
  const { wal } = history;
  const bases = [...history.bases];
  while (isTooOld(bases, before) || isTooLarge({ wal, bases }, limits)) bases.shift();
  // A server that writes much removes WAL itself. `history` lacks the bases that can't be used any more because of that.
  const isReduced = bases.length < readBases(folder).length;
  if (isReduced) writeHistory(folder, bases);
  // Copies in progress share the lock, because they need this WAL.
  if (hasWalBeforeHistory({ wal, bases }))
    await deps.branches.lock(id).exclusive(async () => {
      const current = readHistory(deps.storage, folder);
      if (current !== undefined) removeWalBeforeHistory(current);
    });
  return isReduced;
}

/**
 * Whether the oldest base must go because the history is too large. Two bases of large data may exceed the limit: the older one
 * stays while little was written after the newer one, because only few moments could be restored from that.
 */
function isTooLarge({ wal, bases }: History, { branch, leastWritten }: HistoryLimits): boolean {
  const [, second] = bases;
  const isNew =
    second !== undefined && (wal.newestSegment() - wal.segmentAt(second.start)) * wal.size < leastWritten;
  return !isNew && historySize({ wal, bases }) > branch;
}

/** Whether the oldest base is not needed, because the retention begins after the second one. */
const isTooOld = ([, second]: readonly BaseBackupRecord[], before: number): boolean =>
  second !== undefined && second.time < before;

/** Whether all histories are within the limit. The sum of their sizes is quicker to get, but counts shared files more than once. */
const areWithinLimit = (histories: readonly History[], limit: number): boolean =>
  histories.reduce((sum, history) => sum + historySize(history), 0) <= limit ||
  totalHistorySize(histories) <= limit;

/**
 * Removes the oldest moments of all branches while history takes too much space, or the disk is almost full, which the log then says.
 * @param report is called for each history that can't be read. Its space doesn't become free
 */
async function removeOldestMomentsOfAll(
  deps: ServerDependencies & { readonly log: (line: string) => void },
  branches: readonly BranchRetention[],
  limits: HistoryLimits,
  report: (problem: unknown) => void,
): Promise<void> {
  const { storage, log } = deps;
  // Also of folders that belong to no branch of the account now.
  usedBases(storage, report);
  for (let lacking: DiskSpace | undefined; ;) {
    // This comes first: between reading a history and writing it, a restore could replace the data.
    const disk = await readDiskSpace(storage, limits);
    const histories = branches.flatMap(({ id }) => {
      const history = readHistoryIfReadable(storage, storage.branch(id));
      return history === undefined || history.bases.length === 0 ? [] : [{ id, ...history }];
    });
    const [oldest] = histories.toSorted((a, b) => (a.bases[0]?.time ?? 0) - (b.bases[0]?.time ?? 0));
    const isTooMuch = !areWithinLimit(histories, limits.total);
    const isEnough = oldest === undefined || (!isTooMuch && disk.isFree);
    if (!isEnough && !disk.isFree) lacking = disk;
    // This comes first, because a removal may fail on a full disk.
    reportSpace(storage, lacking, log);
    if (isEnough) return;
    const folder = storage.branch(oldest.id);
    if (oldest.bases.length > 1) writeHistory(folder, oldest.bases.slice(1));
    else {
      removeHistory(folder);
      updateKeptWal(deps, oldest.id);
    }
    updateSpaceNote(folder, isTooMuch ? undefined : disk);
    await removeOldestMoments(deps, oldest.id, limits, 0);
    await removeUnusedBases(storage);
  }
}
