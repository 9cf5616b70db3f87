/** Counts the changes in the write-ahead log (WAL) that a branch keeps, while the branch has a running server. */
import { setImmediate } from 'node:timers/promises';
import type { Moment } from '../../core/branchHistory.ts';
import { EngineError } from '../../core/computeEngine.ts';
import { formatLsn, parseLsn } from '../../core/lsn.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { readHistory } from '../history/history.ts';
import { fromMicroseconds } from '../copies/recoverTo.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { askUnlessOver } from '../server/serverProcess.ts';
import { withSuperuser } from '../server/superuser.ts';
import { ChangeCounter, type CountedMoment } from '../wal/changeCounter.ts';
import type { EndedTransaction, TransactionReceiver } from '../wal/transaction.ts';
import type { Wal } from '../wal/walFiles.ts';
import { findFirstRecord, reachesBeyond, readWalRecords, type WalRecord } from '../wal/walRecords.ts';
import { MomentPositions } from './momentPositions.ts';

/** The most bytes that are read, at the end of the WAL. */
const MAX_READ = 64 * 1024 * 1024;
/** The bytes after which other work of the service gets its turn: every few milliseconds. */
const PIECE = 128 * 1024;

interface CountedWal {
  /** A count for each moment; undefined if its position isn't known. */
  readonly moments: readonly (CountedMoment | undefined)[];
  /** The tables by their files, see `ChangeCounter`. */
  readonly tablesByFile: ReadonlyMap<string, number>;
  readonly wal: Wal;
  readonly primary: Postmaster;
}

/** Returns undefined if no primary runs, or if the WAL can't be read up to its end. @throws {EngineError} or an error of the file system */
export async function countChanges(
  deps: ServerDependencies,
  branchId: string,
  moments: readonly Moment[],
  transactions?: TransactionReceiver,
): Promise<CountedWal | undefined> {
  const primary = deps.branches.primary(branchId);
  if (primary === undefined || primary.isStopping) return undefined;
  const head = await askUnlessOver(primary, async () => flushedPosition(deps, primary));
  if (head === undefined) return undefined;
  const history = readHistory(deps.storage, deps.storage.branch(branchId));
  const [oldest] = history?.bases ?? [];
  if (history === undefined || oldest === undefined) return undefined;
  const { wal, bases } = history;
  const limit = findFirstRecord(wal, Math.max(wal.segmentAt(head - MAX_READ), wal.segmentAt(oldest.start)));
  const from = head - oldest.start <= MAX_READ ? oldest.start : limit;
  if (from === undefined) return undefined;
  const all = new MomentPositions(moments, bases, from);
  if (all.needRecords && !(await readInto(all, wal, from, head))) return undefined;
  const found = all.result();
  const positions = [...new Set(found)].filter((each) => each !== undefined).toSorted((a, b) => a - b);
  const options = { from, restorable: oldest.end, transactions };
  const counter = new ChangeCounter(positions, deps.binaries.major, options);
  if (!(await readInto(counter, wal, from, head))) return undefined;
  const counted = new Map(counter.result().map((each, index) => [positions[index], each]));
  const { tablesByFile } = counter;
  return { moments: found.map((position) => counted.get(position)), tablesByFile, wal, primary };
}

/** Returns the moment just before a transaction. */
export const momentBefore = ({ time, previousEnd }: Omit<EndedTransaction, 'at'>) => ({
  before: fromMicroseconds(time - 1),
  ...(previousEnd !== undefined && { lsn: formatLsn(previousEnd) }),
});

interface RecordReader {
  add(record: WalRecord): void;
}

/** Passes the records of the WAL to the reader. Returns false if the WAL is not readable up to its end. */
async function readInto(reader: RecordReader, wal: Wal, from: number, head: number): Promise<boolean> {
  let end = from;
  let paused = from;
  for (const record of readWalRecords(wal, from)) {
    if (record.start >= head) return true;
    reader.add(record);
    end = record.end;
    if (end - paused < PIECE) continue;
    await setImmediate();
    paused = end;
  }
  return end >= head || reachesBeyond(wal, end, head);
}

const IS_FLUSHED =
  'select pg_catalog.pg_current_wal_insert_lsn() operator(pg_catalog.<=) pg_catalog.pg_current_wal_flush_lsn() as is';
/**
 * Waits until all earlier commits are on disk, which they reach later with `synchronous_commit = off`. A commit that
 * waits for the disk takes all before it there. It waits only if its transaction has written something, such as a message
 * without a receiver, which belongs to no transaction.
 */
const FLUSH = `begin; set local synchronous_commit = 'local'; select pg_catalog.pg_logical_emit_message(false, '', '');
  select pg_catalog.pg_current_xact_id(); commit`;

/** Returns a position up to which all is on disk, with all that was committed. It may be within a record. */
async function flushedPosition(deps: ServerDependencies, { address }: Postmaster): Promise<number> {
  return withSuperuser(deps, address, async (client) => {
    const isFlushed = (await client.query<{ is: boolean }>(IS_FLUSHED)).rows[0]?.is;
    if (isFlushed !== true) await client.query(FLUSH);
    const { rows } = await client.query<{ lsn: string }>(
      'select pg_catalog.pg_current_wal_flush_lsn()::text as lsn',
    );
    const lsn = parseLsn(rows[0]?.lsn ?? '');
    if (lsn === undefined) throw new EngineError('The server does not say where its WAL ends');
    return lsn;
  });
}
