/** Finds the tokens of a statement that have a meaning, and reads the names in them. */
import { SqlLexer, type TokenKind } from './sqlLexer.ts';

export interface MeaningfulToken {
  readonly kind: Exclude<TokenKind, 'space' | 'comment'>;
  readonly text: string;
}

/** Returns the tokens of SQL without spaces and comments. @param limit how many at most */
export function* tokensOf(sql: string, limit = Number.POSITIVE_INFINITY): Generator<MeaningfulToken> {
  let left = limit;
  const lexer = new SqlLexer(sql);
  for (let token = lexer.next(); token !== undefined; token = lexer.next()) {
    const { kind, start, end } = token;
    if (kind === 'space' || kind === 'comment') continue;
    yield { kind, text: sql.slice(start, end) };
    left -= 1;
    if (left === 0) return;
  }
}

/** Returns the name as Postgres stores it. @returns undefined for another token, and for one with Unicode escapes */
export function identifierIn(token: MeaningfulToken | undefined): string | undefined {
  if (token?.kind === 'word') return foldName(token.text);
  return token?.kind === 'quotedName' && /^".+"$/s.test(token.text)
    ? token.text.slice(1, -1).replaceAll('""', '"')
    : undefined;
}

/** Folds a name as Postgres does. Only ASCII letters are folded. */
const foldName = (name: string): string => name.replace(/[A-Z]+/g, (part) => part.toLowerCase());

/** Whether the token is this keyword, in any case. */
export const isKeyword = (token: MeaningfulToken | undefined, word: string): boolean =>
  token?.kind === 'word' && foldName(token.text) === word;
