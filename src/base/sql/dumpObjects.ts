/**
 * Finds the objects in a schema that pg_dump has written, and the statements that aren't about objects. pg_dump puts a comment
 * before each object, but lines that look the same may be in the body of a function, a text or a name. So only comments outside of
 * all quotes count.
 */
import { SqlLexer } from './sqlLexer.ts';

/** Returns the statements for each object, such as a table or a grant, by its name and kind. */
export function splitObjects(dump: string): ReadonlyMap<string, string> {
  const objects = new Map<string, string>();
  let name: string | undefined;
  let start = 0;
  const add = (end: number) => {
    if (name !== undefined) objects.set(name, (objects.get(name) ?? '') + dump.slice(start, end).trim());
  };
  const lexer = new SqlLexer(dump);
  for (let token = lexer.next(); token !== undefined; token = lexer.next()) {
    const header = token.kind === 'comment' ? headerAt(dump, token.start) : undefined;
    if (header === undefined) continue;
    add(token.start);
    ({ name, end: start } = header);
    lexer.position = start;
    // Only the comment at the end of the dump has no name.
    if (name === undefined) return objects;
  }
  add(dump.length);
  return objects;
}

/** Returns the dump without the statements that only prepare the session of a program that reads it. */
export function withoutSessionSettings(dump: string): string {
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

const ONE_LINE = /(?:SET|SELECT|ALTER) .*;\n*/y;

/** Removes statements of one line, and the empty lines after them. */
function removeStatements(dump: string, isRemoved: (statement: string) => boolean): string {
  const kept: string[] = [];
  let start = 0;
  const lexer = new SqlLexer(dump);
  for (let token = lexer.next(); token !== undefined; token = lexer.next()) {
    const isFirstOnLine = token.start === 0 || dump[token.start - 1] === '\n';
    ONE_LINE.lastIndex = token.start;
    const [text] = (token.kind === 'word' && isFirstOnLine && ONE_LINE.exec(dump)) || [];
    if (text === undefined || !isComplete(text) || !isRemoved(text)) continue;
    kept.push(dump.slice(start, token.start));
    start = token.start + text.length;
    lexer.position = start;
  }
  return kept.join('') + dump.slice(start);
}

/** Whether no quoted name or text continues on the next line. */
const isComplete = (statement: string): boolean =>
  [/"/g, /'/g].every((quote) => (statement.match(quote)?.length ?? 0) % 2 === 0);

const NAME = 'Name: ';
const COMPLETE = 'PostgreSQL database dump complete';

/** Reads the comment above an object. @returns undefined if it is another comment, and no name for the one at the end of the dump */
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
