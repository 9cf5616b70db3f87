/**
 * Finds the commits in a stream of the log. The format is that of src/include/access/{xlogrecord,xlog_internal,xact}.h, the same in all
 * versions that the service supports.
 */
import { LONG_HEADER, PAGE, RECORD_HEADER, SHORT_HEADER, WAL_MANAGERS } from '../wal/walRecords.ts';

/** Where the header of a page has its flags, and the flag of a longer one. */
const [FLAGS, IS_LONG] = [2, 0x2];
/** Records begin at multiples of this. */
const ALIGNMENT = 8;
/** The kinds of records with which a transaction waits for a standby: a commit, also of a prepared transaction, and a preparation. */
const [KIND, WAITING] = [0x70, [0x00, 0x30, 0x10]];

/** Reads the records of a log that arrives in pieces. Each record names the one before, so a misread one is noticed. */
export class CommitFinder {
  readonly #header = Buffer.alloc(RECORD_HEADER);
  /** How much of the header of the record has arrived. */
  #filled = 0;
  /** How much of the record after its header hasn't arrived. */
  #left = 0;
  #start = 0;
  #previous: number | undefined;
  #pageHeader = SHORT_HEADER;
  /** Whether the last record has named the one before. If not, the stream may have begun within a record. */
  #isSure = false;

  /**
   * Reads the next piece.
   * @param position of the piece in the log
   * @returns whether a transaction has committed in it, or may have
   */
  read(position: number, bytes: Buffer): boolean {
    let isFound = false;
    for (let at = 0; at < bytes.length;) {
      const inPage = (position + at) % PAGE;
      const room = Math.min(PAGE - inPage, bytes.length - at);
      if (inPage < SHORT_HEADER) at += this.#readPageHeader(inPage, bytes.subarray(at, at + room));
      else if (inPage < this.#pageHeader) at += Math.min(this.#pageHeader - inPage, room);
      else if (this.#filled < RECORD_HEADER)
        at += this.#readHeader(position + at, bytes.subarray(at, at + room));
      else {
        const count = Math.min(this.#left, room);
        this.#left -= count;
        at += count;
      }
      if (this.#filled === RECORD_HEADER && this.#left === 0) isFound = this.#endRecord() || isFound;
    }
    return isFound || !this.#isSure;
  }

  /** @returns how many of the bytes were read */
  #readPageHeader(inPage: number, bytes: Buffer): number {
    const count = Math.min(SHORT_HEADER - inPage, bytes.length);
    const flags = inPage <= FLAGS && FLAGS < inPage + count ? bytes[FLAGS - inPage] : undefined;
    if (flags !== undefined) this.#pageHeader = (flags & IS_LONG) === 0 ? SHORT_HEADER : LONG_HEADER;
    return count;
  }

  /** @returns how many of the bytes were read */
  #readHeader(position: number, bytes: Buffer): number {
    if (this.#filled === 0) {
      const padding = (ALIGNMENT - (position % ALIGNMENT)) % ALIGNMENT;
      if (padding > 0) return Math.min(padding, bytes.length);
      this.#start = position;
    }
    const next = this.#filled < ALIGNMENT ? ALIGNMENT : RECORD_HEADER;
    const count = bytes.copy(this.#header, this.#filled, 0, next - this.#filled);
    this.#filled += count;
    const length = this.#header.readUInt32LE();
    this.#left = Math.max(length - RECORD_HEADER, 0);
    // The rest of a segment can be empty.
    if (this.#filled === ALIGNMENT && length === 0) this.#filled = 0;
    if (this.#filled < RECORD_HEADER) return count;
    this.#isSure = Number(this.#header.readBigUInt64LE(8)) === this.#previous;
    this.#previous = this.#start;
    return count;
  }

  /** @returns whether the record is of a transaction that waits */
  #endRecord(): boolean {
    this.#filled = 0;
    const [info, manager] = [this.#header.readUInt8(16), this.#header.readUInt8(17)];
    return manager === WAL_MANAGERS.transaction && WAITING.includes(info & KIND);
  }
}
