/** Finds changes of tables, schemas and databases in the WAL, which has them as changes of rows of the system catalogs. */
import type { WalBlock } from './recordContent.ts';
import { PageRows, type RowVersion } from './pageRows.ts';

/** The object ids of the catalogs. Their files have the same numbers, unless a catalog was rewritten. */
const [DATABASES, COLUMNS, TABLES, SCHEMAS] = [1262, 1249, 1259, 2615];
const CATALOGS: ReadonlySet<number> = new Set([DATABASES, COLUMNS, TABLES, SCHEMAS]);

/** The name of a table, schema or database. */
export interface NamedObject {
  readonly name: string;
  /** The object id of a table's schema. */
  readonly schema?: number;
}

/** A change of a table, schema or database. */
export interface CatalogChange {
  readonly kind: 'created' | 'dropped' | 'truncated' | 'altered' | 'renamed' | 'unlogged';
  readonly of: 'table' | 'schema' | 'database';
  /** The object id of the database itself, or of the database with the table or schema. */
  readonly database: number;
  /** The object id of the table or schema. */
  readonly id: number;
  /** The object before the change. */
  readonly before?: NamedObject;
  /** The files of a truncated table, whose rows are gone. */
  readonly files?: readonly string[];
}

interface TableRow {
  readonly table: number;
  readonly name: string;
  readonly schema: number;
  readonly file: number;
  readonly isTemporary: boolean;
  readonly isTable: boolean;
  readonly isUnlogged: boolean;
  /** Whether the row is of a transient table, which Postgres makes for the new file of a table that is being rewritten. */
  readonly isRewrite: boolean;
}

/** The offset of `datconnlimit`, and its value in an invalid database. See src/include/catalog/pg_database.h. */
const [CONNECTION_LIMIT, INVALID] = [80, -2];

/** Thrown if a record changes a row whose content isn't known, because it was written before the WAL that was read. */
export class UnknownRow extends Error {}

/** Knows the rows of the catalogs, and says what a record changes. */
export class CatalogChanges {
  readonly #rows = new PageRows();
  readonly #major: number;
  /** The new files of tables that are being rewritten. */
  readonly #rewrites = new Set<string>();
  /** The table of each file, as far as a change has named the table and the file. */
  readonly tablesByFile = new Map<string, number>();
  /** The reverse of `tablesByFile`, by database and table. */
  readonly #filesOf = new Map<string, Set<string>>();

  readonly #temporary = new Set<string>();
  #sawIncidental = false;

  /** @param major version of Postgres */
  constructor(major: number) {
    this.#major = major;
  }

  /** Reads the catalog pages that a record contains. Call it for each record, before the methods below. */
  readImages(blocks: readonly WalBlock[]): void {
    for (const block of blocks)
      if (block.image !== undefined && isCatalog(block)) this.#rows.readImage(block, block.image);
  }

  /** Whether a change since the last call was of a temporary table, or of the transient table of a rewrite. */
  takeIncidental(): boolean {
    const saw = this.#sawIncidental;
    this.#sawIncidental = false;
    return saw;
  }

