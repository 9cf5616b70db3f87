/**
 * Finds the objects in a schema that pg_dump has written, and the statements that aren't about objects. pg_dump puts a comment
 * before each object, but lines that look the same may be in the body of a function, a text or a name. So only comments outside of
 * all quotes count.
 */

/** The statements for each object, such as a table or a grant, by its name and kind. */
export function objectsOf(dump: string): ReadonlyMap<string, string> {
  const objects = new Map<string, string>();
  let name: string | undefined;
  let start = 0;
  const add = (end: number) => {
    if (name !== undefined) objects.set(name, (objects.get(name) ?? '') + dump.slice(start, end).trim());
  };
  const token = /--|['"]|\$(?:[a-z_]\w*)?\$/gi;
  for (let found = token.exec(dump); found !== null; found = token.exec(dump)) {
    const header = found[0] === '--' ? headerAt(dump, found.index) : undefined;
    if (header === undefined) token.lastIndex = endOf(dump, found[0], token.lastIndex);
    else {
      add(found.index);
      ({ name, end: start } = header);
      token.lastIndex = start;
      // What follows is the end of the dump.
      if (name === undefined) return objects;
    }
  }
  add(dump.length);
  return objects;
}

/** Without the statements that only prepare the session of a program that reads the dump. */
export function withoutSettings(dump: string): string {
  // Tablespaces and access methods say where tables are, so such settings stay if one isn't the default.
  const hasOwnDefaults = /^SET default_\w+ = (?!'';|heap;)/m.test(dump);
  return removeStatements(dump, (statement) =>
    statement.startsWith('SET default_')
      ? !hasOwnDefaults
      : /^SET \w+ = |^SELECT pg_catalog\.set_config\('search_path', '', false\);/.test(statement),
  );
}

/** Separates the statements that set owners. The comment before each object names its owner, too. */
export function splitOwners(dump: string): { readonly text: string; readonly owners: string } {
  let owners = '';
  const text = removeStatements(dump, (statement) => {
    const isOwner = /^ALTER [A-Z]+ .* OWNER TO .+;\s*$/.test(statement);
    if (isOwner) owners += statement;
    return isOwner;
  });
  return { text, owners: owners.trim() };
}

/** Removes statements of one line, and the empty lines after them. */
function removeStatements(dump: string, isRemoved: (statement: string) => boolean): string {
  const kept: string[] = [];
  let start = 0;
  const token = /--|['"]|\$(?:[A-Za-z_]\w*)?\$|^(?:SET|SELECT|ALTER) .*;\n*/gm;
  for (let found = token.exec(dump); found !== null; found = token.exec(dump)) {
    const [text] = found;
    if (!/^[SA]/.test(text)) token.lastIndex = endOf(dump, text, token.lastIndex);
    else if (isComplete(text) && isRemoved(text)) {
      kept.push(dump.slice(start, found.index));
      start = token.lastIndex;
    } else token.lastIndex = found.index + 1;
  }
  return kept.join('') + dump.slice(start);
}

/** Whether no quoted name or text continues on the next line. */
const isComplete = (statement: string): boolean =>
  [/"/g, /'/g].every((quote) => (statement.match(quote)?.length ?? 0) % 2 === 0);

/** Where a comment or quoted text ends. In quotes, pg_dump writes a quote as two. */
function endOf(dump: string, opening: string, from: number): number {
  const closing = opening === '--' ? '\n' : opening;
  const isDoubled = (end: number) => (opening === "'" || opening === '"') && dump[end] === opening;
  let found = dump.indexOf(closing, from);
  while (found >= 0 && isDoubled(found + 1)) found = dump.indexOf(closing, found + 2);
  return found < 0 ? dump.length : found + closing.length;
}

const NAME = 'Name: ';
const COMPLETE = 'PostgreSQL database dump complete';

/** @returns without a name at the end of the dump; undefined for another comment */
function headerAt(dump: string, index: number): { name: string | undefined; end: number } | undefined {
  const lineStart = index + '--\n-- '.length;
  const lineEnd = dump.indexOf('\n', lineStart);
  const isFirstOnLine = index === 0 || dump[index - 1] === '\n';
  if (!isFirstOnLine || !dump.startsWith('--\n-- ', index) || !dump.startsWith('\n--', lineEnd))
    return undefined;
  const line = dump.slice(lineStart, lineEnd);
  const end = lineEnd + '\n--'.length;
  if (line === COMPLETE) return { name: undefined, end };
  if (!line.startsWith(NAME)) return undefined;
  // The owner isn't part of the identity.
  const owner = line.lastIndexOf('; Owner: ');
  return { name: line.slice(NAME.length, owner < 0 ? undefined : owner), end };
}
