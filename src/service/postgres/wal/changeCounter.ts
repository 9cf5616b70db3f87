/**
 * Counts what committed transactions have changed since several moments, from the records of the WAL after them.
 * A moment is a position, with all records before it, as for a recovery. The formats are those of src/include/access/
 * {heapam_xlog,xact}.h, catalog/pg_control.h and storage/standbydefs.h.
 */
import {
  CatalogChanges,
  fileKey,
  isRewrittenCatalog,
  UnknownRow,
  type CatalogChange,
} from './catalogChanges.ts';
import { committedTransactionIds } from './commitContent.ts';
import { readRecordContent, type WalBlock } from './recordContent.ts';
import {
  addChange,
  getOrCreateCounts,
  addToTotal,
  newTransaction,
  type PlacedChange,
  type RowCounts,
  type Transaction,
  type TransactionReceiver,
} from './transaction.ts';
import { WAL_MANAGERS, type WalRecord } from './walRecords.ts';

/** What was changed since a moment. */
export interface CountedChanges {
  /** The number of rows by file, see `fileKey`. */
  readonly rows: ReadonlyMap<string, RowCounts>;
  readonly tables: readonly PlacedChange[];
}

export interface CountedMoment {
  /** What has changed since the moment; undefined if that isn't known. */
  readonly changes: CountedChanges | undefined;
  /** The position of the first record after the moment; undefined without one. */
  readonly next: number | undefined;
}

/** The bits of a record's info that say what it has done: to rows, and to a transaction. */
const [OPERATION, TRANSACTION_OPERATION] = [0x70, 0x70];
const [INSERT, DELETE, UPDATE, HOT_UPDATE, IN_PLACE] = [0x00, 0x10, 0x20, 0x40, 0x70];
const [INSERT_MANY, NEW_PAGE] = [0x50, 0x80];
/** Flags of a deletion: the statement withdraws a row that it has inserted, because of a conflict; the row moves to another partition. */
const [WITHDRAWN, MOVED] = [0x08, 0x10];
const [COMMIT, ABORT, COMMIT_PREPARED] = [0x00, 0x20, 0x30];
const [SHUTDOWN, TRUNCATE, RUNNING] = [0x00, 0x20, 0x10];

interface CounterOptions {
  /** The position where the records begin. */
  readonly from: number;
  /** The earliest position that can be restored. */
  readonly restorable: number;
  readonly transactions?: TransactionReceiver | undefined;
}

export class ChangeCounter {
  readonly #catalog: CatalogChanges;
  readonly #major: number;
  readonly #transactions: TransactionReceiver | undefined;
  /** The positions of the moments, in order. */
  readonly #moments: readonly number[];
  /** Where the first record after each passed moment is. */
  readonly #next: number[] = [];
  /** What was committed before the first moment, between the first and the second, and so on. */
  readonly #parts: Transaction[] = [];
  readonly #pending = new Map<number, Transaction>();
  /** The index of the first moment since which no record is missing. */
  #firstKnown = 0;
  /** The id of the first transaction that can't have begun before the records; undefined until a record says so. */
  #firstComplete: number | undefined;
  readonly #restorable: number;
  /** The end of the last transaction; undefined while it isn't known. */
  #previousEnd: number | undefined;

  /** @param moments positions, in order */
  constructor(moments: readonly number[], major: number, { from, restorable, transactions }: CounterOptions) {
    this.#moments = moments;
    this.#major = major;
    this.#transactions = transactions;
    this.#catalog = new CatalogChanges(major);
    this.#firstKnown = moments.filter((moment) => moment < from).length;
    this.#restorable = restorable;
    // Then no record after the first restorable position is missing.
    if (from <= restorable) this.#previousEnd = restorable;
  }

