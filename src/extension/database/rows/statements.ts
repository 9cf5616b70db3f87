/** The statements of a SQL file, and the table that one is about. This is no parser: Postgres decides what they mean. */
import { readStatements } from '../../../base/sql/readStatements.ts';
import { PsqlCommandError } from '../../../base/sql/sqlScript.ts';
import { isKeyword, identifierIn, tokensOf, type MeaningfulToken } from '../../../base/sql/sqlTokens.ts';
import type { RowSource } from './rowDocuments.ts';
import { quoteName } from '../../../base/sql/quote.ts';

interface FileStatement {
  /** The text without the semicolon. */
  readonly text: string;
  readonly start: number;
  /** The offset after the semicolon. */
  readonly end: number;
}

function* splitStatements(sql: string): Generator<FileStatement> {
  for (const next of readStatements(sql))
    if (next.kind === 'statement') yield { ...next, text: next.text.replace(/;$/, '') };
}

/** Thrown if the SQL isn't exactly one statement that returns rows. */
export class NotOneQueryError extends Error {
  override readonly name = 'NotOneQueryError';
}

/** Returns the only statement of a text, without its semicolon. @throws {NotOneQueryError} @throws {PsqlCommandError} */
export function requireOnlyStatement(sql: string): string {
  for (const { kind, text } of readStatements(sql))
    if (kind === 'command') throw new PsqlCommandError(1, text);
  const [only, another] = splitStatements(sql);
  // NUL would end the text in the protocol.
  if (only === undefined || another !== undefined || sql.includes('\0')) throw new NotOneQueryError();
  // psql passes on a semicolon after a backslash.
  if ([...splitStatements(only.text)].length > 1) throw new NotOneQueryError();
  return only.text;
}

/** Returns the statement at a position, or else the one before it, or else the first. Commands of psql are skipped. */
export function statementAt(sql: string, offset: number): FileStatement | undefined {
  const statements = [...splitStatements(sql)];
  return (
    statements.find(({ start, end }) => start <= offset && offset <= end) ??
    statements.findLast(({ start }) => start <= offset) ??
    statements[0]
  );
}

/** The words before the name of a table, and those that name one after ON. */
const BEFORE_TABLE = ['table', 'view', 'into'];
const BEFORE_ON = ['index', 'trigger', 'policy'];

/** Returns the table or view that a statement of pg_dump is about, as it is quoted there. */
export function tableOfStatement(statement: string): string | undefined {
  const tokens = [...tokensOf(statement)];
  let isOnNext = false;
  for (const [index, token] of tokens.entries()) {
    if (BEFORE_ON.some((word) => isKeyword(token, word))) isOnNext = true;
    else if (token.text === '(') isOnNext = false;
    const isBefore =
      BEFORE_TABLE.some((word) => isKeyword(token, word)) || (isOnNext && isKeyword(token, 'on'));
    const start = isKeyword(tokens[index + 1], 'only') ? index + 2 : index + 1;
    if (isBefore && identifierIn(tokens[start]) !== undefined) return tableAt(tokens, start).join('');
  }
  return undefined;
}

/** Returns the texts of a name at this place, or of a schema, a dot and a name. */
function tableAt(tokens: readonly MeaningfulToken[], start: number): string[] {
  const isQualified = tokens[start + 1]?.text === '.' && identifierIn(tokens[start + 2]) !== undefined;
  return tokens.slice(start, start + (isQualified ? 3 : 1)).map(({ text }) => text);
}

/** @param text a table, quoted if needed, or one query */
export function parseRowSource(text: string): RowSource {
  const tokens = [...tokensOf(text, 4)];
  const table = identifierIn(tokens[0]) === undefined ? [] : tableAt(tokens, 0);
  if (table.length !== tokens.length || table.join('') !== text.trim()) return { sql: text, name: text };
  return tableRowSource(tokens.map((token) => quotedName(token)).join(''));
}

/** Returns a name in quotes. Without them, `user` would be a function, and `order` an error. */
function quotedName(token: MeaningfulToken): string {
  const name = identifierIn(token);
  return name === undefined ? token.text : quoteName(name);
}

/** Returns the name of a table for titles, without quotes and the schema `public`. */
const shortName = (table: string): string =>
  table
    .replace(/^(?:public|"public")\./, '')
    .replace(/"((?:[^"]|"")+)"/g, (_, name: string) => name.replaceAll('""', '"'));

/** @param table quoted if needed */
export const tableRowSource = (table: string): RowSource => ({
  table,
  sql: `SELECT * FROM ${table}`,
  name: shortName(table),
});
