/** Which file a database has noted as a migration. Tools note its name or that of its folder, its number, or a hash of its text. */
import path from 'node:path';

const HASH = /^[0-9a-f]{64}$/;

/**
 * @param note what a database has noted about a migration
 * @param hashes the names of files by the SHA-256 of their text
 * @returns which of the files it may be about
 */
export function filesNotedAs(
  note: string,
  names: readonly string[],
  hashes: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  if (HASH.test(note)) return names.filter((name) => hashes.get(note)?.includes(name) === true);
  const noted = withoutLeadingZeros(note.replace(/^\//, '').replace(/\.(?:sql|[cm]?[jt]s)$/i, ''));
  return names.filter((name) => {
    const { name: stem } = path.posix.parse(name);
    const [, digits = '', rest = ''] = /^(\d*)[-_]?(.*)$/s.exec(stem) ?? [];
    const folder = path.posix.basename(path.posix.dirname(name));
    return [stem, folder, digits, `${withoutLeadingZeros(digits)}_${rest}`].some(
      (each) => withoutLeadingZeros(each) === noted,
    );
  });
}

/** Removes leading zeros, because some programs note `1` in the database for `0001_init.sql`. */
const withoutLeadingZeros = (text: string): string => text.replace(/^0+(?=\d+$)/, '');
