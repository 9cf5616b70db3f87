/** Finds all names in a statement. It doesn't parse SQL: text whose meaning isn't clear is rejected. */

interface SqlNames {
  readonly all: readonly string[];
  /** Those before a parenthesis. */
  readonly called: readonly string[];
  /** Those after a dot: columns, and functions as well, because `(a).b` calls `b(a)` if `a` has no such column. */
  readonly dotted: readonly string[];
  /** What is neither name nor text nor comment. It contains the operators. */
  readonly symbols: string;
}

/** @throws {Error} for the agent */
export function namesIn(sql: string): SqlNames {
  const [all, called, dotted] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const symbols: string[] = [];
  let last: Token = { text: '' };
  for (const token of tokensOf(sql)) {
    // Postgres would join them, and read escapes in the second one if the first one has them.
    if (last.text.endsWith("'") && token.text.endsWith("'"))
      throw new Error(
        'A read-only statement must not have two strings one after the other. Write one string.',
      );
    if (token.name !== undefined) all.add(token.name);
    if (token.name !== undefined && last.text === '.') dotted.add(token.name);
    if (last.name !== undefined && token.text === '(') called.add(last.name);
    symbols.push(token.symbol ?? ' ');
    last = token;
  }
  return { all: [...all], called: [...called], dotted: [...dotted], symbols: symbols.join('') };
}

interface Token {
  readonly text: string;
  /** As Postgres stores it. */
  readonly name?: string | undefined;
  readonly symbol?: string | undefined;
}

/** As Postgres reads them with `standard_conforming_strings`. */
const TOKEN = new RegExp(
  [
    String.raw`(?<space>\s+|--[^\n\r]*)`,
    String.raw`(?<open>/\*|\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)`,
    `(?<escapes>u&")`,
    String.raw`e'(?:[^\\']|\\[^]|'')*'`,
    String.raw`(?:u&)?'(?:[^']|'')*'`,
    String.raw`"(?<quoted>(?:[^"]|"")*)"`,
    String.raw`(?<word>[a-z_\u0080-\uffff][\w$\u0080-\uffff]*)`,
    `(?<symbol>[^'"])`,
  ].join('|'),
  'iy',
);

/** All but spaces and comments. @throws {Error} for the agent */
function* tokensOf(sql: string): Generator<Token> {
  for (let at = 0; at < sql.length;) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(sql);
    if (match === null) throw unterminated(sql, at);
    const { space, open, escapes, quoted, word, symbol } = match.groups ?? {};
    if (escapes !== undefined)
      throw new Error('A name with Unicode escapes (U&"") is not allowed in a read-only statement.');
    const end = open === undefined ? TOKEN.lastIndex : endOf(sql, at, open);
    const text = sql.slice(at, end);
    at = end;
    if (space !== undefined || open === '/*') continue;
    // Only ASCII letters are folded.
    const name = quoted?.replaceAll('""', '"') ?? word?.replace(/[A-Z]+/g, (part) => part.toLowerCase());
    yield { text, name, symbol };
  }
}

/** Comments can be nested. */
function endOf(sql: string, start: number, open: string): number {
  if (open !== '/*') {
    const end = sql.indexOf(open, start + open.length);
    if (end === -1) throw unterminated(sql, start);
    return end + open.length;
  }
  let depth = 0;
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  for (let mark = marks.exec(sql); mark !== null; mark = marks.exec(sql)) {
    depth += mark[0] === '/*' ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  throw unterminated(sql, start);
}

const unterminated = (sql: string, at: number): Error =>
  new Error(`The statement has no end of what begins at character ${at + 1}: ${sql.slice(at, at + 10)}`);
