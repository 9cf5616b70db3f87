/** Splits a script into statements by the rules of psql (`psqlscan.l`), so that it can be sent as `psql -f` sends it. */

export interface ScriptStatement {
  readonly text: string;
  /** Where it begins in the script. */
  readonly start: number;
}

/** An error at a line of a script. */
export class ScriptError extends Error {
  /** From 1. */
  readonly line: number;

  constructor(line: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.line = line;
  }
}

// In SQL, other spaces of Unicode are letters.
const TOKEN =
  /[ \t\n\r\f\v]+|--[^\n\r]*|\/\*|[eE]?'|"|\$(?:[A-Za-z_\u0080-\u{10ffff}][\w\u0080-\u{10ffff}]*)?\$|[A-Za-z_\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*|./suy;
/** Statements whose body can have semicolons, between `begin atomic` and `end`. */
const WITH_BODY = /^create (?:or replace )?(?:function|procedure)\b/;

/** A command of psql, which Postgres doesn't know. */
export class PsqlCommandError extends ScriptError {
  /** Such as `\\d item`. */
  readonly command: string;

  constructor(line: number, command: string) {
    super(line, `"${command}" is a command of psql, not SQL.`);
    this.command = command;
  }
}

export class SqlScript {
  readonly #text: string;
  #position = 0;

  /** @param text without a byte order mark */
  constructor(text: string) {
    this.#text = text;
  }

  /** @returns undefined at the end @throws {PsqlCommandError} */
  next(): ScriptStatement | undefined {
    let start: number | undefined;
    let parentheses = 0;
    let bodies = 0;
    // At most the first four words, by which psql recognizes a statement that may have a body.
    const words: string[] = [];
    for (;;) {
      const at = this.#position;
      const token = this.#token();
      if (token === '' || (token === ';' && parentheses === 0 && bodies === 0)) {
        if (start !== undefined) return { text: this.#text.slice(start, this.#position), start };
        if (token === '') return undefined;
        continue;
      }
      if (/^(?:[ \t\n\r\f\v]|--|\/\*)/.test(token)) continue;
      if (token === '\\') {
        this.#skipCommand(at);
        continue;
      }
      start ??= at;
      if (token === '(') parentheses += 1;
      else if (token === ')') parentheses = Math.max(parentheses - 1, 0);
      else if (/^[a-z_]/i.test(token)) {
        const word = token.toLowerCase();
        if (words.length < 4) words.push(word);
        if (parentheses > 0 || !WITH_BODY.test(words.join(' '))) continue;
        if (word === 'begin' || (word === 'case' && bodies > 0)) bodies += 1;
        else if (word === 'end') bodies = Math.max(bodies - 1, 0);
      }
    }
  }

  /** The lines after a `COPY … FROM STDIN`, up to `\.`. @throws {ScriptError} if more follows in its own line */
  copyData(): string {
    const start = this.#endOfLine(this.#position);
    const rest = this.#text.slice(this.#position, start);
    if (!/^\s*(?:--.*)?$/.test(rest))
      throw new ScriptError(
        this.lineAt(this.#position),
        'Put what follows this COPY in a line after its data',
      );
    for (let end = start; ; end += 1) {
      end = this.#text.indexOf('\n\\.', end);
      if (end === -1) {
        this.#position = this.#text.length;
        return this.#text.slice(start + 1);
      }
      const last = /\n\\\.\r?(?:\n|$)/y;
      last.lastIndex = end;
      if (!last.test(this.#text)) continue;
      this.#position = last.lastIndex;
      return this.#text.slice(start + 1, end + 1);
    }
  }

  /** From 1. */
  lineAt(position: number): number {
    let line = 1;
    for (let at = this.#text.indexOf('\n'); at !== -1 && at < position; at = this.#text.indexOf('\n', at + 1))
      line += 1;
    return line;
  }

  /** Moves behind the next token, which is returned without the rest of a string or comment; '' at the end. */
  #token(): string {
    TOKEN.lastIndex = this.#position;
    const [token = ''] = TOKEN.exec(this.#text) ?? [];
    this.#position += token.length;
    if (token === '/*') this.#skipComment();
    else if (/^e'$/i.test(token)) this.#skipEscaped();
    else if (
      token === "'" ||
      token === '"' ||
      (token.startsWith('$') && token.endsWith('$') && token !== '$')
    )
      this.#skipTo(token);
    return token;
  }

  #skipTo(end: string): void {
    const at = this.#text.indexOf(end, this.#position);
    this.#position = at === -1 ? this.#text.length : at + end.length;
  }

  #skipComment(): void {
    const mark = /\/\*|\*\//g;
    mark.lastIndex = this.#position;
    let depth = 1;
    while (depth > 0) {
      const [found] = mark.exec(this.#text) ?? [];
      if (found === undefined) break;
      depth += found === '/*' ? 1 : -1;
    }
    this.#position = depth > 0 ? this.#text.length : mark.lastIndex;
  }

  #skipEscaped(): void {
    const mark = /\\.|''|'/gsu;
    mark.lastIndex = this.#position;
    let found: string | undefined;
    do [found] = mark.exec(this.#text) ?? [];
    while (found !== undefined && found !== "'");
    this.#position = found === undefined ? this.#text.length : mark.lastIndex;
  }

  /** `\restrict` and `\unrestrict`, which pg_dump writes, only limit other commands. */
  #skipCommand(at: number): void {
    const command = this.#text.slice(at, this.#endOfLine(at)).trim();
    if (!/^\\(?:un)?restrict\b/.test(command)) throw new PsqlCommandError(this.lineAt(at), command);
    this.#position = at + command.length;
  }

  #endOfLine(position: number): number {
    const end = this.#text.indexOf('\n', position);
    return end === -1 ? this.#text.length : end;
  }
}
