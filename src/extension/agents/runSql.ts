/**
 * Runs one SQL statement for an agent. A statement that may not write runs in a read-only transaction that is never committed.
 * The statement can't end the transaction: only one is accepted, and only one that returns rows. `COMMIT`, `SET TRANSACTION` and
 * the like return no rows. `SET ROLE pg_read_all_data` would add no protection, because a statement can reset the role. It would
 * also hide constraints, view definitions and rows with row-level security, and agents would conclude that there are none.
 */
import type Client from 'pg/lib/client.js';
import type { BranchLogin } from '../sql/sqlSession.ts';
import { requireReadOnly } from '../sql/readOnlyCheck.ts';
import { OWN_PATH, USERS_PATH, withSession } from '../sql/sqlSession.ts';
import { Statement, type SqlRequest, type StatementResult } from '../sql/sqlStatement.ts';

interface SqlResult extends Omit<StatementResult, 'fields'> {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

const READ_SECONDS = 15;
const WRITE_SECONDS = 60;

/** @throws {Error} with a message for the model. @param signal cancels the statement */
export async function runSql(
  login: BranchLogin,
  request: SqlRequest,
  signal: AbortSignal,
): Promise<SqlResult> {
  // It would end the text in the protocol.
  if (request.sql.includes('\0')) throw new Error('The statement contains a NUL character.');
  const options = {
    application: 'Hosted Postgres agent',
    begin: request.write ? undefined : 'BEGIN READ ONLY',
    timeoutSeconds: request.write ? WRITE_SECONDS : READ_SECONDS,
  };
  return await withSession(login, options, signal, async (client) => {
    if (!request.write) await requireReadOnly(client, request.sql);
    await client.query(USERS_PATH);
    const statement = new Statement(request);
    client.query(statement);
    const { fields, ...result } = await statement.result;
    const types = await typeNames(client, fields);
    return { ...result, columns: fields.map(({ name }, index) => ({ name, type: types[index] ?? '' })) };
  });
}

async function typeNames(client: Client, fields: StatementResult['fields']): Promise<string[]> {
  if (fields.length === 0) return [];
  const ids = fields.map(({ dataTypeID }) => dataTypeID);
  const modifiers = fields.map(({ dataTypeModifier }) => dataTypeModifier);
  await client.query(OWN_PATH);
  const { rows } = await client.query<[string]>({
    text: `SELECT pg_catalog.format_type(id, modifier)
      FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.oid[]), pg_catalog.unnest($2::pg_catalog.int4[])) AS t (id, modifier)`,
    values: [ids, modifiers],
    rowMode: 'array',
  });
  return rows.map(([name]) => name);
}
