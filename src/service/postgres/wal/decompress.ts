/** Decompresses images of pages (`wal_compression`). See src/common/pg_lzcompress.c. */
import zlib from 'node:zlib';

export type Compression = 'pglz' | 'lz4' | 'zstd';

/** @param size the size of the content @returns undefined if it can't be decompressed here */
export function decompress(bytes: Buffer, size: number, by: Compression): Buffer | undefined {
  if (by === 'pglz') return decompressPglz(bytes, size);
  // Node has LZ4 in no version, and zstd since 22.15.
  if (by === 'lz4' || typeof zlib.zstdDecompressSync !== 'function') return undefined;
  const content = zlib.zstdDecompressSync(bytes, { maxOutputLength: size });
  return content.length === size ? content : undefined;
}

/** The longest length in the two bytes of a repetition; a longer one has another byte. */
const LONGEST = 18;

/**
 * Decompresses pglz. A control byte says of each of the next eight items, from its lowest bit on, whether the item is a byte or a
 * repetition of earlier bytes. A repetition has 4 bits of the distance, 4 of the length, and again 8 of the distance.
 */
function decompressPglz(bytes: Buffer, size: number): Buffer | undefined {
  const content = Buffer.allocUnsafe(size);
  let [at, end] = [0, 0];
  while (at < bytes.length && end < size) {
    const control = bytes.readUInt8(at++);
    for (let bit = 0; bit < 8 && at < bytes.length && end < size; bit += 1) {
      if ((control & (1 << bit)) === 0) {
        content[end++] = bytes.readUInt8(at++);
        continue;
      }
      if (at + 2 > bytes.length) return undefined;
      const first = bytes.readUInt8(at++);
      const distance = ((first & 0xf0) << 4) | bytes.readUInt8(at++);
      let length = (first & 0x0f) + 3;
      if (length === LONGEST) {
        if (at >= bytes.length) return undefined;
        length += bytes.readUInt8(at++);
      }
      if (distance === 0 || distance > end) return undefined;
      // The bytes are copied one by one, because a repetition may contain itself.
      for (let left = Math.min(length, size - end); left > 0; left -= 1, end += 1)
        content[end] = content.readUInt8(end - distance);
    }
  }
  return at === bytes.length && end === size ? content : undefined;
}
