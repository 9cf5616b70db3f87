/** Where the write-ahead log (WAL) of a branch ends, and whether the branch has changed since it ended there. */
import type { Moment } from '../../core/branchHistory.ts';
import { EngineError } from '../../core/computeEngine.ts';
import { parseLsn } from '../../core/lsn.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { withBranchServer } from '../branchData/branchServer.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { askUnlessOver } from '../server/serverProcess.ts';
import { withSuperuser } from '../server/superuser.ts';
import { readControlFile, wasShutDownCleanly } from '../wal/walFiles.ts';

/** Whether no server runs on the data or must recover it. */
export const isAtRest = ({ branches }: ServerDependencies, branchId: string, dataDir: string): boolean =>
  branches.primary(branchId) === undefined &&
  !branches.lock(branchId).ownServer.isUsed &&
  wasShutDownCleanly(dataDir);

/**
 * Returns a position in the last record of data that was shut down, the checkpoint. A position includes all records that begin before it,
 * and nothing that a copy needs follows.
 */
export const endAtRest = (dataDir: string): number => readControlFile(dataDir).checkpoint + 1;

/** Whether the branch is at rest, with the data of this moment. Then its files have also the rows of unlogged tables, which its log doesn't. */
export function isAtRestSince(deps: ServerDependencies, branchId: string, moment: Moment): boolean {
  const dataDir = deps.branches.folder(branchId);
  const isLast = () => 'lsn' in moment && parseLsn(moment.lsn) === endAtRest(dataDir);
  return deps.branches.hasData(branchId) && isAtRest(deps, branchId, dataDir) && isLast();
}

/** The first version whose messages reach the disk without a transaction. */
const FIRST_WITH_FLUSH = 17;
/**
 * Write a message without a receiver, and return where it ends. It reaches the disk, with all earlier commits, which may not have waited
 * for that. In older versions only a commit gets it there, and that of a message without a transaction wouldn't wait.
 */
const FLUSHED_MESSAGE = "pg_catalog.pg_logical_emit_message(false, 'history', '', true)";
const COMMITTED_MESSAGE = "pg_catalog.pg_logical_emit_message(true, 'history', '')";

/** How many positions of a server are kept with the transactions that had ended before them. */
const KEPT_POSITIONS = 100;
/**
 * `pg_current_snapshot` from before positions in the log, the oldest first. It is another text once any transaction with an id has
 * ended, and all that write rows or catalogs have one.
 */
const snapshotsBefore = new WeakMap<Postmaster, Map<number, string>>();

/** @param snapshot that of a statement that has found the position */
export function rememberSnapshot(server: Postmaster, lsn: number, snapshot: string): void {
  const kept = snapshotsBefore.get(server) ?? new Map<number, string>();
  snapshotsBefore.set(server, kept.set(lsn, snapshot));
  for (const oldest of [...kept.keys()].slice(0, -KEPT_POSITIONS)) kept.delete(oldest);
}

/** Returns a position in the WAL between two records, after all that was committed. The WAL is on disk up to this position. */
export async function endOfWal(deps: ServerDependencies, branchId: string): Promise<number> {
  const dataDir = await deps.branches.ensureDataDir(branchId);
  if (isAtRest(deps, branchId, dataDir)) return endAtRest(dataDir);
  return withBranchServer(deps, branchId, async (server) =>
    withSuperuser(deps, server.address, async (client) => {
      if (deps.binaries.major < FIRST_WITH_FLUSH) await client.query('set synchronous_commit to on');
      const message = deps.binaries.major < FIRST_WITH_FLUSH ? COMMITTED_MESSAGE : FLUSHED_MESSAGE;
      const { rows } = await client.query<{ snapshot: string; lsn: string }>(
        `select pg_catalog.pg_current_snapshot()::text as snapshot, ${message}::text as lsn`,
      );
      const [row] = rows;
      const lsn = requireLsn(row?.lsn);
      if (row !== undefined) rememberSnapshot(server, lsn, row.snapshot);
      return lsn;
    }),
  );
}

/** Transactions that run, or wait for their second phase. They may have written their commit to the log, and it isn't seen yet. */
const RUNNING = `select from pg_catalog.pg_stat_activity where backend_xid is not null
  union all select from pg_catalog.pg_prepared_xacts`;

/**
 * Returns whether it is certain, without reading the log, that the branch has the data of a position at which its log has ended.
 * Sequences may have given numbers that aren't in the log either. It is hardly ever certain before version 17, where finding the end
 * of the log is a transaction.
 */
export async function isUnchangedSince(
  deps: ServerDependencies,
  branchId: string,
  lsn: string,
): Promise<boolean> {
  if (isAtRestSince(deps, branchId, { lsn })) return true;
  const server = deps.branches.primary(branchId);
  const before = server && snapshotsBefore.get(server)?.get(parseLsn(lsn) ?? 0);
  if (server === undefined || before === undefined) return false;
  const isSame = await askUnlessOver(server, async () =>
    withSuperuser(deps, server.address, async (client) => {
      // In this order: what has ended in between is in the snapshot.
      if ((await client.query(RUNNING)).rowCount !== 0) return false;
      const { rows } = await client.query<{ snapshot: string }>(
        'select pg_catalog.pg_current_snapshot()::text as snapshot',
      );
      return rows[0]?.snapshot === before;
    }),
  );
  return isSame === true && deps.branches.primary(branchId) === server;
}

/** @throws {EngineError} instead of a wrong position */
export function requireLsn(text = ''): number {
  const lsn = parseLsn(text);
  if (lsn === undefined)
    throw new EngineError(`Postgres returned no position of the write-ahead log, but "${text}"`);
  return lsn;
}
