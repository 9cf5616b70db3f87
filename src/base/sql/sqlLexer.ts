/**
 * Reads SQL as psql does. The rules are those of its `psqlscan.l` in versions 17 and 18, which are those of the server, except
 * for variables and commands. psql reads a line at a time. So two strings on two lines aren't one here, although they are for the server.
 */

export type TokenKind =
  /** Spaces and line ends. */
  | 'space'
  | 'comment'
  /** A string of any kind, including dollar quotes. */
  | 'string'
  /** `"…"` and `U&"…"` */
  | 'quotedName'
  | 'word'
  | 'number'
  /** A variable of psql, such as `:name`. psql sends it as it is if the variable isn't set. */
  | 'variable'
  /** A semicolon or colon after a backslash, which psql passes on. */
  | 'escaped'
  /** A backslash that begins a command of psql. */
  | 'backslash'
  /** One character. Operators have several such tokens. */
  | 'symbol';

export interface SqlToken {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

/** The server and psql take each byte of a character that isn't ASCII for a letter. */
const LETTER = String.raw`A-Za-z_\u0080-\uffff`;
const WORD = `[${LETTER}][${LETTER}0-9$]*`;
const DIGITS = '[0-9](?:_?[0-9])*';

/** Matches the beginning of each token, and all of a token that ends within its line. The longest match comes first. */
const TOKEN = new RegExp(
  [
    String.raw`[ \t\n\r\f\v]+`,
    String.raw`--[^\n\r]*`,
    String.raw`/\*`,
    `[eEbBxX]'`,
    `[uU]&['"]`,
    // The N of N'…' and the U of U&… are one character each, and no word.
    `[nN](?=')|[uU](?=&)`,
    String.raw`\$(?:[${LETTER}][${LETTER}0-9]*)?\$`,
    String.raw`\$[0-9]+(?:${WORD})?`,
    WORD,
    // `1e'a'` has no string with escapes, `1e--1` no comment, and `1..2` no decimal point.
    String.raw`(?:${DIGITS}(?:\.(?!\.)(?:${DIGITS})?)?|\.${DIGITS})[eE][+-](?:[0-9]+(?:${WORD})?)?`,
    String.raw`(?:${DIGITS}\.(?!\.)[0-9]*|\.[0-9]+|[0-9]+)(?:${WORD})?`,
    String.raw`::|:=|\.\.`,
    `:(?:[${LETTER}0-9]+|'[${LETTER}0-9]+'|"[${LETTER}0-9]+"|\\{\\?[${LETTER}0-9]+\\})`,
    String.raw`\\[;:]`,
    String.raw`[^]`,
  ].join('|'),
  'y',
);

/** Matches what continues a string after its end. psql sees a line end only if it is a carriage return. */
const CONTINUED = /\n*(?:[ \t\f\v]|--[^\n\r]*)*\r(?:[ \t\r\f\v]|--[^\n\r]*\r)*'/y;

export class SqlLexer {
  readonly #text: string;
  position: number;
  /** Whether a backslash in `'…'` is only a backslash. psql finds that out when it begins to read a line. */
  #isStandard = true;
  #later: { readonly from: number; readonly isStandard: boolean } | undefined;

  constructor(text: string, position = 0) {
    this.#text = text;
    this.position = position;
  }

  /** @param isStandard what the server reports of `standard_conforming_strings`, from the next line on */
  setStandardStrings(isStandard: boolean): void {
    const end = this.#text.indexOf('\n', this.position);
    this.#later = { from: end === -1 ? this.#text.length : end, isStandard };
  }

  /** Returns the next token; undefined at the end. A token without an end reaches to the end of the text. */
  next(): SqlToken | undefined {
    const start = this.position;
    TOKEN.lastIndex = start;
    const [token] = TOKEN.exec(this.#text) ?? [];
    if (token === undefined) return undefined;
    if (this.#later !== undefined && start >= this.#later.from) {
      this.#isStandard = this.#later.isStandard;
      this.#later = undefined;
    }
    this.position = start + token.length;
    return { kind: this.#kindOf(token), start, end: this.position };
  }

  /** Returns the kind of a token, and moves to its end. */
  #kindOf(token: string): TokenKind {
    if (token.startsWith('--')) return 'comment';
    if (token === '/*') return this.#skipComment();
    if (/^[eEbBxXuU&]*'$/.test(token)) return this.#skipString(token);
    if (/^[uU&]*"$/.test(token)) return this.#skipDoubled('"', 'quotedName');
    if (/^\$(?![0-9]).*\$$/.test(token)) return this.#skipDollar(token);
    if (/^[ \t\n\r\f\v]/.test(token)) return 'space';
    if (/^:[^:=]/.test(token)) return 'variable';
    if (/^[$.]?[0-9]/.test(token)) return 'number';
    if (token.startsWith('\\')) return token.length > 1 ? 'escaped' : 'backslash';
    return /^[A-Za-z_\u0080-\uffff]/.test(token) && !this.#isPrefix(token) ? 'word' : 'symbol';
  }

  #isPrefix(token: string): boolean {
    const next = this.#text.charAt(this.position);
    return (next === "'" && /^n$/i.test(token)) || (next === '&' && /^u$/i.test(token));
  }

  #skipString(token: string): 'string' {
    const prefix = token.charAt(0).toLowerCase();
    const hasEscapes = prefix === 'e' || (prefix === "'" && !this.#isStandard);
    do {
      if (hasEscapes) this.#skipEscaped();
      else if (prefix === 'b' || prefix === 'x') this.#skipTo("'");
      else this.#skipDoubled("'", 'string');
      CONTINUED.lastIndex = this.position;
    } while (this.#text.charAt(this.position - 1) === "'" && this.#skipMatch(CONTINUED));
    return 'string';
  }

  #skipMatch(pattern: RegExp): boolean {
    const isFound = pattern.test(this.#text);
    if (isFound) this.position = pattern.lastIndex;
    return isFound;
  }

  #skipDollar(delimiter: string): 'string' {
    this.#skipTo(delimiter);
    return 'string';
  }

  #skipTo(end: string): void {
    const at = this.#text.indexOf(end, this.position);
    this.position = at === -1 ? this.#text.length : at + end.length;
  }

  /** Moves to the end of a token in quotes. A doubled quote stands for the quote itself, so it doesn't end the token. */
  #skipDoubled<Kind extends TokenKind>(quote: string, kind: Kind): Kind {
    this.#skipTo(quote);
    while (this.#text.charAt(this.position) === quote) {
      this.position += 1;
      this.#skipTo(quote);
    }
    return kind;
  }

  #skipEscaped(): void {
    const mark = /\\[^]|''|'/g;
    mark.lastIndex = this.position;
    let found: string | undefined;
    do [found] = mark.exec(this.#text) ?? [];
    while (found !== undefined && found !== "'");
    this.position = found === undefined ? this.#text.length : mark.lastIndex;
  }

  /** Moves to the end of a comment. Comments can be nested. */
  #skipComment(): 'comment' {
    const mark = /\/\*|\*\//g;
    mark.lastIndex = this.position;
    let depth = 1;
    while (depth > 0) {
      const [found] = mark.exec(this.#text) ?? [];
      if (found === undefined) break;
      depth += found === '/*' ? 1 : -1;
    }
    this.position = depth > 0 ? this.#text.length : mark.lastIndex;
    return 'comment';
  }
}
