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

/** Returns the position after the WAL of data that was shut down, the last record of which is the checkpoint. */
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
 * Which transactions had ended before positions in the log, as `pg_current_snapshot` says it. It is another text once any transaction
 * that may have written something has ended. The oldest come first.
 */
const endedBefore = new WeakMap<Postmaster, Map<number, string>>();

/** @param ended what had ended before the log reached the position, as `pg_current_snapshot` */
export function keepPosition(server: Postmaster, lsn: number, ended = ''): void {
  const kept = endedBefore.get(server) ?? new Map<number, string>();
  endedBefore.set(server, kept.set(lsn, ended));
  for (const oldest of [...kept.keys()].slice(0, -KEPT_POSITIONS)) kept.delete(oldest);
}

/** Returns a position in the WAL between two records, after all that was committed. The WAL is on disk up to this position. */
export async function endOfWal(deps: ServerDependencies, branchId: string): Promise<number> {
  const dataDir = await deps.branches.ensureDataDir(branchId);
  if (isAtRest(deps, branchId, dataDir)) return endAtRest(dataDir);
  return withBranchServer(deps, branchId, async (server) =>
    withSuperuser(deps, server.address, async (client) => {
      await client.query('set synchronous_commit to on');
      const message = deps.binaries.major >= FIRST_WITH_FLUSH ? FLUSHED_MESSAGE : COMMITTED_MESSAGE;
      // The snapshot is that of the statement, from before the message.
      const { rows } = await client.query<{ ended: string; lsn: string }>(
        `select pg_catalog.pg_current_snapshot()::text as ended, ${message}::text as lsn`,
      );
      const lsn = requireLsn(rows[0]?.lsn);
      keepPosition(server, lsn, rows[0]?.ended);
      return lsn;
    }),
  );
}

/** Transactions that run, or wait for their second phase. They may have written their commit to the log, and it isn't seen yet. */
const RUNNING = `select from pg_catalog.pg_stat_activity where backend_xid is not null
  union all select from pg_catalog.pg_prepared_xacts`;

/**
 * Returns whether it is certain, without reading the log, that the branch has the data of a position at which its log has ended.
 * Postgres gives each transaction an id that writes something, and says which have ended. It is never certain before version 17, where
 * finding the end of the log is such a transaction.
 */
export async function isUnchangedSince(
  deps: ServerDependencies,
  branchId: string,
  lsn: number | undefined,
): Promise<boolean> {
  const server = deps.branches.primary(branchId);
  const ended = server && lsn !== undefined && endedBefore.get(server)?.get(lsn);
  if (server === undefined || ended === undefined || ended === false) return false;
  const isSame = await askUnlessOver(server, async () =>
    withSuperuser(deps, server.address, async (client) => {
      // In this order: what has ended in between is in the snapshot.
      if ((await client.query(RUNNING)).rowCount !== 0) return false;
      const { rows } = await client.query<{ ended: string }>(
        'select pg_catalog.pg_current_snapshot()::text as ended',
      );
      return rows[0]?.ended === ended;
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
