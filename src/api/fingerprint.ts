import { createHash } from 'node:crypto';

declare const made: unique symbol;
/** Stands for the bytes of a reply. */
export type Fingerprint = string & { readonly [made]: true };

/**
 * The same for the same bytes, in however many pieces they came, and for no others: SHA-256, of which nobody has ever
 * found two texts with the same. Kept instead of the bytes, which for a large account are as large as its records.
 */
export function fingerprintOf(chunks: readonly Uint8Array[]): Fingerprint {
  const hash = createHash('sha256');
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest('base64') as Fingerprint;
}
