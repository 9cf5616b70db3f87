/**
 * Copies the data of a branch: by a base backup while a server runs on it or must recover it (Postgres manual, "Making a Base
 * Backup Using the Low Level API"), else directly. The caller holds or shares the branch's lock.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import type Client from 'pg/lib/client.js';
import { inBatches } from '../../core/inBatches.ts';
import { EngineError } from '../../core/computeEngine.ts';
import { withBranchServer } from './branchServer.ts';
import type { ServerDependencies } from './branchData.ts';
import { copyTree } from './copyTree.ts';
import { writePrivateFile } from '../folders/files.ts';
import { connectAsSuperuser } from '../process/superuser.ts';
import type { Postmaster } from '../process/postmaster.ts';
import { isShutDown, TIMELINE_FILE, WAL_FILE, walFileOfCheckpoint } from '../wal/walFiles.ts';

/** Files that belong to one running server. A copy of data that no server has recovered yet keeps its `backup_label`. */
const PER_SERVER_FILES =
  /^(postmaster\.(pid|opts)|standby\.signal|backup_label\.old|pg_replslot\/.*|.*\bpgsql_tmp.*)$/;
/** Files that a running server changes during the copy. */
const FILES_IN_USE =
  /^(backup_label$|(pg_wal|pg_stat_tmp|pg_notify|pg_subtrans|pg_serial|pg_snapshots|pg_dynshmem)\/.)/;

/** Copies the data into a new folder, and creates it first if it is missing. The copy can recover by itself. @throws {EngineError} */
export async function copyData(deps: ServerDependencies, branchId: string, to: string): Promise<void> {
  const { branches } = deps;
  const from = await branches.ensure(branchId);
  const { ownServer } = branches.lock(branchId);
  if (branches.primary(branchId) === undefined && !ownServer.isUsed && isShutDown(from))
    return ownServer.without(async () => copyFiles(deps, { from, to }));
  return withBranchServer(deps, branchId, async (server) => sharedBackup(deps, server)({ from, to }));
}

async function copyFiles(deps: ServerDependencies, { from, to }: Copy): Promise<void> {
  const firstNeeded = walFileOfCheckpoint(from);
  const omit = (file: string) => {
    const name = path.basename(file);
    return PER_SERVER_FILES.test(file) || (WAL_FILE.test(name) && name < firstNeeded);
  };
  await copyTree(from, to, { omit, shutdownSignal: deps.shutdownSignal });
}

/** Creates data that is missing, and recovers it after a crash, unless a primary runs. @throws {EngineError} */
export async function prepareCopy(deps: ServerDependencies, branchId: string): Promise<void> {
  const { branches } = deps;
  const dataDir = await branches.ensure(branchId);
  if (branches.primary(branchId) === undefined && !isShutDown(dataDir))
    await withBranchServer(deps, branchId, async () => undefined);
}

interface Copy {
  readonly from: string;
  readonly to: string;
}

/**
 * Copies of a server's data that are asked for at the same time share a backup, with its connection, its checkpoint and one of
 * the server's ten replication slots. Copies for replicas don't: they are made one at a time.
 */
const sharedBackups = new WeakMap<Postmaster, (copy: Copy) => Promise<void>>();

function sharedBackup(deps: ServerDependencies, server: Postmaster): (copy: Copy) => Promise<void> {
  const backup =
    sharedBackups.get(server) ??
    inBatches(async (copies: readonly Copy[]) => {
      const { session, first, last } = await takeBaseBackup(deps, server, copies);
      try {
        await inParallel(copies, async (copy) => copyWal(copy, first, last));
      } finally {
        await session.end();
      }
    });
  sharedBackups.set(server, backup);
  return backup;
}

interface BaseBackup {
  /** The server keeps the WAL of the backup until this session ends. */
  readonly session: Client;
  /** The first and the last WAL file that the copies need to recover. */
  readonly first: string;
  readonly last: string;
  /** The positions of its start and its end (LSN). */
  readonly start: string;
  readonly end: string;
}

/** Copies the data without the WAL. */
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
    await inParallel(copies, async ({ from, to }) =>
      copyTree(from, to, { omit, shutdownSignal: deps.shutdownSignal }),
    );
    const stopped = await session.query<{ end: string; last: string; labelfile: string }>(
      'select lsn::text as end, pg_catalog.pg_walfile_name(lsn) as last, labelfile from pg_catalog.pg_backup_stop(false)',
    );
    const [start, stop] = [started.rows[0], stopped.rows[0]];
    if (start === undefined || stop === undefined) throw new EngineError('Postgres made no backup');
    for (const { to } of copies) writePrivateFile(path.join(to, 'backup_label'), stop.labelfile);
    return { session, ...start, end: stop.end, last: stop.last };
  } catch (error) {
    await session.end();
    throw error;
  }
}

/** @throws the first error, when nothing is written any more */
async function inParallel(copies: readonly Copy[], work: (copy: Copy) => Promise<void>): Promise<void> {
  const works = copies.map(work);
  await Promise.allSettled(works);
  await Promise.all(works);
}

/** Postgres completed the last file when it ended the backup. Later recoveries need to know where the timeline comes from. */
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
