/** Which transactions have changed a table, and the moment just before each of them, as far as the branch's log has it. */
import type { TableTransaction, TableFile } from '../../core/branchHistory.ts';
import type { ServerDependencies } from '../data/branchData.ts';
import { timestampOf } from '../data/recoverTo.ts';
import { TableCommits, type TableCommit } from '../wal/tableCommits.ts';
import { readLog } from './readLog.ts';
import { readTableNames, type TableNames } from './tableNames.ts';

/** @returns undefined if it isn't known @throws {EngineError} or an error of the file system */
export async function tableTransactions(
  deps: ServerDependencies,
  branchId: string,
  table: TableFile,
): Promise<readonly TableTransaction[] | undefined> {
  const commits = new TableCommits(table);
  const log = await readLog(deps, branchId, [], commits);
  if (log === undefined) return undefined;
  const names = await readTableNames(deps, log.primary, new Set([table.database]));
  const found = names?.get(table.database);
  if (deps.branches.primary(branchId) !== log.primary || found?.files.get(table.file) !== table.table)
    return undefined;
  const dropped = new Set(
    commits.list.flatMap(({ tables }) =>
      tables.flatMap(({ kind, table: id }) => (kind === 'dropped' ? id : [])),
    ),
  );
  return commits.list.map((commit) => {
    const { ids, added, changed, deleted } = commit;
    return { ids, added, changed, deleted, before: timestampOf(firstChange(commit, found, dropped) - 1) };
  });
}

/** Programs that use no transaction change tables before they note a migration. What was altered may also be an index, which doesn't count. */
function firstChange({ time, tables }: TableCommit, names: TableNames, dropped: ReadonlySet<number>): number {
  const ofTables = tables.filter(
    ({ kind, table }) => kind !== 'altered' || names.tables.has(table) || dropped.has(table),
  );
  return Math.min(time, ...ofTables.map((change) => change.time));
}
