/** Splits a script into statements as psql does, so that it can be sent as `psql -f` sends it. */
import { SqlLexer, type SqlToken } from './sqlLexer.ts';

export interface ScriptStatement {
  readonly kind: 'statement';
  /** The text as psql sends it: without a command of psql in it. */
  readonly text: string;
  /** The position of the statement's first character in the script. */
  readonly start: number;
  /** The position after the statement's semicolon. */
  readonly end: number;
  /** How many `COPY … FROM STDIN` psql sees in it, each of which has data in the lines that follow. There is rarely more than one. */
  readonly copies: number;
}

/** A command of psql, such as `\d item`, which Postgres doesn't know. A statement that the command sends or changes comes after it. */
export interface ScriptCommand {
  readonly kind: 'command';
  readonly text: string;
  readonly start: number;
  /** 1 if the lines after the command are the data of `\\copy`. */
  readonly copies: number;
}

/** An error at a line of a script. */
export class ScriptError extends Error {
  /** The number of the line, from 1. */
  readonly line: number;

  constructor(line: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.line = line;
  }
}

/** Thrown for a command of psql, which Postgres doesn't know. */
export class PsqlCommandError extends ScriptError {
  /** The command with its arguments, such as `\d item`. */
  readonly command: string;

  constructor(line: number, command: string) {
    super(line, `"${command}" is a command of psql, not SQL.`);
    this.command = command;
  }
}

/** Commands that send the statement before them. */
const SENDING = /^\\(?:g|gx|gdesc|gexec|gset|crosstabview|watch|bind|parse|sendpipeline)(?![\w+])/;
/** Commands that drop the statement before them. */
const DROPPING = /^\\r(?:eset)?(?!\w)/;
/** Commands whose argument is the rest of the line. All others end at the next backslash that isn't in quotes. */
const WHOLE_LINE =
  /^\\(?:!|\?|copy|help|h|ef|ev|sf\+?|sv\+?)(?![\w+])|^\\(?:g|gx|o|out|w|write|e|edit)[ \t]+\|/;
const ARGUMENTS = /(?:'(?:\\.|[^'\\\n])*'|"[^"\n]*"|`[^`\n]*`|[^\\'"`\n])*(?:\\\\)?/y;

/** A statement so far. It has several parts if commands of psql are within it. */
interface Statement {
  parts: string[];
  start: number;
  /** The position where the next part begins. */
  partStart: number;
  /** Whether there is more than comments. */
  hasTokens: boolean;
  copies: number;
}

export class SqlScript {
  readonly #text: string;
  readonly #lexer: SqlLexer;
  #statement: Statement | undefined;
  #endOfData = 0;
  /** The statement that was ended by a command such as `\g`, and that `next` returns after the command. */
  #sent: ScriptStatement | undefined;
  #parentheses = 0;
  #bodies = 0;
  /** The first words outside of parentheses, by which psql recognizes a statement that may have a body or data. */
  #words: string[] = [];

  /** @param text without a byte order mark. Its characters can also stand for bytes, because no byte of a longer character is ASCII. */
  constructor(text: string) {
    this.#text = text;
    this.#lexer = new SqlLexer(text);
  }

  /** Sets what the server reports of `standard_conforming_strings`, which is on in the beginning. */
  setStandardStrings(isStandard: boolean): void {
    this.#lexer.setStandardStrings(isStandard);
  }

  /** Returns undefined at the end. */
  next(): ScriptStatement | ScriptCommand | undefined {
    if (this.#sent !== undefined) {
      const sent = this.#sent;
      this.#sent = undefined;
      return sent;
    }
    for (let token = this.#lexer.next(); token !== undefined; token = this.#lexer.next()) {
      if (token.kind === 'backslash') return this.#readCommand(token.start);
      const isEnd = this.#add(token);
      const statement = isEnd ? this.#end(token.end) : undefined;
      if (statement !== undefined) return statement;
    }
    return this.#end(this.#text.length);
  }

