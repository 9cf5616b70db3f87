/**
 * Copies the data of a branch: from a base of the branch's history; by a base backup while a server runs on the data or must recover
 * it (Postgres manual, "Making a Base Backup Using the Low Level API"); or else directly. The caller holds or shares the branch's lock.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import type Client from 'pg/lib/client.js';
import { runInBatches } from '../../core/inBatches.ts';
import { EngineError } from '../../core/computeEngine.ts';
import { withBranchServer } from '../branchData/branchServer.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { copyTree } from '../storage/copyTree.ts';
import { makePrivateFolder, writePrivateFile } from '../storage/privateFiles.ts';
import { endAtRest, endOfWal, isAtRest, rememberSnapshot, requireLsn } from './endOfWal.ts';
import {
  isTemplateBase,
  linkClosedWal,
  readHistoryIfReadable,
  writeHistory,
  type BaseBackupRecord,
} from '../history/history.ts';
import { connectAsSuperuser } from '../server/superuser.ts';
import type { Postmaster } from '../server/postmaster.ts';
import {
  wasShutDownCleanly,
  clearWalFrom,
  TIMELINE_FILE,
  WAL_FILE,
  walFileOfCheckpoint,
  Wal,
} from '../wal/walFiles.ts';
import { readWalRecords } from '../wal/walRecords.ts';

/** Files that belong to one running server. */
const PER_SERVER_FILES =
  /^(postmaster\.(pid|opts)|standby\.signal|backup_label\.old|pg_replslot\/.*|.*\bpgsql_tmp.*)$/;
/**
 * Further files that a copy leaves out. A server makes them again when it starts, except the label and the WAL, which follow
 * separately.
 */
const FILES_IN_USE =
  /^(backup_label$|(pg_wal|pg_stat_tmp|pg_notify|pg_subtrans|pg_serial|pg_snapshots|pg_dynshmem)\/.)/;

/**
 * Copies the data of a branch into a new folder, and creates the data first if the branch has no data yet. The copy can recover by
 * itself.
 * @returns the position in the branch's WAL up to which the copy has the data
 * @throws {EngineError}
 */
export async function copyBranchDataTo(
  deps: ServerDependencies,
  branchId: string,
  to: string,
): Promise<number> {
  const { branches } = deps;
  const from = await branches.ensureDataDir(branchId);
  if (isAtRest(deps, branchId, from))
    return branches.lock(branchId).ownServer.without(async () => copyFiles(deps, { from, to }));
  return withBranchServer(deps, branchId, async (server) => copyFromServer(deps, server, { from, to }));
}

async function copyFiles(deps: ServerDependencies, { from, to }: Copy): Promise<number> {
  const firstNeeded = walFileOfCheckpoint(from);
  const omit = (file: string) => {
    const name = path.basename(file);
    return PER_SERVER_FILES.test(file) || (WAL_FILE.test(name) && name < firstNeeded);
  };
  await copyTree(from, to, { omit, shutdownSignal: deps.shutdownSignal });
  return endAtRest(from);
}

/** Creates the data of a branch if it is missing, and recovers it after a crash, unless a primary runs. @throws {EngineError} */
export async function prepareBranchForCopy(deps: ServerDependencies, branchId: string): Promise<void> {
  const { branches } = deps;
  const dataDir = await branches.ensureDataDir(branchId);
  if (branches.primary(branchId) === undefined && !wasShutDownCleanly(dataDir))
    await withBranchServer(deps, branchId, async () => undefined);
}

interface Copy {
  readonly from: string;
  readonly to: string;
}

/**
 * Copies of a server's data that are requested at the same time share one backup, and so one connection, one checkpoint and one
 * of the server's ten replication slots. Copies for replicas don't share one, because they are made one at a time.
 */
const sharedBackups = new WeakMap<
  Postmaster,
  (copy: Copy) => Promise<Pick<BaseBackup, 'end' | 'snapshot'>>
>();

async function copyFromServer(deps: ServerDependencies, server: Postmaster, copy: Copy): Promise<number> {
  const backup =
    sharedBackups.get(server) ??
    runInBatches(async (copies: readonly Copy[]) => {
      const { session, first, last, ...ends } = await takeBaseBackup(deps, server, copies);
      try {
        await copyInParallel(copies, async (copy) => copyWal(copy, first, last));
        return ends;
      } finally {
        await session.end();
      }
    });
  sharedBackups.set(server, backup);
  const { end, snapshot } = await backup(copy);
  const position = endOfWholeRecords(copy.to, end);
  rememberSnapshot(server, position, snapshot);
  return position;
}

/**
 * Returns up to where a copy recovers: to the end of its log, which Postgres has ended with the backup. If others have filled the last
 * file before, a record that continues in the next one isn't whole.
 * @param from the position of a record
 */
function endOfWholeRecords(dataDir: string, from: number): number {
  let position = from;
  for (const { end } of readWalRecords(new Wal(dataDir), from)) position = end;
  return position;
}

interface BaseBackup {
  /** The server keeps the WAL of the backup until this session ends. */
  readonly session: Client;
  /** The first and the last WAL file that the copies need to recover. */
  readonly first: string;
  readonly last: string;
  /** The positions (LSN) of the backup's start and end. */
  readonly start: number;
  readonly end: number;
  /** `pg_current_snapshot` from before the end. */
  readonly snapshot: string;
}

