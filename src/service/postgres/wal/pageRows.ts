/**
 * Reads the rows of system catalogs from the WAL, which has whole pages and changes of their rows. See
 * src/include/access/heapam_xlog.h.
 */
import { decompress } from './decompress.ts';
import type { WalBlock, PageImage } from './recordContent.ts';

const PAGE = 8192;
/** The lengths of the headers of a page and of a row, and of what the WAL has of a row's header: for one row, and for each of many. */
const [PAGE_HEADER, ROW_HEADER, LOGGED_HEADER, LOGGED_HEADER_OF_MANY] = [24, 23, 5, 7];
const NORMAL = 1;
/** Flags of an update: the row begins or ends like the old one. */
const [SAME_START, SAME_END] = [0x20, 0x40];
/** The most bytes of a row that are kept: enough for the columns that are used. */
const KEPT = 140;

/** What is known of one version of a row on a page. */
export interface RowVersion {
  /** The first bytes of the row. Columns of fixed length come first. */
  readonly start: Buffer;
  readonly length: number;
}

/** The rows of the catalog pages that were changed, by page and number. */
export class PageRows {
  readonly #pages = new Map<string, Map<number, RowVersion>>();

  /** @param item the row's number on the page @returns undefined if the row isn't known */
  row(block: WalBlock, item: number): RowVersion | undefined {
    return this.#pages.get(pageKey(block))?.get(item);
  }

  /** Reads the image of a page. After a checkpoint, the first change of each page has one. */
  readImage(block: WalBlock, image: PageImage): void {
    const rows = new Map<number, RowVersion>();
    this.#pages.set(pageKey(block), rows);
    const { compression, hole, holeLength } = image;
    const bytes =
      compression === undefined ? image.bytes : decompress(image.bytes, PAGE - holeLength, compression);
    if (bytes === undefined) return;
    const positionInImage = (position: number) => (position < hole ? position : position - holeLength);
    const end = bytes.readUInt16LE(12);
    for (let pointer = PAGE_HEADER; pointer + 4 <= end; pointer += 4) {
      const value = bytes.readUInt32LE(pointer);
      if (((value >>> 15) & 3) !== NORMAL) continue;
      const [position, length] = [positionInImage(value & 0x7fff), value >>> 17];
      const header = bytes.readUInt8(position + ROW_HEADER - 1);
      rows.set((pointer - PAGE_HEADER) / 4 + 1, {
        start: copyStart(bytes.subarray(position + header, position + length)),
        length: length - header,
      });
    }
  }

  /** Reads the row that a record inserts. @returns undefined if the row isn't known */
  insert(block: WalBlock, item: number): RowVersion | undefined {
    if (block.image !== undefined) return this.row(block, item);
    const content = block.data.subarray(LOGGED_HEADER + block.data.readUInt8(4) - ROW_HEADER);
    return this.#set(block, item, { start: copyStart(content), length: content.length });
  }

  /** Reads the rows that a record inserts together. @param items the numbers of the rows on the page */
  insertMany(block: WalBlock, items: readonly number[]): readonly (RowVersion | undefined)[] {
    if (block.image !== undefined) return items.map((item) => this.row(block, item));
    const { data } = block;
    let at = 0;
    return items.map((item) => {
      at += at % 2;
      const [size, header] = [data.readUInt16LE(at), data.readUInt8(at + 6)];
      const start = at + LOGGED_HEADER_OF_MANY;
      at = start + size;
      const content = data.subarray(start + header - ROW_HEADER, at);
      return this.#set(block, item, { start: copyStart(content), length: content.length });
    });
  }

  /**
   * Reads the new version of a row from the record of its update.
   * @param flags the flags of the update
   * @param old the row before
   * @returns undefined if the new row isn't known
   */
  update(block: WalBlock, item: number, flags: number, old: RowVersion | undefined): RowVersion | undefined {
    if (block.image !== undefined) return this.row(block, item);
    const { data } = block;
    let at = 0;
    const [same, sameEnd] = [SAME_START, SAME_END].map((flag) =>
      (flags & flag) === 0 ? 0 : data.readUInt16LE((at += 2) - 2),
    ) as [number, number];
    const content = data.subarray(at + LOGGED_HEADER + data.readUInt8(at + 4) - ROW_HEADER);
    if (same + sameEnd > 0 && old === undefined) {
      this.#pages.get(pageKey(block))?.delete(item);
      return undefined;
    }
    const parts = [content];
    if (old !== undefined && same > 0) parts.unshift(old.start.subarray(0, same));
    if (old !== undefined && sameEnd > 0) parts.push(old.start.subarray(old.length - sameEnd));
    return this.#set(block, item, {
      start: copyStart(Buffer.concat(parts)),
      length: same + content.length + sameEnd,
    });
  }

  /** Changes a row in its place. @returns the new row; undefined if the row isn't known */
  change(block: WalBlock, item: number): RowVersion | undefined {
    if (block.image !== undefined) return this.row(block, item);
    const old = this.row(block, item);
    // The data are what follows the header of the row.
    return old && this.#set(block, item, { ...old, start: copyStart(block.data) });
  }

  #set(block: WalBlock, item: number, row: RowVersion): RowVersion {
    const key = pageKey(block);
    const rows = this.#pages.get(key) ?? new Map<number, RowVersion>();
    this.#pages.set(key, rows);
    rows.set(item, row);
    return row;
  }
}

const pageKey = ({ database, file, page }: WalBlock) => `${database}/${file}/${page}`;

/** Copies the bytes, because a part of a buffer keeps the whole file in memory. */
const copyStart = (content: Buffer) => Buffer.from(content.subarray(0, KEPT));
