/** Finds commits in the log of a running server. */
import { Wal } from '../wal/walFiles.ts';
import { findFirstRecord, readWalRecords, WAL_MANAGERS } from '../wal/walRecords.ts';

/** Positions in the log, in bytes. */
export interface LogRange {
  readonly from: number;
  readonly to: number;
}

/** The kinds of records with which a transaction waits for a standby: a commit, also of a prepared transaction, and a preparation. */
const WAITING = [0x00, 0x30, 0x10];
const KIND = 0x70;
/** The most bytes at the end of a range that can be of a record which isn't complete there. */
const INCOMPLETE = 1024 * 1024;

/** Returns whether a transaction has committed in a part of the log. If the log can't be read, that counts as a commit. */
export function hasCommit(dataDir: string, range: LogRange): boolean {
  try {
    return findCommit(dataDir, range);
  } catch {
    return true;
  }
}

function findCommit(dataDir: string, { from, to }: LogRange): boolean {
  const wal = new Wal(dataDir);
  let read = findFirstRecord(wal, wal.segmentAt(from));
  if (read === undefined) return true;
  for (const { manager, info, end } of readWalRecords(wal, read)) {
    if (end > to) break;
    read = end;
    if (end > from && manager === WAL_MANAGERS.transaction && WAITING.includes(info & KIND)) return true;
  }
  return to - read > INCOMPLETE;
}
