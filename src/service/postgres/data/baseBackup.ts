/**
 * Copies the data of a branch: by a base backup while its primary runs (Postgres manual, "Making a Base Backup Using the
 * Low Level API"), else directly, once it is shut down. The caller holds or shares the branch's lock.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import type Client from 'pg/lib/client.js';
import { EngineError } from '../../core/computeEngine.ts';
import { withBranchServer } from '../catalog/branchServer.ts';
import { connectAsSuperuser } from '../network/superuser.ts';
import type { Postmaster } from '../process/postmaster.ts';
import type { ServerTools } from './branchData.ts';
import { isShutDown, WAL_FILE, walOfShutdown } from './controlFile.ts';
import { copyTree } from './copyTree.ts';
import { writePrivateFile } from './privateFiles.ts';

/** Files that belong to one running server. A copy of data that no server has recovered yet keeps its `backup_label`. */
const OF_ONE_SERVER =
  /^(postmaster\.(pid|opts)|standby\.signal|backup_label\.old|pg_replslot\/.*|.*\bpgsql_tmp.*)$/;
/** Files that a running server changes during the copy. */
const OF_A_RUNNING_SERVER =
  /^(backup_label$|(pg_wal|pg_stat_tmp|pg_notify|pg_subtrans|pg_serial|pg_snapshots|pg_dynshmem)\/.)/;

/**
 * Copies the data into a new folder.
 * @param wal whether the copy must be able to recover by itself, or gets the WAL of a running primary from it
 * @returns a function to call when the copy needs no more WAL: until then a running primary keeps it
 */
export async function copyData(
  tools: ServerTools,
  branchId: string,
  to: string,
  wal: 'copied' | 'streamed',
): Promise<() => Promise<void>> {
  const primary = tools.branches.primary(branchId);
  if (primary !== undefined)
    return copyRunning(tools, primary, { from: tools.branches.folder(branchId), to }, wal);
  await prepareCopy(tools, branchId);
  const from = tools.branches.folder(branchId);
  const needed = walOfShutdown(from);
  const omit = (file: string) => {
    const name = path.basename(file);
    return OF_ONE_SERVER.test(slashed(file)) || (WAL_FILE.test(name) && !needed.has(name));
  };
  await copyTree(from, to, { omit, ending: tools.ending });
  return async () => undefined;
}

/**
 * Creates data that is missing, and recovers it after a crash, unless a primary runs. Calls that share the branch's lock wait
 * for this, so none copies the data while a server recovers it. @throws {EngineError}
 */
export async function prepareCopy(tools: ServerTools, branchId: string): Promise<void> {
  const { branches } = tools;
  await branches.oneByOne(branchId, async () => {
    const dataDir = await branches.ensure(branchId);
    if (branches.primary(branchId) !== undefined || isShutDown(dataDir)) return;
    await withBranchServer(tools, branchId, async () => undefined);
    if (!isShutDown(dataDir))
      throw new EngineError(`Postgres could not recover branch ${branchId} after a crash`);
  });
}

interface Copy {
  readonly from: string;
  readonly to: string;
}

async function copyRunning(
  tools: ServerTools,
  primary: Postmaster,
  copy: Copy,
  wal: 'copied' | 'streamed',
): Promise<() => Promise<void>> {
  const client = await connectAsSuperuser(tools, primary.address);
  try {
    const name = `copy_${randomBytes(8).toString('hex')}`;
    await client.query('select pg_catalog.pg_create_physical_replication_slot($1, true, true)', [name]);
    const first = await walFile(client, 'pg_catalog.pg_backup_start($1, true)', [name]);
    const omit = (file: string) =>
      [OF_ONE_SERVER, OF_A_RUNNING_SERVER].some((names) => names.test(slashed(file)));
    await copyTree(copy.from, copy.to, { omit, ending: tools.ending });
    const { rows } = await client.query<{ last: string; labelfile: string }>(
      'select pg_catalog.pg_walfile_name(lsn) as last, labelfile from pg_catalog.pg_backup_stop(false)',
    );
    const [stop] = rows;
    if (stop === undefined) throw new EngineError('Postgres did not end the backup');
    if (wal === 'copied') await copyWal(copy, first, stop.last);
    writePrivateFile(path.join(copy.to, 'backup_label'), stop.labelfile);
    return async () => client.end();
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function walFile(client: Client, position: string, values: readonly string[]): Promise<string> {
  const { rows } = await client.query<{ file: string }>(
    `select pg_catalog.pg_walfile_name(${position}) as file`,
    [...values],
  );
  return rows[0]?.file ?? '';
}

/** Ending the backup has completed its last file. */
async function copyWal({ from, to }: Copy, first: string, last: string): Promise<void> {
  const files = (await readdir(path.join(from, 'pg_wal'))).filter(
    (name) => WAL_FILE.test(name) && name >= first && name <= last,
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

const slashed = (file: string) => file.replaceAll(path.sep, '/');
