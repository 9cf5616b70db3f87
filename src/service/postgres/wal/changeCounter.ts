/**
 * Counts what committed transactions have changed since several moments, from the records of the WAL after them.
 * A moment is before the first record with a later time, as for a recovery. The formats are those of src/include/access/
 * {heapam_xlog,xact}.h, catalog/pg_control.h and storage/standbydefs.h.
 */
import { CatalogChanges, fileKey, isMoved, UnknownRow, type CatalogChange } from './catalogChanges.ts';
import { committedIn } from './commitContent.ts';
import { readContent, type Block } from './recordContent.ts';
import {
  countOf,
  merged,
  newTransaction,
  type RowCounts,
  type Transaction,
  type TransactionReader,
} from './transaction.ts';
import { MANAGERS, type WalRecord } from './walRecords.ts';

/** What was changed since a moment. */
export interface Changes {
  /** By file, see `fileKey`. */
  readonly rows: ReadonlyMap<string, RowCounts>;
  /** In the order of their commits. */
  readonly tables: readonly CatalogChange[];
}

export interface CountedMoment {
  /** Undefined if the records begin after the moment. */
  readonly changes: Changes | undefined;
  /** Where the first record after it is. */
  readonly position: number | undefined;
}

/** What a record has done is in these bits of its info. */
const [OPERATION, TRANSACTION_OPERATION] = [0x70, 0x70];
const [INSERT, DELETE, UPDATE, HOT_UPDATE] = [0x00, 0x10, 0x20, 0x40];
const [INSERT_MANY, NEW_PAGE] = [0x50, 0x80];
/** Flags of a deletion: the row was inserted by the same statement, which had a conflict; it moves to another partition. */
const [WITHDRAWN, MOVED] = [0x08, 0x10];
const [COMMIT, ABORT, COMMIT_PREPARED] = [0x00, 0x20, 0x30];
const [SHUTDOWN, TRUNCATE, RUNNING] = [0x00, 0x20, 0x10];

interface CounterOptions {
  readonly start?: number | undefined;
  readonly transactions?: TransactionReader | undefined;
}

export class ChangeCounter {
  readonly #catalog: CatalogChanges;
  readonly #major: number;
  readonly #transactions: TransactionReader | undefined;
  /** Microseconds since 1970, in order. */
  readonly #moments: readonly number[];
  /** Where they are: those of the first moments. */
  readonly #positions: number[] = [];
  /** What was committed before the first moment, between it and the second, and so on. */
  readonly #parts: Transaction[] = [];
  readonly #pending = new Map<number, Transaction>();
  /** The index of the first moment since which there are all records. */
  #firstKnown = 0;
  /** The id of the first transaction that can't have begun before the records. Undefined until a record says it. */
  #firstComplete: number | undefined;
  #hasTime = false;

  /**
   * @param moments in order, in microseconds since 1970 @param start since when the records are complete, if it is known
   * @param transactions gets those of which all is known
   */
  constructor(
    moments: readonly number[],
    major: number,
    { start = Infinity, transactions }: CounterOptions = {},
  ) {
    this.#moments = moments;
    this.#major = major;
    this.#transactions = transactions;
    this.#catalog = new CatalogChanges(major);
    this.#firstKnown = moments.filter((moment) => moment < start).length;
  }

  add(record: WalRecord): void {
    if (record.time !== undefined) this.#passTime(record.time, record.start);
    switch (record.manager) {
      case MANAGERS.heap:
      case MANAGERS.heap2:
        return this.#readRows(record);
      case MANAGERS.transaction:
        return this.#endTransaction(record);
      case MANAGERS.xlog:
      case MANAGERS.standby:
        return this.#readState(record);
      case MANAGERS.storage:
        return this.#readTruncation(record);
      case MANAGERS.relationMap:
        return this.#readMap(record);
      default:
        // Such as of a sequence: the transaction has changed something.
        if (record.xid !== 0) this.#transaction(record.xid);
    }
  }

  /** For each of the moments. */
  result(): readonly CountedMoment[] {
    const isKnown = (index: number) => index >= this.#firstKnown && this.#firstComplete !== undefined;
    let later: Transaction = newTransaction();
    return this.#moments
      .map((_, fromLast): CountedMoment => {
        const index = this.#moments.length - 1 - fromLast;
        const part = this.#parts[index + 1];
        if (part !== undefined) later = merged(merged(newTransaction(), part), later);
        const { rows, tables } = later;
        const changes = isKnown(index) ? { rows, tables: [...tables.values()] } : undefined;
        return { changes, position: this.#positions[index] };
      })
      .toReversed();
  }

  /** The tables of files that were dropped or replaced. */
  get tablesByFile(): ReadonlyMap<string, number> {
    return this.#catalog.tablesByFile;
  }

  #passTime(time: number, position: number): void {
    // Which transactions ended before isn't known.
    if (!this.#hasTime)
      this.#firstKnown = Math.min(this.#firstKnown, this.#moments.filter((moment) => moment < time).length);
    this.#hasTime = true;
    for (;;) {
      const moment = this.#moments[this.#positions.length];
      if (moment === undefined || moment >= time) return;
      this.#positions.push(position);
    }
  }

  /** The changes since earlier moments can't be counted. */
  #forget(): void {
    this.#firstKnown = Math.max(this.#firstKnown, this.#positions.length);
    this.#transactions?.forget();
  }