/** Copies the data without the WAL. The caller ends the session when it has what it needs. */
export async function takeBaseBackup(
  deps: ServerDependencies,
  server: Postmaster,
  copies: readonly Copy[],
): Promise<BaseBackup> {
  const session = await connectAsSuperuser(deps, server.address);
  try {
    const name = `copy_${randomBytes(8).toString('hex')}`;
    await session.query('select pg_catalog.pg_create_physical_replication_slot($1, true, true)', [name]);
    const started = await session.query<{ start: string; first: string }>(
      'select lsn::text as start, pg_catalog.pg_walfile_name(lsn) as first from pg_catalog.pg_backup_start($1, true) as lsn',
      [name],
    );
    const omit = (file: string) => PER_SERVER_FILES.test(file) || FILES_IN_USE.test(file);
    await copyInParallel(copies, async ({ from, to }) =>
      copyTree(from, to, { omit, shutdownSignal: deps.shutdownSignal }),
    );
    const stopped = await session.query<{ end: string; last: string; labelfile: string; snapshot: string }>(
      `select lsn::text as end, pg_catalog.pg_walfile_name(lsn operator(pg_catalog.-) 1) as last, labelfile, pg_catalog.pg_current_snapshot()::text as snapshot
      from pg_catalog.pg_backup_stop(false)`,
    );
    const [start, stop] = [started.rows[0], stopped.rows[0]];
    if (start === undefined || stop === undefined) throw new EngineError('Postgres made no backup');
    for (const { to } of copies) writePrivateFile(path.join(to, 'backup_label'), stop.labelfile);
    const [first, last] = [start.first, stop.last];
    const { snapshot } = stop;
    return { session, first, last, start: requireLsn(start.start), end: requireLsn(stop.end), snapshot };
  } catch (error) {
    await session.end();
    throw error;
  }
}

/** Works on all copies at once. @throws the first error, but only when nothing is written any more */
async function copyInParallel(copies: readonly Copy[], work: (copy: Copy) => Promise<void>): Promise<void> {
  const works = copies.map(work);
  await Promise.allSettled(works);
  await Promise.all(works);
}

/**
 * Copies the write-ahead log that a backup needs. Postgres completed the last file when it ended the backup. The files about
 * timelines are copied, too, because later recoveries need them.
 */
async function copyWal({ from, to }: Copy, first: string, last: string): Promise<void> {
  const files = (await readdir(path.join(from, 'pg_wal'))).filter(
    (name) => TIMELINE_FILE.test(name) || (WAL_FILE.test(name) && name >= first && name <= last),
  );
  for (const name of files)
    await copyFile(
      path.join(from, 'pg_wal', name),
      path.join(to, 'pg_wal', name),
      constants.COPYFILE_FICLONE,
    );
  if (!files.includes(first) || !files.includes(last))
    throw new EngineError('The write-ahead log of the copy was removed');
}

interface BaseCopy {
  readonly wal: Wal;
  readonly base: BaseBackupRecord;
  /** The beginning of the WAL: at the base, or before it for older history. */
  readonly start: number;
  readonly end: number;
}

/**
 * Copies a base with the WAL from `start` to `end` and none after it, and the branch's settings.
 * @param folder the folder of the new data, which is created in its subfolder `data` and needs recovery
 */
export async function copyBase(
  { storage, shutdownSignal }: ServerDependencies,
  branchId: string,
  folder: string,
  { wal, base, start, end }: BaseCopy,
): Promise<void> {
  const dataDir = path.join(folder, 'data');
  makePrivateFolder(path.join(dataDir, 'pg_wal'));
  const inUse = linkClosedWal(wal, path.join(dataDir, 'pg_wal'), start, end - 1);
  for (const file of inUse) await copyFile(file.source, file.target, constants.COPYFILE_FICLONE);
  await clearWalFrom(inUse.at(-1)?.target, { size: wal.size, end });
  await copyTree(path.join(storage.root, base.folder), dataDir, {
    omit: (file) => file.startsWith('pg_wal/'),
    shutdownSignal,
  });
  const settings = path.join(storage.branch(branchId), 'data', 'postgresql.conf');
  await copyFile(settings, path.join(dataDir, 'postgresql.conf'));
}

/** How many segments recovery can read in the time that a base backup takes. */
const MAX_RECOVERED_SEGMENTS = 4;

/**
 * Copies a branch on which a primary runs from its newest base, if little was written since. A backup would end a segment of the
 * WAL each time, so that many copies of a branch would push out its history.
 * @param folder the folder of the new data, which keeps the history since the base and can recover by itself
 * @returns the position in the branch's WAL up to which the copy has the data; undefined if the branch wasn't copied
 */
export async function copyNewestBase(
  deps: ServerDependencies,
  branchId: string,
  folder: string,
): Promise<number | undefined> {
  // If there is no base to copy, `endOfWal` needn't log in.
  if (deps.branches.primary(branchId) === undefined || findNewestBase(deps, branchId) === undefined)
    return undefined;
  const end = await endOfWal(deps, branchId);
  // By now, the WAL may have new files.
  const found = findNewestBase(deps, branchId);
  if (found === undefined || found.base.end > end) return undefined;
  // From now on, the base is not removed.
  writeHistory(folder, [found.base]);
  await copyBase(deps, branchId, folder, { ...found, start: found.base.start, end });
  return end;
}

/** Finds the newest base from which a copy can soon recover by itself. @returns undefined also if the history is damaged */
function findNewestBase({ storage }: ServerDependencies, branchId: string) {
  const { wal, bases = [] } = readHistoryIfReadable(storage, storage.branch(branchId)) ?? {};
  const base = bases.at(-1);
  if (wal === undefined || base === undefined || isTemplateBase(base)) return undefined;
  if (wal.timelineAt(base.start) !== wal.timelineAt(Infinity)) return undefined;
  return wal.newestSegment() - wal.segmentAt(base.start) <= MAX_RECOVERED_SEGMENTS
    ? { wal, base }
    : undefined;
}
