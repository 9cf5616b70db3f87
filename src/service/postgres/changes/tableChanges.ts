/** Counted changes by the names of the tables. */
import type { TableChange } from '../../core/branchHistory.ts';
import { databaseOf, fileOf, type CatalogChange } from '../wal/catalogChanges.ts';
import type { Changes } from '../wal/changeCounter.ts';
import type { RowCounts } from '../wal/transaction.ts';
import type { TableNames } from './tableNames.ts';

type Draft = { -readonly [Key in keyof TableChange]: TableChange[Key] };
type TableNameInDatabase = Pick<TableChange, 'schema' | 'name'>;
type Kinds = ReadonlySet<CatalogChange['kind']>;

/** The databases in which something has changed. */
export function changedDatabases(counted: readonly (Changes | undefined)[]): ReadonlySet<number> {
  const all = counted.flatMap((changes) => changes ?? []);
  return new Set([
    ...all.flatMap(({ rows }) => [...rows.keys()].map(databaseOf)),
    ...all.flatMap(({ tables }) => tables.map(({ database }) => database)),
  ]);
}

/**
 * @param names of the databases that still exist
 * @param oldFiles the tables of files that were dropped or replaced
 * @returns what matters most first
 */
export function tableChanges(
  changes: Changes,
  names: ReadonlyMap<number, TableNames>,
  oldFiles: ReadonlyMap<string, number>,
): readonly TableChange[] {
  const databases = changes.tables.filter(({ table }) => table === 0);
  const isNew = (id: number) => databases.some(({ database, kind }) => database === id && kind === 'created');
  const ofDatabases = databases.flatMap(({ kind, database, name = '' }) =>
    kind === 'dropped' && isNew(database) ? [] : { database: name, name, change: kind, ...NO_ROWS },
  );
  const existing = ofDatabases.filter(
    ({ change, name }) => change === 'dropped' || [...names.values()].some((each) => each.database === name),
  );
  const ofTables = [...names].flatMap(([id, each]) =>
    isNew(id) ? [] : changesOfDatabase(id, each, changes, oldFiles),
  );
  return [...existing, ...ofTables].toSorted(
    (a, b) => weight(b) - weight(a) || a.name.localeCompare(b.name, 'en'),
  );
}

function changesOfDatabase(
  id: number,
  names: TableNames,
  { rows, tables }: Changes,
  oldFiles: ReadonlyMap<string, number>,
): readonly TableChange[] {
  const { database } = names;
  const drafts = new Map<string, Draft>();
  const draftOf = ({ schema, name }: TableNameInDatabase): Draft => {
    const key = JSON.stringify([schema, name]);
    const draft = drafts.get(key) ?? { database, schema, name, ...NO_ROWS };
    drafts.set(key, draft);
    return draft;
  };
  const ofTables = new Map<number, Set<CatalogChange['kind']>>();
  for (const { database: of, table, kind } of tables)
    if (of === id && table !== 0) ofTables.set(table, (ofTables.get(table) ?? new Set()).add(kind));
  for (const [table, kinds] of ofTables) {
    const found = names.tables.get(table);
    const change = changeOf(kinds, found !== undefined);
    if (change === undefined) continue;
    const { schema = 0, name = '' } =
      tables.find((each) => each.database === id && each.table === table && each.kind === 'dropped') ?? {};
    const dropped = { schema: names.schemas.get(schema), name };
    const draft = draftOf((change === 'altered' ? found?.whole : found) ?? dropped);
    const both = [change, draft.change];
    // Another table has its name now.
    draft.change =
      both.includes('dropped') && both.includes('created') ? 'replaced' : (draft.change ?? change);
  }
  for (const [file, counts] of rows) {
    if (databaseOf(file) !== id) continue;
    const table = names.files.get(fileOf(file)) ?? oldFiles.get(file) ?? 0;
    const found = names.tables.get(table);
    // Undo removes the rows of a new table with the table, but not those of a new partition of an old one.
    if (found === undefined || (!found.isPartition && ofTables.get(table)?.has('created') === true)) continue;
    add(draftOf(found.whole), counts);
  }
  return [...drafts.values()].filter(
    ({ change, added, changed, deleted }) => change !== undefined || added + changed + deleted > 0,
  );
}

function changeOf(kinds: Kinds, exists: boolean): TableChange['change'] {
  if (!exists) return kinds.has('dropped') && !kinds.has('created') ? 'dropped' : undefined;
  return (['created', 'truncated', 'altered'] as const).find((kind) => kinds.has(kind));
}

const NO_ROWS: RowCounts = { added: 0, changed: 0, deleted: 0 };

function add(sum: RowCounts, { added, changed, deleted }: RowCounts): void {
  sum.added += added;
  sum.changed += changed;
  sum.deleted += deleted;
}

/** What is lost comes first. */
const WEIGHTS = { dropped: 5, replaced: 4, truncated: 3, altered: 2, created: 1 };

const weight = ({ change, added, changed, deleted }: TableChange): number =>
  (change === undefined ? 0 : WEIGHTS[change] * 1e12) + added + changed + deleted;
