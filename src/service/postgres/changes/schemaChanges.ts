/** Finds when the schema of a branch was changed or many rows were deleted, as far as its WAL shows that. */
import {
  MIGRATION_TABLES_QUERY,
  migrationTableKind,
  type TableWithColumns,
} from '../../../api/rules/migrationTables.ts';
import type { SchemaChange } from '../../core/branchHistory.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { askUnlessOver } from '../server/serverProcess.ts';
import { ignoreDropped, withSuperuser } from '../server/superuser.ts';
import { databaseOfFileKey, fileKey, fileNumberOfFileKey } from '../wal/catalogChanges.ts';
import { RowDeletions } from '../wal/rowDeletions.ts';
import { SchemaRuns, type SchemaRun } from '../wal/schemaRuns.ts';
import type { TransactionReceiver } from '../wal/transaction.ts';
import { countChanges, momentBefore } from './countChanges.ts';
import { readTableNames, type TableNames } from './tableNames.ts';

/** Catalogs with data: statistics, large objects, and the state of replication. */
const DATA = ['pg_statistic', 'pg_statistic_ext_data', 'pg_largeobject', 'pg_largeobject_metadata'];

const CATALOGS = `
  select pg_catalog.pg_relation_filenode(oid)::pg_catalog.int8::pg_catalog.float8 as file from pg_catalog.pg_class
  where relnamespace operator(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace
    and relkind operator(pg_catalog.=) 'r' and not relisshared
    and relname operator(pg_catalog.<>) all ('{${[...DATA, 'pg_subscription_rel'].join()}}')`;

/**
 * Returns changes of the schema and large deletions, oldest first; none if nothing is known.
 * @throws {EngineError} or an error of the file system
 */
export async function schemaChanges(
  deps: ServerDependencies,
  branchId: string,
): Promise<readonly SchemaChange[]> {
  const primary = deps.branches.primary(branchId);
  if (primary === undefined || primary.isStopping) return [];
  const names = await readTableNames(deps, primary);
  if (names === undefined) return [];
  const watched = await askUnlessOver(primary, async () => queryWatchedFileKeys(deps, primary, names));
  if (watched === undefined) return [];
  const isTable = (database: number, id: number) => names.get(database)?.tables.has(id) === true;
  const runs = new SchemaRuns({ isTable, ...watched });
  const deletions = new RowDeletions();
  const counted = await countChanges(deps, branchId, [], combineReceivers(runs, deletions));
  if (counted === undefined) return [];
  // A later deletion in a series may be that of another program, and has a moment of its own.
  const isOfRun = (at: number) => runs.list.some((run) => at === run.at);
  const isOfTable = (key: string) => {
    const known = names.get(databaseOfFileKey(key));
    const table = known?.files.get(fileNumberOfFileKey(key)) ?? counted.tablesByFile.get(key) ?? 0;
    return known?.tables.get(table)?.isView === false;
  };
  const deleted = deletions.list((key, at) => isOfTable(key) && !isOfRun(at));
  return [
    ...runs.list.map((run) => [run.at, summarizeRun(run)] as const),
    ...deleted.map(
      (each) =>
        [each.at, { ...momentBefore(each), ...NOTHING, deleted: each.rows, tables: each.tables }] as const,
    ),
  ]
    .toSorted(([a], [b]) => a - b)
    .map(([, change]) => change);
}

const NOTHING = { created: 0, altered: 0, dropped: 0, truncated: 0, migrations: 0 };

const combineReceivers = (...readers: readonly TransactionReceiver[]): TransactionReceiver => ({
  forget: () => readers.forEach((reader) => reader.forget()),
  addTransaction: (...transaction) => readers.forEach((reader) => reader.addTransaction(...transaction)),
  endTransaction: (ended) => readers.forEach((reader) => reader.endTransaction(ended)),
});

/** Returns the keys of the files of the system catalogs, and of the tables that may be those of migration tools. */
async function queryWatchedFileKeys(
  deps: ServerDependencies,
  { address }: Postmaster,
  names: ReadonlyMap<number, TableNames>,
) {
  const catalogs = new Set<string>();
  const migrationTables = new Map<string, boolean>();
  for (const [id, { database }] of names)
    await withSuperuser(
      deps,
      address,
      async (client) => {
        const found = await client.query<{ readonly file: number }>(CATALOGS);
        for (const { file } of found.rows) catalogs.add(fileKey(id, file));
        const tables = await client.query<TableWithColumns>(MIGRATION_TABLES_QUERY);
        for (const table of tables.rows) {
          const kind = migrationTableKind(table);
          if (kind !== undefined) migrationTables.set(fileKey(id, table.file), kind.isCertain === true);
        }
      },
      database,
    ).catch(ignoreDropped);
  return { catalogs, migrationTables };
}

function summarizeRun({ start: time, previousEnd, tables, migrations }: SchemaRun): SchemaChange {
  const kinds = [...tables.values()];
  const countKinds = (is: (has: (typeof kinds)[number]) => boolean) => kinds.filter(is).length;
  return {
    ...momentBefore({ time, previousEnd }),
    created: countKinds((has) => has.has('created') && !has.has('dropped')),
    dropped: countKinds((has) => has.has('dropped') && !has.has('created')),
    truncated: countKinds((has) => !has.has('created') && !has.has('dropped') && has.has('truncated')),
    altered: countKinds((has) => has.size === 1 && has.has('altered')),
    migrations,
  };
}
