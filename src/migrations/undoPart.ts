/**
 * Finds signs that a file for no known tool also has the part that undoes its migration. Nothing says then where that part begins, so
 * such a file isn't run.
 */
import { readStatements } from '../base/sql/readStatements.ts';
import { SqlLexer } from '../base/sql/sqlLexer.ts';
import { identifierIn, isKeyword, tokensOf, type MeaningfulToken } from '../base/sql/sqlTokens.ts';
import { changesOf, type NamedObject } from './schemaChanges.ts';

/** @returns what is wrong with the file; undefined if nothing shows that it undoes itself */
export function findUndoPart(text: string): string | undefined {
  const seen = new SeenObjects();
  let comment: string | undefined;
  let end = 0;
  for (const next of readStatements(text)) {
    if (next.kind === 'command') continue;
    // Before the first statement, there is nothing to undo.
    if (end > 0) comment ??= commentsAt(text, end).find(saysUndo);
    const tokens = [...tokensOf(next.text)];
    if (comment !== undefined && takesBack(tokens))
      return `has the line "${comment.trim()}", so what follows may undo what is before it`;
    seen.add(tokens, next.end);
    ({ end } = next);
  }
  const [undone] = seen.undone();
  if (undone === undefined) return undefined;
  const line = text.slice(0, undone.end).split('\n').length;
  return `takes back in line ${line} what it has done itself (${undone.text}), so it may also have the part that undoes it`;
}

/** What tools call the part that undoes a migration. */
const UNDO = /\b(?:downs?|undo|rollback|revert)\b/i;

/** Whether a comment begins with such a word, or has one in at most three words, such as `-- //@UNDO`. */
function saysUndo(comment: string): boolean {
  const words = comment.match(/[a-z]+/gi) ?? [];
  return UNDO.test(words.length <= 3 ? comment : (words[0] ?? ''));
}

function commentsAt(text: string, position: number): string[] {
  const comments: string[] = [];
  const lexer = new SqlLexer(text, position);
  for (let token = lexer.next(); token !== undefined; token = lexer.next())
    if (token.kind === 'comment') comments.push(text.slice(token.start, token.end));
    else if (token.kind !== 'space') break;
  return comments;
}

/** Statements that only add something, or read. */
const ADDS = new Set([
  'analyze',
  'begin',
  'comment',
  'commit',
  'copy',
  'create',
  'grant',
  'insert',
  'select',
  'set',
]);

function takesBack(tokens: readonly MeaningfulToken[]): boolean {
  const [verb, ...rest] = tokens;
  const has = (word: string) => rest.some((token) => isKeyword(token, word));
  if (isKeyword(verb, 'alter')) return !has('add') || has('drop') || has('rename') || has('alter');
  return verb !== undefined && !ADDS.has(identifierIn(verb) ?? '');
}

const CHANGES_SCHEMA = ['create', 'alter', 'drop', 'comment', 'grant', 'revoke'];

interface UndoneObject extends NamedObject {
  /** The position after the statement that takes it back. */
  readonly end: number;
}

/** The objects of the statements so far. */
class SeenObjects {
  readonly #made = new Map<string, number>();
  readonly #undone = new Map<string, UndoneObject>();
  /** The last statement that uses a name, without those that change the schema. */
  readonly #used = new Map<string, number>();
  #count = 0;

  add(tokens: readonly MeaningfulToken[], end: number): void {
    this.#count += 1;
    for (const { object, isRemoved } of changesOf(tokens)) {
      const made = this.#made.get(object.key);
      if (!isRemoved) {
        this.#made.set(object.key, this.#count);
        this.#undone.delete(object.key);
      } else if (made !== undefined) {
        this.#made.delete(object.key);
        // A function that is called before it is dropped, or a constraint that is validated, was only for this migration.
        const isHelper = object.canBeHelper && (this.#used.get(object.name) ?? 0) > made;
        if (!isHelper) this.#undone.set(object.key, { ...object, end });
      }
    }
    if (!CHANGES_SCHEMA.some((verb) => isKeyword(tokens[0], verb)) || tokens.some(isUse))
      for (const token of tokens) this.#used.set(identifierIn(token) ?? '', this.#count);
  }

  /** Returns what doesn't exist at the end, although the file has made it. */
  undone(): readonly UndoneObject[] {
    return [...this.#undone.values()];
  }
}

const isUse = (token: MeaningfulToken): boolean => isKeyword(token, 'validate');
