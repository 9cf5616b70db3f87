/** Changes of tables that the WAL has as changes of rows of the system catalogs. */
import type { Block } from './recordContent.ts';
import { PageRows, type Row } from './pageRows.ts';

/** The catalogs. Their files have these numbers, unless someone has rewritten a catalog. */
const [DATABASES, COLUMNS, TABLES] = [1262, 1249, 1259];
/** Of databases, tables and columns. */
const CATALOGS: ReadonlySet<number> = new Set([DATABASES, COLUMNS, TABLES]);

/** Of a table or database. */
export interface CatalogChange {
  readonly kind: 'created' | 'dropped' | 'truncated' | 'altered';
  /** The object id of the database, in which the table is. */
  readonly database: number;
  /** The object id of the table; 0 for the database itself. */
  readonly table: number;
  /** Not if a column was changed. */
  readonly name?: string;
  readonly schema?: number;
  /** Of which the rows are gone. */
  readonly file?: number;
}

interface TableRow {
  readonly table: number;
  readonly name: string;
  readonly schema: number;
  readonly file: number;
  readonly isTemporary: boolean;
  readonly isTable: boolean;
}

/** While a table is rewritten, another one with such a name has its new file. */
const REWRITTEN = /^pg_temp_\d+$/;

/** A record changes a row whose content isn't known, because it was written before the WAL that was read. */
export class UnknownRow extends Error {}

export class CatalogChanges {
  readonly #rows = new PageRows();
  readonly #major: number;
  /** The new files of tables that are being rewritten. */
  readonly #rewrites = new Set<string>();
  /** The tables of files, as far as changes have named them. */
  readonly tablesByFile = new Map<string, number>();

  readonly #temporary = new Set<string>();
  #sawIncidental = false;

  /** @param major version of Postgres */
  constructor(major: number) {
    this.#major = major;
  }

  /** Call this for each record, before the methods below. */
  readImages(blocks: readonly Block[]): void {
    for (const block of blocks)
      if (block.image !== undefined && isCatalog(block)) this.#rows.readImage(block, block.image);
  }

  /** Whether a change since the last call was of a temporary table, or of the copy of a table that is rewritten. */
  takeIncidental(): boolean {
    const saw = this.#sawIncidental;
    this.#sawIncidental = false;
    return saw;
  }

  /** @throws {UnknownRow} */
  insert(block: Block, items: readonly number[], isMany: boolean): readonly CatalogChange[] {
    if (!isCatalog(block)) return [];
    const rows = isMany
      ? this.#rows.insertMany(block, items)
      : items.map((item) => this.#rows.insert(block, item));
    return rows.flatMap((row) => this.#created(block, known(row)));
  }

  /** @throws {UnknownRow} */
  delete(block: Block, item: number): readonly CatalogChange[] {
    if (!isCatalog(block) || block.file === COLUMNS) return [];
    const row = known(this.#rows.row(block, item));
    return this.#change('dropped', block, row);
  }

  /**
   * @param from the block of the old row
   * @returns also the file of a table that was rewritten: its rows are not new
   * @throws {UnknownRow}
   */
  update(
    [block, from]: readonly [Block, Block],
    [item, oldItem]: readonly [number, number],
    flags: number,
  ): { readonly changes: readonly CatalogChange[]; readonly rewritten?: number } {
    if (!isCatalog(block)) return { changes: [] };
    const old = this.#rows.row(from, oldItem);
    const row = known(this.#rows.update(block, item, flags, old));
    const { database } = block;
    if (block.file === COLUMNS) return { changes: this.#altered(database, row) };
    if (block.file === DATABASES) return { changes: [] };
    const [before, after] = [this.#parse(known(old)), this.#parse(row)];
    if (!after.isTable || REWRITTEN.test(after.name)) return { changes: [] };
    const { table, name, schema, file } = after;
    const changes: CatalogChange[] = [];
    if (before.name !== name || before.schema !== schema) changes.push({ kind: 'altered', database, table });
    if (before.file === file) return { changes };
    for (const each of [before.file, file]) this.tablesByFile.set(fileKey(database, each), table);
    if (this.#rewrites.delete(fileKey(database, file))) return { changes, rewritten: file };
    return { changes: [...changes, { kind: 'truncated', database, table, name, schema, file: before.file }] };
  }

  #created(block: Block, row: Row): readonly CatalogChange[] {
    if (block.file === COLUMNS) return this.#altered(block.database, row);
    return this.#change('created', block, row);
  }

  /** The first column says of which table the column is. */
  #altered(database: number, { start }: Row): readonly CatalogChange[] {
    const table = start.readUInt32LE(0);
    if (this.#temporary.has(fileKey(database, table))) this.#sawIncidental = true;
    return [{ kind: 'altered', database, table }];
  }

  #change(kind: 'created' | 'dropped', block: Block, row: Row): readonly CatalogChange[] {
    if (block.file === DATABASES)
      return [{ kind, database: row.start.readUInt32LE(0), table: 0, name: textAt(row, 4) }];
    const { database } = block;
    const { table, name, schema, file, isTable, isTemporary } = this.#parse(row);
    if (isTemporary) this.#temporary.add(fileKey(database, table));
    if (isTemporary || REWRITTEN.test(name)) this.#sawIncidental = true;
    if (!isTable) return [];
    if (REWRITTEN.test(name)) {
      if (kind === 'created') this.#rewrites.add(fileKey(database, file));
      return [];
    }
    this.tablesByFile.set(fileKey(database, file), table);
    return [{ kind, database, table, name, schema }];
  }

  /** See src/include/catalog/pg_class.h. */
  #parse(row: Row): TableRow {
    const { start } = row;
    // Version 18 has one column more before them.
    const kinds = this.#major >= 18 ? 118 : 114;
    const [persistence, kind] = start.toString('latin1', kinds, kinds + 2);
    return {
      table: start.readUInt32LE(0),
      name: textAt(row, 4),
      schema: start.readUInt32LE(68),
      file: start.readUInt32LE(88),
      isTemporary: persistence === 't',
      isTable: persistence !== 't' && ['r', 'p', 'm'].includes(kind ?? ''),
    };
  }
}

/** Whether a catalog was rewritten, so that its changes aren't seen. */
export const isMoved = (catalog: number, file: number): boolean => CATALOGS.has(catalog) && file !== catalog;

export const fileKey = (database: number, file: number): string => `${database}/${file}`;
export const databaseOf = (key: string): number => Number(key.split('/')[0]);
export const fileOf = (key: string): number => Number(key.split('/')[1]);

const isCatalog = ({ file, fork, database }: Block) =>
  fork === 0 && CATALOGS.has(file) && (database === 0) === (file === DATABASES);

/** A name: 64 bytes, filled with 0. */
function textAt({ start }: Row, at: number): string {
  const text = start.toString('utf8', at, at + 64);
  return text.slice(0, text.indexOf('\0'));
}

function known<T>(row: T | undefined): T {
  if (row === undefined) throw new UnknownRow();
  return row;
}
