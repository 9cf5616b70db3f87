/** The statements of a SQL file, and the table that one is about. This is no parser: Postgres decides what they mean. */
import { SqlScript } from '../../base/sql/sqlScript.ts';
import type { RowSource } from './rowDocuments.ts';

interface FileStatement {
  /** Without the semicolon. */
  readonly text: string;
  readonly start: number;
  /** After the semicolon. */
  readonly end: number;
}

/** @throws {PsqlCommandError} for a command of psql that isn't alone in its line */
function statementsOf(sql: string): readonly FileStatement[] {
  const statements: FileStatement[] = [];
  const script = new SqlScript(sql.replace(/^\\[a-z!].*$/gim, (command) => ' '.repeat(command.length)));
  for (let next = script.next(); next !== undefined; next = script.next()) {
    const { start } = next;
    const end = start + next.text.length;
    statements.push({ text: sql.slice(start, end).replace(/;$/, ''), start, end });
  }
  return statements;
}

/** The SQL isn't exactly one statement that returns rows. */
export class NotOneQueryError extends Error {
  override readonly name = 'NotOneQueryError';
}

/** Without its semicolon. @throws {NotOneQueryError} @throws {PsqlCommandError} */
export function onlyStatement(sql: string): string {
  const [only, another] = statementsOf(sql);
  // NUL would end the text in the protocol.
  if (only === undefined || another !== undefined || sql.includes('\0')) throw new NotOneQueryError();
  return only.text;
}

/** The statement at a position, or else the one before it. @throws {PsqlCommandError} see `statementsOf` */
export function statementAt(sql: string, offset: number): FileStatement | undefined {
  const statements = statementsOf(sql);
  return (
    statements.find(({ start, end }) => start <= offset && offset <= end) ??
    statements.findLast(({ start }) => start <= offset) ??
    statements[0]
  );
}

const NAME = String.raw`(?:"(?:[^"]|"")+"|[a-z_\u0080-\uffff][\w$\u0080-\uffff]*)`;
const TABLE = new RegExp(
  String.raw`\b(?:TABLE|VIEW|INDEX\b[^(;]*?\bON|TRIGGER\b[^(;]*?\bON|POLICY\b[^(;]*?\bON|INTO)\s+(?:ONLY\s+)?(${NAME}(?:\.${NAME})?)`,
  'i',
);

/** The table or view that a statement of pg_dump is about, as it is quoted there. */
export const tableIn = (statement: string): string | undefined => TABLE.exec(statement)?.[1];

const ONLY_TABLE = new RegExp(String.raw`^${NAME}(?:\.${NAME})?$`, 'i');

/** @param text a table, quoted if needed, or one query */
export function rowSourceOf(text: string): RowSource {
  const table = ONLY_TABLE.exec(text.trim())?.[0];
  return table === undefined ? { sql: text, name: text } : tableSource(quoteNames(table));
}

/** Without quotes, `user` would be a function, and `order` an error. */
const quoteNames = (table: string): string =>
  table.replace(/"(?:[^"]|"")+"|[^".]+/g, (name) =>
    name.startsWith('"') ? name : quoteName(name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())),
  );

/** The name of a table for titles, without quotes and the schema `public`. */
const shortName = (table: string): string =>
  table
    .replace(/^(?:public|"public")\./, '')
    .replace(/"((?:[^"]|"")+)"/g, (_, name: string) => name.replaceAll('""', '"'));

/** @param table quoted if needed */
export const tableSource = (table: string): RowSource => ({
  table,
  sql: `SELECT * FROM ${table}`,
  name: shortName(table),
});

/** Postgres reads names without quotes in lower case. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