  add(record: WalRecord): void {
    while ((this.#moments[this.#next.length] ?? Infinity) <= record.start) this.#next.push(record.start);
    this.#read(record);
    if (record.time !== undefined) this.#previousEnd = Math.max(record.end, this.#restorable);
  }

  #read(record: WalRecord): void {
    switch (record.manager) {
      case WAL_MANAGERS.heap:
      case WAL_MANAGERS.heap2:
        return this.#readRows(record);
      case WAL_MANAGERS.transaction:
        return this.#endTransaction(record);
      case WAL_MANAGERS.xlog:
      case WAL_MANAGERS.standby:
        return this.#noteFirstComplete(record);
      case WAL_MANAGERS.storage:
        return this.#readTruncation(record);
      case WAL_MANAGERS.relationMap:
        return this.#forgetIfRewritten(record);
      default:
        // A record such as that of a sequence says that the transaction has changed something.
        if (record.xid !== 0) this.#transaction(record.xid);
    }
  }

  /** Returns a count for each of the moments. */
  result(): readonly CountedMoment[] {
    const isKnown = (index: number) => index >= this.#firstKnown && this.#firstComplete !== undefined;
    let later: Transaction = newTransaction();
    return this.#moments
      .map((_, fromLast): CountedMoment => {
        const index = this.#moments.length - 1 - fromLast;
        const part = this.#parts[index + 1];
        if (part !== undefined) later = addToTotal(addToTotal(newTransaction(), part), later);
        const { rows, tables } = later;
        const changes = isKnown(index) ? { rows, tables: [...tables.values()] } : undefined;
        return { changes, next: this.#next[index] };
      })
      .toReversed();
  }

  /** The tables by their files, for files that were dropped or replaced. */
  get tablesByFile(): ReadonlyMap<string, number> {
    return this.#catalog.tablesByFile;
  }

  /** What was committed since the last moment that was passed. */
  get #part(): Transaction {
    return (this.#parts[this.#next.length] ??= newTransaction());
  }

  /** Notes that changes were missed, so that those since the passed moments can't be counted. */
  #forget(): void {
    this.#firstKnown = Math.max(this.#firstKnown, this.#next.length);
    this.#transactions?.forget();
  }

  #readRows(record: WalRecord): void {
    const { blocks, main } = readRecordContent(record.bytes);
    this.#catalog.readImages(blocks);
    const [block] = blocks;
    if (block === undefined) return;
    try {
      this.#changeRows(record, [block, ...blocks.slice(1)], main);
    } catch (error) {
      if (!(error instanceof UnknownRow)) throw error;
      // An unknown row matters only if its transaction is committed.
      if (record.xid !== 0) this.#transaction(record.xid).isUnknown = true;
    }
  }

  #changeRows(record: WalRecord, blocks: readonly [WalBlock, ...WalBlock[]], main: Buffer): void {
    const { manager, info, xid } = record;
    const [block] = blocks;
    const operation = info & OPERATION;
    if (manager === WAL_MANAGERS.heap && operation === IN_PLACE) {
      // A change in place takes effect without a transaction.
      for (const change of this.#catalog.changeInPlace(block, main.readUInt16LE(0)))
        addChange(this.#part.tables, { ...change, at: record.start });
    } else if (xid === 0) return;
    else if (manager === WAL_MANAGERS.heap2) {
      if (operation === INSERT_MANY)
        this.#insert(record, block, readNewItems(main, (info & NEW_PAGE) !== 0), { isMany: true });
    } else if (operation === INSERT) this.#insert(record, block, [main.readUInt16LE(0)], { isMany: false });
    else if (operation === DELETE) this.#delete(record, block, main);
    else if (operation === UPDATE || operation === HOT_UPDATE) this.#update(record, blocks, main);
  }

  #insert(record: WalRecord, block: WalBlock, items: readonly number[], { isMany = false }): void {
    this.#count(record.xid, block).added += items.length;
    this.#addTables(record, this.#catalog.insert(block, items, isMany));
  }

