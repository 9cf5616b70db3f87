/** Which transactions have changed a table, and the moment just before each of them, as far as the branch's WAL has it. */
import type { TableTransaction, TableFile } from '../../core/branchHistory.ts';
import type { ServerDependencies } from '../data/branchData.ts';
import { timestampOf } from '../data/recoverTo.ts';
import { TransactionsOfTable, type WalTransaction } from '../wal/transactionsOfTable.ts';
import { countChanges } from './countChanges.ts';
import { readTableNames, type TableNames } from './tableNames.ts';

/** @returns undefined if it isn't known @throws {EngineError} or an error of the file system */
export async function tableTransactions(
  deps: ServerDependencies,
  branchId: string,
  table: TableFile,
): Promise<readonly TableTransaction[] | undefined> {
  const transactions = new TransactionsOfTable(table);
  const counted = await countChanges(deps, branchId, [], transactions);
  if (counted === undefined) return undefined;
  const names = await readTableNames(deps, counted.primary, new Set([table.database]));
  const found = names?.get(table.database);
  if (deps.branches.primary(branchId) !== counted.primary || found?.files.get(table.file) !== table.table)
    return undefined;
  const dropped = new Set(
    transactions.list.flatMap(({ tables }) =>
      tables.flatMap(({ kind, table: id }) => (kind === 'dropped' ? id : [])),
    ),
  );
  return transactions.list.map((transaction) => {
    const { ids, added, changed, deleted } = transaction;
    return {
      ids,
      added,
      changed,
      deleted,
      before: timestampOf(firstChange(transaction, found, dropped) - 1),
    };
  });
}

/** Programs that use no transaction change tables before they note a migration. What was altered may also be an index, which doesn't count. */
function firstChange(
  { time, tables }: WalTransaction,
  names: TableNames,
  dropped: ReadonlySet<number>,
): number {
  const ofTables = tables.filter(
    ({ kind, table }) => kind !== 'altered' || names.tables.has(table) || dropped.has(table),
  );
  return Math.min(time, ...ofTables.map((change) => change.time));
}
