/** Counted changes by the names of the tables. */
import type { TableChange } from '../../core/branchHistory.ts';
import {
  databaseOfFileKey,
  fileNumberOfFileKey,
  type CatalogChange,
  type NamedObject,
} from '../wal/catalogChanges.ts';
import type { CountedChanges } from '../wal/changeCounter.ts';
import type { PlacedChange, RowCounts } from '../wal/transaction.ts';
import type { TableNames } from './tableNames.ts';

type Draft = { -readonly [Key in keyof TableChange]: TableChange[Key] };
type TableNameInDatabase = Pick<TableChange, 'schema' | 'name'>;
type Kinds = ReadonlySet<CatalogChange['kind']>;

/** Returns the databases in which something has changed. */
export function changedDatabases(counted: readonly (CountedChanges | undefined)[]): ReadonlySet<number> {
  const all = counted.flatMap((changes) => changes ?? []);
  return new Set([
    ...all.flatMap(({ rows }) => [...rows.keys()].map(databaseOfFileKey)),
    ...all.flatMap(({ tables }) => tables.map(({ database }) => database)),
  ]);
}

/**
 * Returns the changes by table and database. A database that was dropped and created again under its name counts as replaced.
 * @param names the names in the databases that still exist
 * @param oldFiles the tables of files that were dropped or replaced
 * @returns what matters most first
 */
export function tableChanges(
  changes: CountedChanges,
  names: ReadonlyMap<number, TableNames>,
  oldFiles: ReadonlyMap<string, number>,
): readonly TableChange[] {
  const databases = new ObjectChanges(changes.tables.filter((change) => change.of === 'database'));
  const ofDatabases = [...databases.ids].flatMap((id) => changeOfDatabase(id, databases, names) ?? []);
  const dropped = ofDatabases.filter(({ change }) => change === 'dropped').map(({ name }) => name);
  const replaced = ofDatabases.filter(({ change, name }) => change !== 'dropped' && dropped.includes(name));
  const isReplaced = ({ name }: TableChange) => replaced.some((each) => each.name === name);
  const ofTables = [...names].flatMap(([id, each]) =>
    databases.has(id, 'created') ? [] : tableChangesOfDatabase(id, each, changes, oldFiles),
  );
  return [
    ...ofDatabases.filter((each) => !isReplaced(each)),
    ...replaced.map((each) => ({ ...each, change: 'replaced' as const })),
    ...ofTables,
  ].toSorted((a, b) => importance(b) - importance(a) || a.name.localeCompare(b.name, 'en'));
}

/** Changes of databases, schemas or tables. */
class ObjectChanges {
  readonly #kinds = new Map<number, Set<CatalogChange['kind']>>();
  readonly #before = new Map<number, PlacedChange>();

  constructor(changes: readonly PlacedChange[]) {
    for (const change of changes) {
      const { id, kind } = change;
      this.#kinds.set(id, (this.#kinds.get(id) ?? new Set()).add(kind));
      const { at = Infinity } = this.#before.get(id) ?? {};
      if ((kind === 'renamed' || kind === 'dropped') && change.at < at) this.#before.set(id, change);
    }
  }

  get ids(): Iterable<number> {
    return this.#kinds.keys();
  }

  kinds(id: number): Kinds {
    return this.#kinds.get(id) ?? new Set();
  }

  has(id: number, kind: CatalogChange['kind']): boolean {
    return this.kinds(id).has(kind);
  }

  /** Returns the name at the beginning; undefined if it is the present one. */
  nameBefore(id: number): NamedObject | undefined {
    return this.#before.get(id)?.before;
  }
}

function changeOfDatabase(
  id: number,
  databases: ObjectChanges,
  names: ReadonlyMap<number, TableNames>,
): TableChange | undefined {
  const present = names.get(id)?.database;
  const before = databases.nameBefore(id)?.name ?? present;
  const entry = (name: string | undefined, change: TableChange['change']) =>
    name === undefined ? undefined : { database: name, name, change, ...NO_ROWS };
  if (databases.has(id, 'created')) return entry(present, 'created');
  if (databases.has(id, 'dropped')) return entry(before, 'dropped');
  return before === present ? undefined : entry(present, 'altered');
}

