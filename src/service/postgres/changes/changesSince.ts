/**
 * Finds what has changed in a branch since moments of its history, from the write-ahead log (WAL) that the branch keeps. Nothing
 * is known while the branch has no running server.
 */
import path from 'node:path';
import type { PastMoment, TableChange } from '../../core/branchHistory.ts';
import type { CountedMoment } from '../wal/changeCounter.ts';
import { Wal } from '../wal/walFiles.ts';
import { readWalRecords } from '../wal/walRecords.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { countChanges } from './countChanges.ts';
import { changedDatabases, tableChanges } from './tableChanges.ts';
import { readTableNames } from './tableNames.ts';

/**
 * Returns the changes since each moment; undefined for moments since which the changes aren't known.
 * @throws {EngineError} or an error of the file system
 */
export async function changesSince(
  deps: ServerDependencies,
  branchId: string,
  moments: readonly PastMoment[],
): Promise<readonly (readonly TableChange[] | undefined)[]> {
  const unknown = moments.map(() => undefined);
  const found = await countChanges(deps, branchId, moments);
  if (found === undefined) return unknown;
  const { wal, primary, tablesByFile } = found;
  const counted = found.moments.map((each, index) =>
    isSameHistory(deps, wal, branchId, moments[index], each) ? each?.changes : undefined,
  );
  const names = await readTableNames(deps, primary, changedDatabases(counted));
  // Only if this server still runs, the data and its WAL were those of this server all the time.
  if (names === undefined || deps.branches.primary(branchId) !== primary) return unknown;
  return counted.map((changes) => changes && tableChanges(changes, names, tablesByFile));
}

/**
 * Whether the history of a branch is the same as that of the moment's branch, up to the moment. A restore gives the data from
 * before it to another branch. The histories are the same if both have the same record after the moment.
 */
function isSameHistory(
  { storage }: ServerDependencies,
  wal: Wal,
  branchId: string,
  moment: PastMoment | undefined,
  counted: CountedMoment | undefined,
): boolean {
  if (moment === undefined || moment.branchId === branchId) return true;
  const next = counted?.next;
  if (next === undefined) return false;
  try {
    const other = new Wal(path.join(storage.branch(moment.branchId), 'data'));
    const [own, others] = [wal, other].map((each) => readWalRecords(each, next).next().value?.bytes);
    return own !== undefined && others !== undefined && own.equals(others);
  } catch {
    return false; // The branch has no data.
  }
}
