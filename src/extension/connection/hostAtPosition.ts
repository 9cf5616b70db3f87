/** The host or compute id at a position in any text. */

/** Columns are UTF-16 units. `port` follows the host after a colon and ends at `portEnd`. */
export interface HostAtPosition {
  readonly host: string;
  readonly port: string | undefined;
  readonly start: number;
  readonly end: number;
  readonly portEnd: number;
}

/** The longest valid host name. Longer words are skipped, so that a huge line stays fast. */
const MAX_HOST_LENGTH = 253;

const PART = /[A-Za-z0-9_.-]/;
const PORT = /^:(\d{1,5})(?![\w-])/;
const HOST_NAME = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;

/** Returns the host at a position of the line; undefined if the word there can't be a host. */
export function hostAtPosition(line: string, column: number): HostAtPosition | undefined {
  const at = startOfPort(line, column) ?? column;
  let [start, end] = [at, at];
  while (start > 0 && at - start <= MAX_HOST_LENGTH && PART.test(line.charAt(start - 1))) start -= 1;
  while (end < line.length && end - at <= MAX_HOST_LENGTH && PART.test(line.charAt(end))) end += 1;
  // Drop the punctuation of a sentence that ends with the host.
  while (end > start && !/[A-Za-z0-9]/.test(line.charAt(end - 1))) end -= 1;
  const host = line.slice(start, end).toLowerCase();
  if (host.length > MAX_HOST_LENGTH || !HOST_NAME.test(host)) return undefined;
  const port = PORT.exec(line.slice(end, end + 8))?.[1];
  const portEnd = port === undefined ? end : end + 1 + port.length;
  return column <= portEnd ? { host, port, start, end, portEnd } : undefined;
}

/** Returns the column of the colon if the given column is inside `:5432`, because the host ends before it. */
function startOfPort(line: string, column: number): number | undefined {
  const before = /:\d{0,5}$/.exec(line.slice(Math.max(0, column - 6), column))?.[0];
  return before === undefined ? undefined : column - before.length;
}

/** Whether a host may belong to a compute that isn't loaded yet. */
export const looksLikeCompute = (host: string): boolean => /^ep-[a-z0-9]+-[a-z0-9-]+(?:\.|$)/.test(host);
