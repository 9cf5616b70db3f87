/** Reads what a record of the WAL contains: changes of pages, and other data. The format is that of src/include/access/xlogrecord.h. */
import type { Compression } from './decompress.ts';

const [PAGE, HEADER] = [8192, 24];
/** Values of a part's first byte that aren't the number of a block. */
const [SHORT_DATA, LONG_DATA, ORIGIN, TOP_TRANSACTION] = [255, 254, 253, 252];
/** Flags of a block. */
const [FORK, HAS_IMAGE, HAS_DATA, SAME_FILE] = [0x0f, 0x10, 0x20, 0x80];
/** Flags of an image: whether the hole without data was left out, and whether the image is compressed. Versions before 15 have other flags. */
const [HAS_HOLE, COMPRESSED] = [0x01, 0x1c];
const COMPRESSIONS: ReadonlyMap<number, Compression> = new Map([
  [0x04, 'pglz'],
  [0x08, 'lz4'],
  [0x10, 'zstd'],
]);

/** A file of a table, an index or something else that has pages. */
interface File {
  /** The object id of the database; 0 for what all databases share. */
  readonly database: number;
  /** The number of the file: the object id of its table or index, until that is written to a new file. */
  readonly file: number;
}

/** A whole page that a record contains. */
export interface PageImage {
  readonly bytes: Buffer;
  /** The position and length of bytes that were left out, all of them 0. */
  readonly hole: number;
  readonly holeLength: number;
  readonly compression: Compression | undefined;
}

/** A page that a record changes. */
export interface WalBlock extends File {
  /** The part of the file: 0 for its main content. */
  readonly fork: number;
  readonly page: number;
  /** The whole page after the change, in place of data. */
  readonly image: PageImage | undefined;
  readonly data: Buffer;
}

interface RecordContent {
  readonly blocks: readonly WalBlock[];
  readonly main: Buffer;
}

type Draft = { -readonly [Key in keyof WalBlock]: WalBlock[Key] } & {
  imageLength: number;
  dataLength: number;
};

/** @param bytes the bytes of the whole record */
export function readRecordContent(bytes: Buffer): RecordContent {
  const blocks: Draft[] = [];
  let [at, mainLength] = [HEADER, 0];
  // The headers of all parts come before the parts, and that of the main data comes last.
  while (mainLength === 0 && at < bytes.length) {
    const kind = bytes.readUInt8(at);
    if (kind === SHORT_DATA) [mainLength, at] = [bytes.readUInt8(at + 1), at + 2];
    else if (kind === LONG_DATA) [mainLength, at] = [bytes.readUInt32LE(at + 1), at + 5];
    else if (kind === ORIGIN) at += 3;
    else if (kind === TOP_TRANSACTION) at += 5;
    else {
      const { block, end } = readBlockHeader(bytes, at, blocks.at(-1));
      blocks.push(block);
      at = end;
      if (at + partsLength(blocks) >= bytes.length) break;
    }
  }
  for (const block of blocks) {
    if (block.image !== undefined)
      block.image = { ...block.image, bytes: bytes.subarray(at, at + block.imageLength) };
    at += block.imageLength;
    block.data = bytes.subarray(at, at + block.dataLength);
    at += block.dataLength;
  }
  return { blocks, main: bytes.subarray(at, at + mainLength) };
}

const partsLength = (blocks: readonly Draft[]) =>
  blocks.reduce((sum, { imageLength, dataLength }) => sum + imageLength + dataLength, 0);

/** Reads the header of a block. The caller sets the bytes of the image and of the data, because these follow all headers. */
function readBlockHeader(bytes: Buffer, start: number, last: File | undefined) {
  const flags = bytes.readUInt8(start + 1);
  const dataLength = (flags & HAS_DATA) === 0 ? 0 : bytes.readUInt16LE(start + 2);
  let at = start + 4;
  let imageLength = 0;
  let image: PageImage | undefined;
  if ((flags & HAS_IMAGE) !== 0) {
    imageLength = bytes.readUInt16LE(at);
    const info = bytes.readUInt8(at + 4);
    const compression = COMPRESSIONS.get(info & COMPRESSED);
    const hasLength = compression !== undefined && (info & HAS_HOLE) !== 0;
    const rest = compression === undefined ? PAGE - imageLength : 0;
    const holeLength = hasLength ? bytes.readUInt16LE(at + 5) : rest;
    image = { bytes, hole: bytes.readUInt16LE(at + 2), holeLength, compression };
    at += hasLength ? 7 : 5;
  }
  const isSame = (flags & SAME_FILE) !== 0 && last !== undefined;
  const { database, file } = isSame
    ? last
    : { database: bytes.readUInt32LE(at + 4), file: bytes.readUInt32LE(at + 8) };
  if (!isSame) at += 12;
  const page = bytes.readUInt32LE(at);
  const block: Draft = {
    database,
    file,
    fork: flags & FORK,
    page,
    image,
    data: bytes,
    imageLength,
    dataLength,
  };
  return { block, end: at + 4 };
}