  /** Returns whether the statement ends with the token. */
  #add({ kind, start, end }: SqlToken): boolean {
    const isSymbol = kind === 'symbol';
    const isEnd = isSymbol && this.#text[start] === ';' && this.#parentheses === 0 && this.#bodies === 0;
    if (
      kind === 'space' ||
      (kind === 'comment' && this.#statement === undefined && this.#text[start] === '-')
    )
      return false;
    this.#statement ??= { parts: [], start, partStart: start, hasTokens: false, copies: 0 };
    if (kind !== 'comment' && !isEnd) this.#statement.hasTokens = true;
    if (kind === 'escaped') this.#addEscaped(this.#statement, start);
    if (kind === 'word') this.#addWord(start, end);
    else if (isSymbol && this.#text[start] === '(') this.#parentheses += 1;
    else if (isSymbol && this.#text[start] === ')') this.#parentheses = Math.max(this.#parentheses - 1, 0);
    return isEnd;
  }

  /**
   * Drops the backslash. `\;` ends one of several statements that psql sends together, so the words of the next one follow.
   */
  #addEscaped(statement: Statement, start: number): void {
    statement.parts.push(this.#text.slice(statement.partStart, start));
    statement.partStart = start + 1;
    const isEnd = this.#text[start + 1] === ';' && this.#parentheses === 0 && this.#bodies === 0;
    if (!isEnd) return;
    statement.copies += Number(isCopyFromStdin(this.#words));
    this.#words = [];
  }

  /** Counts how deep the body of a routine is nested. */
  #addWord(start: number, end: number): void {
    if (this.#parentheses > 0) return;
    // A longer word can't be one that is looked for.
    const word = end - start > 'procedure'.length ? '' : this.#text.slice(start, end).toLowerCase();
    if (this.#words.length < MAX_WORDS) this.#words.push(word);
    if (!hasBody(this.#words)) return;
    if (word === 'begin' || (word === 'case' && this.#bodies > 0)) this.#bodies += 1;
    else if (word === 'end') this.#bodies = Math.max(this.#bodies - 1, 0);
  }

  /** Returns the statement that ends here; undefined if there is nothing but comments. */
  #end(end: number): ScriptStatement | undefined {
    const [statement, words] = [this.#statement, this.#words];
    this.#reset();
    if (statement?.hasTokens !== true) return undefined;
    const { parts, start, partStart } = statement;
    const text = [...parts, this.#text.slice(partStart, end)].join('');
    const copies = statement.copies + Number(isCopyFromStdin(words));
    return { kind: 'statement', text, start, end, copies };
  }

  #reset(): void {
    this.#statement = undefined;
    this.#parentheses = 0;
    this.#bodies = 0;
    this.#words = [];
  }

  #readCommand(start: number): ScriptCommand {
    const end = this.#endOfCommand(start);
    const text = this.#text.slice(start, end).replace(/\\\\$/, '').trim();
    this.#lexer.position = end;
    if (SENDING.test(text)) this.#sent = this.#end(start);
    else if (DROPPING.test(text)) this.#reset();
    else if (this.#statement !== undefined) {
      // psql joins what is before and after a command at the beginning of a line.
      this.#statement.parts.push(this.#text.slice(this.#statement.partStart, start).replace(/\n+$/, ''));
      this.#statement.partStart = end;
    }
    return { kind: 'command', text, start, copies: countCopiesFromStdin(text) };
  }

  #endOfCommand(start: number): number {
    // The end of the line is looked for only if the command continues until there, because a line may have many commands.
    if (WHOLE_LINE.test(this.#text.slice(start, start + 30))) return this.#endOfLine(start);
    ARGUMENTS.lastIndex = start + 1;
    const [found = ''] = ARGUMENTS.exec(this.#text) ?? [];
    const end = start + 1 + found.length;
    // After quotes without an end, psql skips the line.
    return !found.endsWith('\\\\') && /['"`]/.test(this.#text.charAt(end)) ? this.#endOfLine(end) : end;
  }

  /**
   * Returns the lines after a `COPY … FROM STDIN`, up to `\.`.
   * @throws {ScriptError} if something follows in the line of the statement
   */
  copyData(): string {
    const { position } = this.#lexer;
    const end = this.#startOfData();
    if (!/^\s*(?:--.*)?$/.test(this.#text.slice(position, end)))
      throw new ScriptError(this.lineAt(position), 'Put what follows this COPY in a line after its data');
    return this.#copyLines(end);
  }

  /** Skips the data of a COPY without checking what follows the statement in its line. */
  skipCopyData(): void {
    this.#copyLines(this.#startOfData());
  }

  /** Returns the end of the line before the data. A statement can have several blocks of data, one after the other. */
  #startOfData(): number {
    const { position } = this.#lexer;
    return position === this.#endOfData ? position - 1 : this.#endOfLine(position);
  }

  /** @param start the end of the line before the data */
  #copyLines(start: number): string {
    for (let end = start; ; end += 1) {
      end = this.#text.indexOf('\n\\.', end);
      if (end === -1) {
        this.#lexer.position = this.#text.length;
        return this.#text.slice(start + 1);
      }
      const last = /\n\\\.\r?\n/y;
      last.lastIndex = end;
      if (!last.test(this.#text)) continue;
      this.#lexer.position = last.lastIndex;
      this.#endOfData = last.lastIndex;
      return this.#text.slice(start + 1, end + 1);
    }
  }

  /** Returns the number of the line, from 1. */
  lineAt(position: number): number {
    let line = 1;
    for (let at = this.#text.indexOf('\n'); at !== -1 && at < position; at = this.#text.indexOf('\n', at + 1))
      line += 1;
    return line;
  }

  #endOfLine(position: number): number {
    const end = this.#text.indexOf('\n', position);
    return end === -1 ? this.#text.length : end;
  }
}

function countCopiesFromStdin(command: string): number {
  const copy = /^\\copy\s/.test(command) ? new SqlScript(command.slice(1)).next() : undefined;
  return copy?.copies ?? 0;
}

/** Whether the words begin a statement whose body can have semicolons, between `begin atomic` and `end`. */
function hasBody([first, ...words]: readonly string[]): boolean {
  const isReplaced = words[0] === 'or' && words[1] === 'replace';
  const kind = words[isReplaced ? 2 : 0];
  return first === 'create' && (kind === 'function' || kind === 'procedure');
}

/**
 * The most words of a statement that are kept. psql looks for no more, because a table has at most three names after `COPY BINARY`.
 */
const MAX_WORDS = 8;

function isCopyFromStdin(words: readonly string[]): boolean {
  const from = words.indexOf('from', 1);
  // In COPY FROM, Postgres takes STDOUT for STDIN.
  return words[0] === 'copy' && from !== -1 && /^std(?:in|out)$/.test(words[from + 1] ?? '');
}
