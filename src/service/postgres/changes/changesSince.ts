/** What has changed in a branch since moments of its history, from the write-ahead log that it keeps. Asks only a running server. */
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { PastMoment, TableChange } from '../../core/branchHistory.ts';
import { EngineError } from '../../core/computeEngine.ts';
import { parseLsn } from '../../core/lsn.ts';
import { connectAsSuperuser } from '../process/superuser.ts';
import type { Postmaster } from '../process/postmaster.ts';
import { ChangeCounter, type CountedMoment } from '../wal/changeCounter.ts';
import { Wal } from '../wal/walFiles.ts';
import { firstRecordIn, reachesBeyond, walRecords } from '../wal/walRecords.ts';
import type { ServerDependencies } from '../data/branchData.ts';
import { readHistory } from '../data/history.ts';
import { microseconds } from '../data/recoverTo.ts';
import { changedDatabases, tableChanges } from './tableChanges.ts';
import { readTableNames } from './tableNames.ts';

/** How much of the log is read. Earlier moments are not answered. */
const MAX_READ = 64 * 1024 * 1024;
/** Then other work of the service gets its turn: after a few milliseconds. */
const PIECE = 128 * 1024;

/** @returns undefined for moments of which it isn't known. @throws {EngineError} or an error of the file system */
export async function changesSince(
  deps: ServerDependencies,
  branchId: string,
  moments: readonly PastMoment[],
): Promise<readonly (readonly TableChange[] | undefined)[]> {
  const primary = deps.branches.primary(branchId);
  const unknown = moments.map(() => undefined);
  if (primary === undefined || primary.isStopping) return unknown;
  const head = await endOfLog(deps, primary);
  const history = readHistory(deps.storage, deps.storage.branch(branchId));
  const [oldest] = history?.bases ?? [];
  if (history === undefined || oldest === undefined) return unknown;
  const { wal, bases } = history;
  const limit = firstRecordIn(wal, Math.max(wal.segmentAt(head - MAX_READ), wal.segmentAt(oldest.start)));
  const from = head - oldest.start <= MAX_READ ? oldest.start : limit;
  if (from === undefined) return unknown;
  const inOrder = moments
    .map((moment, index) => ({ moment, index, time: microseconds(moment.timestamp) }))
    .toSorted((a, b) => a.time - b.time);
  const start = bases.find((base) => base.start >= from)?.time;
  const counter = new ChangeCounter(
    inOrder.map(({ time }) => time),
    deps.binaries.major,
    start === undefined ? undefined : start * 1000,
  );
  if (!(await count(counter, wal, from, head))) return unknown;
  const counted = counter
    .result()
    .map((each, index) =>
      isSameHistory(deps, wal, branchId, inOrder[index]?.moment, each) ? each.changes : undefined,
    );
  const names = await readTableNames(deps, primary, changedDatabases(counted));
  // The data and its log were those of this server all the time.
  if (names === undefined || deps.branches.primary(branchId) !== primary) return unknown;
  return moments.map((_, index) => {
    const changes = counted[inOrder.findIndex((each) => each.index === index)];
    return changes && tableChanges(changes, names, counter.tables);
  });
}

/** @returns false if the log is not readable up to its end */
async function count(counter: ChangeCounter, wal: Wal, from: number, head: number): Promise<boolean> {
  let end = from;
  let paused = from;
  for (const record of walRecords(wal, from)) {
    if (record.start >= head) return true;
    counter.add(record);
    end = record.end;
    if (end - paused < PIECE) continue;
    await setImmediate();
    paused = end;
  }
  return end >= head || reachesBeyond(wal, end, head);
}

/**
 * A moment before a restore is in the history of the branch with the data from then. That of this branch is the same up to the
 * moment if both have the same record after it.
 */
function isSameHistory(
  { storage }: ServerDependencies,
  wal: Wal,
  branchId: string,
  moment: PastMoment | undefined,
  { position }: CountedMoment,
): boolean {
  if (moment === undefined || moment.branchId === branchId) return true;
  if (position === undefined) return false;
  try {
    const other = new Wal(path.join(storage.branch(moment.branchId), 'data'));
    const [own, others] = [wal, other].map((each) => walRecords(each, position).next().value?.bytes);
    return own !== undefined && others !== undefined && own.equals(others);
  } catch {
    return false; // It has no data.
  }
}

/** A position up to which all is on disk. It may be within a record. */
async function endOfLog(deps: ServerDependencies, { address }: Postmaster): Promise<number> {
  const client = await connectAsSuperuser(deps, address);
  try {
    const { rows } = await client.query<{ lsn: string }>(
      'select pg_catalog.pg_current_wal_flush_lsn()::text as lsn',
    );
    const lsn = parseLsn(rows[0]?.lsn ?? '');
    if (lsn === undefined) throw new EngineError('The server does not say where its log ends');
    return lsn;
  } finally {
    await client.end();
  }
}