  #delete(record: WalRecord, block: WalBlock, main: Buffer): void {
    const flags = main.readUInt8(7);
    const count = this.#count(record.xid, block);
    if ((flags & WITHDRAWN) !== 0) count.added -= 1;
    else if ((flags & MOVED) !== 0) {
      // The insertion of the row into the other partition of the same table follows.
      count.changed += 1;
      count.added -= 1;
    } else count.deleted += 1;
    this.#addTables(record, this.#catalog.delete(block, main.readUInt16LE(4)));
  }

  #update(record: WalRecord, [block, from = block]: readonly [WalBlock, ...WalBlock[]], main: Buffer): void {
    this.#count(record.xid, block).changed += 1;
    const items = [main.readUInt16LE(12), main.readUInt16LE(4)] as const;
    const { changes, rewritten } = this.#catalog.update([block, from], items, main.readUInt8(7));
    this.#addTables(record, changes);
    if (rewritten === undefined) return;
    this.#removePending(fileKey(block.database, rewritten));
    this.#transaction(record.xid).rewritten.add(fileKey(block.database, rewritten));
  }

  #addTables({ xid, start }: WalRecord, changes: readonly CatalogChange[]): void {
    const transaction = this.#transaction(xid);
    if (this.#catalog.takeIncidental()) transaction.isIncidental = true;
    for (const change of changes) addChange(transaction.tables, { ...change, at: start });
  }

  #endTransaction(record: WalRecord): void {
    const { info, bytes, xid, start: at, time = 0 } = record;
    const operation = info & TRANSACTION_OPERATION;
    if (operation === ABORT) this.#pending.delete(xid);
    if (operation !== COMMIT && operation !== COMMIT_PREPARED) return;
    const ids = committedTransactionIds({ xid, info, main: readRecordContent(bytes).main }, this.#major);
    const readers = at < this.#restorable ? undefined : this.#transactions;
    const ended = ids.flatMap((id) => {
      const transaction = this.#pending.get(id);
      this.#pending.delete(id);
      if (transaction !== undefined) readers?.addTransaction(id, transaction);
      return transaction ?? [];
    });
    for (const each of ended) addToTotal(this.#part, each);
    // Counts are removed only now, because a subtransaction may have truncated a table with rows of another one, or vice versa.
    for (const file of ended.flatMap(({ tables }) => [...tables.values()].flatMap(({ files = [] }) => files)))
      this.#parts.forEach(({ rows }) => rows.delete(file));
    readers?.endTransaction({ at, time, previousEnd: this.#endBefore(record) });
    const isIncomplete = this.#firstComplete !== undefined && isXidBefore(ids[0] ?? 0, this.#firstComplete);
    if (isIncomplete || ended.some(({ isUnknown }) => isUnknown)) this.#forget();
  }

  /** Returns the end of the transaction before a record; undefined during the copy of the data, when no moment can be restored. */
  #endBefore({ start }: WalRecord): number | undefined {
    const end = this.#previousEnd;
    return end !== undefined && end <= start ? end : undefined;
  }

  /** Notes the first record that says which transactions run: later transactions are complete. */
  #noteFirstComplete({ manager, info, bytes }: WalRecord): void {
    const operation = info & 0xf0;
    const { blocks, main } = readRecordContent(bytes);
    this.#catalog.readImages(blocks);
    if (this.#firstComplete !== undefined) return;
    if (manager === WAL_MANAGERS.standby && operation === RUNNING)
      this.#firstComplete = main.readUInt32LE(12);
    else if (manager === WAL_MANAGERS.xlog && operation === SHUTDOWN)
      this.#firstComplete = main.readUInt32LE(24);
    else return;
    this.#forget();
  }

  /** Calls `#forget` if a catalog has another file from now on. */
  #forgetIfRewritten({ bytes }: WalRecord): void {
    const { main } = readRecordContent(bytes);
    for (let index = 0; index < main.readInt32LE(16); index += 1)
      if (isRewrittenCatalog(main.readUInt32LE(20 + index * 8), main.readUInt32LE(24 + index * 8)))
        this.#forget();
  }

  /** Reads the truncation of a file, as of a table that was created or rewritten in the same transaction. */
  #readTruncation(record: WalRecord): void {
    if ((record.info & 0xf0) !== TRUNCATE || record.xid === 0) return;
    const { main } = readRecordContent(record.bytes);
    if (main.readUInt32LE(0) !== 0) return;
    const [database, file] = [main.readUInt32LE(8), main.readUInt32LE(12)];
    const key = fileKey(database, file);
    if ([...this.#pending.values()].some(({ rewritten }) => rewritten.has(key)))
      this.#addTables(record, this.#catalog.truncate(database, file));
    this.#removePending(key);
  }

  /** Removes the counts of a file that only the current transaction sees. */
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

  #count(xid: number, { database, file }: WalBlock): RowCounts {
    return getOrCreateCounts(this.#transaction(xid).rows, fileKey(database, file));
  }
}

/** Returns the numbers of new rows on their page. */
function readNewItems(main: Buffer, isNewPage: boolean): readonly number[] {
  const count = main.readUInt16LE(2);
  return Array.from({ length: count }, (_, index) =>
    isNewPage ? index + 1 : main.readUInt16LE(4 + index * 2),
  );
}

/** Whether a transaction is older than another one. Ids begin again after the largest one. */
const isXidBefore = (xid: number, other: number): boolean => ((xid - other) | 0) < 0;
