/**
 * Finds the rows that the user means: those of a table in the Computes view, of the statement at the cursor of a SQL file, or of
 * the table at the cursor in the schema of a branch.
 */
import { window as editors } from 'vscode';
import { shortLine } from '../../../base/shortLine.ts';
import type { BranchRef } from '../../account/refs.ts';
import { parseSchemaUri } from '../schema/schemas.ts';
import { SCHEMA_SCHEME } from '../schema/schemaScheme.ts';
import type { CommandContext } from '../../commandSupport/context.ts';
import { asDatabaseRow } from '../../inventory/databaseNodes.ts';
import { asBranchNode } from '../../inventory/nodes.ts';
import { rowSourceOfTable } from './prepareDatabase.ts';
import type { RowSource } from '../rows/rowDocuments.ts';
import { statementAt, tableOfStatement, tableRowSource } from '../rows/statements.ts';

interface EditorSource {
  readonly source?: RowSource | undefined;
  readonly branch?: BranchRef | undefined;
  readonly database?: string | undefined;
}

/**
 * Returns what is known from the row of a database, table or branch, or else from the active editor.
 * @throws {Error} as `editorSource`
 */
export function findRowSource(
  { session, schemas }: Pick<CommandContext, 'session' | 'schemas'>,
  argument: unknown,
): EditorSource {
  const { accountId: account } = session.requireConnection();
  const row = asDatabaseRow(argument);
  if (row === undefined) return asBranchNode(argument) === undefined ? editorSource(schemas) : {};
  const { projectId, branchId } = row;
  const branch = { account, projectId, branchId };
  if (row.kind === 'databases') return { branch };
  return { branch, database: row.database, source: row.kind === 'table' ? rowSourceOfTable(row) : undefined };
}

/** @throws {Error} if the statement is a command of psql */
function editorSource(schemas: CommandContext['schemas']): EditorSource {
  const editor = editors.activeTextEditor;
  if (editor === undefined) return {};
  const { document, selection } = editor;
  const { uri, languageId } = document;
  const statement = () =>
    selection.isEmpty
      ? statementAt(document.getText(), document.offsetAt(selection.active))?.text
      : document.getText(selection);
  if (uri.scheme === SCHEMA_SCHEME) {
    const origin = parseSchemaUri({ path: schemas.currentPath(uri) });
    const table = tableOfStatement(statement() ?? '');
    return {
      source: table === undefined ? undefined : tableRowSource(table),
      branch: origin && { ...origin, account: uri.query },
      database: origin?.database,
    };
  }
  const sql = languageId === 'sql' ? statement() : undefined;
  return sql === undefined || sql.trim() === '' ? {} : { source: { sql, name: shortLine(sql, MAX_NAME) } };
}

/** The most characters of a query in a title. */
const MAX_NAME = 30;