  /** @throws {UnknownRow} */
  insert(block: WalBlock, items: readonly number[], isMany: boolean): readonly CatalogChange[] {
    if (!isCatalog(block)) return [];
    const rows = isMany
      ? this.#rows.insertMany(block, items)
      : items.map((item) => this.#rows.insert(block, item));
    return rows.flatMap((row) =>
      block.file === COLUMNS
        ? this.#altered(block.database, requireRow(row))
        : this.#change('created', block, requireRow(row)),
    );
  }

  /** @throws {UnknownRow} */
  delete(block: WalBlock, item: number): readonly CatalogChange[] {
    if (!isCatalog(block) || block.file === COLUMNS) return [];
    return this.#change('dropped', block, requireRow(this.#rows.row(block, item)));
  }

  /** Returns the changes of a row that is written in its place, outside of the transaction. @throws {UnknownRow} */
  changeInPlace(block: WalBlock, item: number): readonly CatalogChange[] {
    if (!isCatalog(block)) return [];
    const row = this.#rows.change(block, item);
    // DROP DATABASE marks a database as invalid before it removes files; it can't be used any more.
    const isInvalid =
      block.file === DATABASES && requireRow(row).start.readInt32LE(CONNECTION_LIMIT) === INVALID;
    return isInvalid ? this.#change('dropped', block, requireRow(row)) : [];
  }

  /**
   * Returns the changes of a row that has got a new version.
   * @param from the block of the old version
   * @returns also the new file of a table that was rewritten, whose rows aren't new
   * @throws {UnknownRow}
   */
  update(
    [block, from]: readonly [WalBlock, WalBlock],
    [item, oldItem]: readonly [number, number],
    flags: number,
  ): { readonly changes: readonly CatalogChange[]; readonly rewritten?: number } {
    if (!isCatalog(block)) return { changes: [] };
    const found = this.#rows.row(from, oldItem);
    const row = requireRow(this.#rows.update(block, item, flags, found));
    const old = requireRow(found);
    const { database, file } = block;
    if (file === TABLES) return this.#updateTable(database, this.#parse(old), this.#parse(row));
    if (file === COLUMNS)
      return { changes: this.#onlyForgetsMissingDefault(old, row) ? [] : this.#altered(database, row) };
    const [name, id] = [nameAt(old, 4), row.start.readUInt32LE(0)];
    return {
      changes:
        name === nameAt(row, 4)
          ? []
          : [{ ...kindOfCatalogRow(block, id), kind: 'renamed', before: { name } }],
    };
  }

  #updateTable(database: number, before: TableRow, after: TableRow) {
    const { table, name, schema, file } = after;
    if (!after.isTable || after.isRewrite) return { changes: [] };
    const of = {
      of: 'table',
      database,
      id: table,
      before: { name: before.name, schema: before.schema },
    } as const;
    const changes: CatalogChange[] = [];
    if (before.name !== name || before.schema !== schema) changes.push({ ...of, kind: 'renamed' });
    if (before.isUnlogged !== after.isUnlogged)
      changes.push({ ...of, kind: 'altered' }, { ...of, kind: 'unlogged' });
    if (before.file === file) return { changes };
    if (isRewrittenCatalog(table, file)) throw new UnknownRow();
    this.#addFile(database, table, before.file);
    const files = [...(this.#filesOf.get(fileKey(database, table)) ?? [])];
    this.#addFile(database, table, file);
    if (this.#rewrites.delete(fileKey(database, file))) return { changes, rewritten: file };
    return { changes: [...changes, { ...of, kind: 'truncated', files } as const] };
  }

  /** Whether the only change is that a column has no value for older rows any more, because these rows were rewritten. */
  #onlyForgetsMissingDefault(old: RowVersion, row: RowVersion): boolean {
    // The offset of atthasmissing, see src/include/catalog/pg_attribute.h.
    const hasMissing = this.#major >= 18 ? 88 : this.#major >= 16 ? 92 : 98;
    // In each version, these bytes include the other flags and the number of inheritances (attinhcount).
    const end = hasMissing + 12;
    const rest = ({ start }: RowVersion) =>
      Buffer.concat([start.subarray(0, hasMissing), start.subarray(hasMissing + 1, end)]);
    return old.start[hasMissing] === 1 && row.start[hasMissing] === 0 && rest(old).equals(rest(row));
  }

  /** Returns the change of a table whose column was changed. The first field of the row is the id of the table. */
  #altered(database: number, { start }: RowVersion): readonly CatalogChange[] {
    const table = start.readUInt32LE(0);
    if (this.#temporary.has(fileKey(database, table))) this.#sawIncidental = true;
    return [{ kind: 'altered', of: 'table', database, id: table }];
  }

  #change(kind: 'created' | 'dropped', block: WalBlock, row: RowVersion): readonly CatalogChange[] {
    const { database } = block;
    if (block.file !== TABLES)
      return [
        { ...kindOfCatalogRow(block, row.start.readUInt32LE(0)), kind, before: { name: nameAt(row, 4) } },
      ];
    const { table, name, schema, file, isTable, isRewrite, isTemporary } = this.#parse(row);
    if (isTemporary) this.#temporary.add(fileKey(database, table));
    if (isTemporary || isRewrite) this.#sawIncidental = true;
    if (!isTable) return [];
    if (isRewrite) {
      if (kind === 'created') this.#rewrites.add(fileKey(database, file));
      return [];
    }
    this.#addFile(database, table, file);
    return [{ kind, of: 'table', database, id: table, before: { name, schema } }];
  }

  /** Returns the changes if a table is truncated in its place, which happens only to a file that the same transaction has made. */
  truncate(database: number, file: number): readonly CatalogChange[] {
    const id = this.tablesByFile.get(fileKey(database, file)) ?? 0;
    const files = [...(this.#filesOf.get(fileKey(database, id)) ?? [])].filter(
      (key) => key !== fileKey(database, file),
    );
    return [{ kind: 'truncated', of: 'table', database, id, files }];
  }

  #addFile(database: number, table: number, file: number): void {
    this.tablesByFile.set(fileKey(database, file), table);
    const key = fileKey(database, table);
    this.#filesOf.set(key, (this.#filesOf.get(key) ?? new Set()).add(fileKey(database, file)));
  }

  /** Reads a row of `pg_class`. See src/include/catalog/pg_class.h. */
  #parse(row: RowVersion): TableRow {
    const { start } = row;
    // Since version 18, there is one column more before these two.
    const kinds = this.#major >= 18 ? 118 : 114;
    const [persistence, kind] = start.toString('latin1', kinds, kinds + 2);
    return {
      table: start.readUInt32LE(0),
      name: nameAt(row, 4),
      schema: start.readUInt32LE(68),
      file: start.readUInt32LE(88),
      isTemporary: persistence === 't',
      isTable: persistence !== 't' && ['r', 'p', 'm'].includes(kind ?? ''),
      isUnlogged: persistence === 'u',
      isRewrite: start.readUInt32LE(kinds + 14) !== 0,
    };
  }
}

/** Whether a catalog was rewritten, which gives it a new file, so that its changes aren't seen. */
export const isRewrittenCatalog = (catalog: number, file: number): boolean =>
  CATALOGS.has(catalog) && file !== catalog;

export const fileKey = (database: number, file: number): string => `${database}/${file}`;
export const databaseOfFileKey = (key: string): number => Number(key.split('/')[0]);
export const fileNumberOfFileKey = (key: string): number => Number(key.split('/')[1]);

const isCatalog = ({ file, fork, database }: WalBlock) =>
  fork === 0 && CATALOGS.has(file) && (database === 0) === (file === DATABASES);

/** Returns which database or schema a row of DATABASES or SCHEMAS is about. */
const kindOfCatalogRow = ({ database, file }: WalBlock, id: number) =>
  file === DATABASES
    ? ({ of: 'database', database: id, id } as const)
    : ({ of: 'schema', database, id } as const);

/** Reads a name, which has 64 bytes and is filled with 0. */
function nameAt({ start }: RowVersion, at: number): string {
  const text = start.toString('utf8', at, at + 64);
  return text.slice(0, text.indexOf('\0'));
}

function requireRow<T>(row: T | undefined): T {
  if (row === undefined) throw new UnknownRow();
  return row;
}
