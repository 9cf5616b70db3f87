/** Positions in the write-ahead log (LSN): a number of bytes, written as two hexadecimal halves. */

const HALF = 2 ** 32;

/** Returns the position that a text such as `0/15000A8` names; undefined for any other text. */
export function parseLsn(text: string): number | undefined {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(text) ?? [];
  return high === undefined || low === undefined ? undefined : parseInt(high, 16) * HALF + parseInt(low, 16);
}

export const formatLsn = (lsn: number): string =>
  [Math.floor(lsn / HALF), lsn % HALF].map((part) => part.toString(16).toUpperCase()).join('/');
