/** Which transactions have changed a table, and the moment just before each of them, as far as the branch's WAL has it. */
import type { TableTransaction, TableFile } from '../../core/branchHistory.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { TransactionsOfTable } from '../wal/transactionsOfTable.ts';
import { countChanges, momentBefore } from './countChanges.ts';
import { readTableNames } from './tableNames.ts';

/**
 * @returns undefined if no primary runs, if its WAL can't be read up to its end, or if the table no longer has this file
 * @throws {EngineError} or an error of the file system
 */
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
  return transactions.list.map(({ time, previousEnd, ...transaction }) => ({
    ...transaction,
    ...momentBefore({ time, previousEnd }),
  }));
}