function tableChangesOfDatabase(
  id: number,
  names: TableNames,
  { rows, tables: all }: CountedChanges,
  oldFiles: ReadonlyMap<string, number>,
): readonly TableChange[] {
  const drafts = new Drafts(names.database);
  const changesOf = (what: CatalogChange['of']) =>
    new ObjectChanges(all.filter((change) => change.database === id && change.of === what));
  const [tables, schemas] = [changesOf('table'), changesOf('schema')];
  const past = new PastNames(names, tables, schemas);
  const present = new Set([...names.tables.values()].map(tableKey));
  for (const table of new Set([...tables.ids, ...past.renamed()])) {
    const found = names.tables.get(table);
    const change = tableChangeKind(tables.kinds(table), found !== undefined, past.isRenamed(table));
    if (change === undefined) continue;
    const name = (change === 'altered' ? found?.whole : found) ?? past.nameOf(table);
    // If another table has the name of a dropped one now, that one was replaced.
    drafts.addChange(name, change === 'dropped' && present.has(tableKey(name)) ? 'replaced' : change);
  }
  for (const [file, counts] of rows) {
    if (databaseOfFileKey(file) !== id) continue;
    const table = names.files.get(fileNumberOfFileKey(file)) ?? oldFiles.get(file) ?? 0;
    const found = names.tables.get(table);
    // Undo removes the rows of a new table with the table, but not those of a new partition of an old one.
    if (found === undefined || (!found.isPartition && tables.has(table, 'created'))) continue;
    // The WAL doesn't have the rows that a table got while it was unlogged.
    if (!tables.has(table, 'unlogged')) drafts.addRowCounts(found.whole, counts);
  }
  return drafts.list();
}

/** What tables were called at the beginning. */
class PastNames {
  readonly #names: TableNames;
  readonly #tables: ObjectChanges;
  readonly #schemas: ObjectChanges;

  constructor(names: TableNames, tables: ObjectChanges, schemas: ObjectChanges) {
    [this.#names, this.#tables, this.#schemas] = [names, tables, schemas];
  }

  nameOf(table: number): TableNameInDatabase {
    const present = this.#names.tables.get(table);
    const { name = '', schema: id = 0 } =
      this.#tables.nameBefore(table) ?? (present && { name: present.name, schema: present.schemaId }) ?? {};
    return { schema: this.#schemas.nameBefore(id)?.name ?? this.#names.schemas.get(id), name };
  }

  isRenamed(table: number): boolean {
    const present = this.#names.tables.get(table);
    return present !== undefined && tableKey(present) !== tableKey(this.nameOf(table));
  }

  /** Returns the tables of schemas that were renamed. */
  renamed(): readonly number[] {
    const schemas = new Set([...this.#schemas.ids].filter((id) => this.#schemas.has(id, 'renamed')));
    return [...this.#names.tables].flatMap(([id, { schemaId }]) => (schemas.has(schemaId) ? id : []));
  }
}

class Drafts {
  readonly #database: string;
  readonly #drafts = new Map<string, Draft>();

  constructor(database: string) {
    this.#database = database;
  }

  addChange(table: TableNameInDatabase, change: NonNullable<TableChange['change']>): void {
    const draft = this.#draft(table);
    if (draft.change === undefined || WEIGHTS[change] > WEIGHTS[draft.change]) draft.change = change;
  }

  addRowCounts(table: TableNameInDatabase, { added, changed, deleted }: RowCounts): void {
    const draft = this.#draft(table);
    // The rows may be those of either table, so they aren't counted.
    if (draft.change === 'replaced') return;
    draft.added += added;
    draft.changed += changed;
    draft.deleted += deleted;
  }

  list(): readonly TableChange[] {
    return [...this.#drafts.values()].filter(
      ({ change, added, changed, deleted }) => change !== undefined || added + changed + deleted > 0,
    );
  }

  #draft(table: TableNameInDatabase): Draft {
    const { schema, name } = table;
    const key = tableKey(table);
    const draft = this.#drafts.get(key) ?? { database: this.#database, schema, name, ...NO_ROWS };
    this.#drafts.set(key, draft);
    return draft;
  }
}

const tableKey = ({ schema, name }: TableNameInDatabase): string => JSON.stringify([schema, name]);

function tableChangeKind(kinds: Kinds, exists: boolean, isRenamed: boolean): TableChange['change'] {
  if (!exists) return kinds.has('dropped') && !kinds.has('created') ? 'dropped' : undefined;
  const found = (['created', 'truncated', 'altered'] as const).find((kind) => kinds.has(kind));
  return found ?? (isRenamed ? 'altered' : undefined);
}

const NO_ROWS: RowCounts = { added: 0, changed: 0, deleted: 0 };

/** The weights by which changes are sorted: those that lose most come first. */
const WEIGHTS = { dropped: 5, replaced: 4, truncated: 3, altered: 2, created: 1 };

const importance = ({ change, added, changed, deleted }: TableChange): number =>
  (change === undefined ? 0 : WEIGHTS[change] * 1e12) + added + changed + deleted;