  #readRows({ bytes, manager, info, xid }: WalRecord): void {
    const { blocks, main } = readContent(bytes);
    this.#catalog.readImages(blocks);
    const [block] = blocks;
    if (block === undefined || xid === 0) return;
    const operation = info & OPERATION;
    try {
      if (manager === MANAGERS.heap2) {
        if (operation === INSERT_MANY) this.#insert(xid, block, itemsOf(main, (info & NEW_PAGE) !== 0), true);
      } else if (operation === INSERT) this.#insert(xid, block, [main.readUInt16LE(0)], false);
      else if (operation === DELETE) this.#delete(xid, block, main);
      else if (operation === UPDATE || operation === HOT_UPDATE) this.#update(xid, blocks, main);
    } catch (error) {
      if (!(error instanceof UnknownRow)) throw error;
      this.#forget();
    }
  }

  #insert(xid: number, block: Block, items: readonly number[], isMany: boolean): void {
    this.#count(xid, block).added += items.length;
    this.#addTables(xid, this.#catalog.insert(block, items, isMany));
  }

  #delete(xid: number, block: Block, main: Buffer): void {
    const flags = main.readUInt8(7);
    const count = this.#count(xid, block);
    if ((flags & WITHDRAWN) !== 0) count.added -= 1;
    else if ((flags & MOVED) !== 0) {
      // Its insertion into the other partition, of the same table, follows.
      count.changed += 1;
      count.added -= 1;
    } else count.deleted += 1;
    this.#addTables(xid, this.#catalog.delete(block, main.readUInt16LE(4)));
  }

  #update(xid: number, [block, from = block]: readonly Block[], main: Buffer): void {
    if (block === undefined || from === undefined) return;
    this.#count(xid, block).changed += 1;
    const items = [main.readUInt16LE(12), main.readUInt16LE(4)] as const;
    const { changes, rewritten } = this.#catalog.update([block, from], items, main.readUInt8(7));
    this.#addTables(xid, changes);
    if (rewritten !== undefined) this.#removePending(fileKey(block.database, rewritten));
  }

  #addTables(xid: number, changes: readonly CatalogChange[]): void {
    const transaction = this.#transaction(xid);
    const { tables } = transaction;
    if (this.#catalog.takeIncidental()) transaction.isIncidental = true;
    for (const change of changes) {
      const { kind, database, table, file } = change;
      tables.set(`${kind}/${database}/${table}/${file}`, change);
    }
  }

  #endTransaction(record: WalRecord): void {
    const { info, bytes, xid } = record;
    const operation = info & TRANSACTION_OPERATION;
    if (operation === ABORT) this.#pending.delete(xid);
    if (operation !== COMMIT && operation !== COMMIT_PREPARED) return;
    const ids = committedIn({ xid, info, main: readContent(bytes).main }, this.#major);
    const [first = 0] = ids;
    const part = (this.#parts[this.#positions.length] ??= newTransaction());
    for (const id of ids) {
      const transaction = this.#pending.get(id);
      if (transaction === undefined) continue;
      this.#pending.delete(id);
      merged(part, transaction);
      this.#transactions?.add(id, transaction);
      for (const { database, file } of transaction.tables.values())
        if (file !== undefined) this.#parts.forEach(({ rows }) => rows.delete(fileKey(database, file)));
    }
    this.#transactions?.end(record.time ?? 0);
    if (this.#firstComplete !== undefined && isBefore(first, this.#firstComplete)) this.#forget();
  }

  /** From the first record on that says which transactions run, it is known which ones are complete. */
  #readState({ manager, info, bytes }: WalRecord): void {
    const operation = info & 0xf0;
    const { blocks, main } = readContent(bytes);
    this.#catalog.readImages(blocks);
    if (this.#firstComplete !== undefined) return;
    if (manager === MANAGERS.standby && operation === RUNNING) this.#firstComplete = main.readUInt32LE(12);
    else if (manager === MANAGERS.xlog && operation === SHUTDOWN) this.#firstComplete = main.readUInt32LE(24);
    else return;
    this.#forget();
  }

  /** The catalogs may have other files from now on. */
  #readMap({ bytes }: WalRecord): void {
    const { main } = readContent(bytes);
    for (let index = 0; index < main.readInt32LE(16); index += 1)
      if (isMoved(main.readUInt32LE(20 + index * 8), main.readUInt32LE(24 + index * 8))) this.#forget();
  }

  /** A table that was created in the same transaction is truncated without a new file. */
  #readTruncation({ info, bytes, xid }: WalRecord): void {
    if ((info & 0xf0) !== TRUNCATE || xid === 0) return;
    const { main } = readContent(bytes);
    if (main.readUInt32LE(0) === 0) this.#removePending(fileKey(main.readUInt32LE(8), main.readUInt32LE(12)));
  }

  /** No other transaction sees such a file yet. */
  #removePending(file: string): void {
    for (const { rows } of this.#pending.values()) rows.delete(file);
  }

  #transaction(xid: number): Transaction {
    const found = this.#pending.get(xid);
    if (found !== undefined) return found;
    const transaction = newTransaction();
    this.#pending.set(xid, transaction);
    return transaction;
  }

  #count(xid: number, { database, file }: Block): RowCounts {
    return countOf(this.#transaction(xid).rows, fileKey(database, file));
  }
}

/** The numbers of new rows on their page. */
function itemsOf(main: Buffer, isNewPage: boolean): readonly number[] {
  const count = main.readUInt16LE(2);
  return Array.from({ length: count }, (_, index) =>
    isNewPage ? index + 1 : main.readUInt16LE(4 + index * 2),
  );
}

/** Transaction ids begin again after the largest one. */
const isBefore = (xid: number, other: number): boolean => ((xid - other) | 0) < 0;
