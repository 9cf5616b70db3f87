/**
 * Runs one SQL statement for an agent. A statement that may not write runs in a read-only transaction that is never committed. The
 * statement can't end that transaction, because only one statement is accepted, and only one that returns rows. `COMMIT`, `SET
 * TRANSACTION` and the like return none. What else a statement can do depends on the rights of the login: see decision 85.
 */
import type Client from 'pg/lib/client.js';
import { AGENT_APPLICATION } from '../../api/rules/sessions.ts';
import type { BranchLogin } from '../connection/sqlSession.ts';
import { USE_CATALOG_SEARCH_PATH, useUsersSearchPath, withSession } from '../connection/sqlSession.ts';
import { EFFECTS_QUERY, effectSentences } from '../database/rehearsals/statementEffects.ts';
import { runStatement, type SqlRequest, type StatementResult } from '../database/sql/sqlStatement.ts';

interface SqlResult extends Omit<StatementResult, 'fields' | 'after'> {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Tells the agent what the rows lack, or what the statement has done to others and to the data. */
  readonly note?: string;
}

const READ_SECONDS = 15;
const WRITE_SECONDS = 60;

/** @throws {Error} with a message for the model. @param signal cancels the statement */
export async function runSql(
  login: BranchLogin,
  request: SqlRequest,
  signal: AbortSignal,
): Promise<SqlResult> {
  // NUL would end the text in the protocol.
  if (request.sql.includes('\0')) throw new Error('The statement contains a NUL character.');
  const options = {
    application: AGENT_APPLICATION,
    begin: request.write ? undefined : 'BEGIN READ ONLY',
    timeoutSeconds: request.write ? WRITE_SECONDS : READ_SECONDS,
  };
  return await withSession(login, options, signal, async (client) => {
    await useUsersSearchPath(client, login);
    const { fields, after, ...result } = await runStatement(client, {
      ...request,
      after: request.write ? EFFECTS_QUERY : undefined,
    });
    const effects = effectSentences(after ?? []);
    const described = await describeResult(client, fields);
    const columns = fields.map(({ name }, index) => ({ name, type: described[index]?.[0] ?? '' }));
    const isPartial = login.readsFor !== undefined && described[0]?.[1] === true;
    const note = isPartial ? STANDARD_LACKS : effects.join(' ');
    return { ...result, columns, ...(note !== '' && { note }) };
  });
}

const STANDARD_LACKS =
  'information_schema shows constraints, triggers, defaults and definitions only to roles that may change them, and this role only reads. pg_catalog has them all, such as pg_constraint with pg_get_constraintdef, pg_attrdef, pg_trigger and pg_get_viewdef.';

/**
 * Reads the names of types, and whether a statement has read from `information_schema`. Postgres keeps the locks of all that the
 * statement has read until the transaction ends, also of views in views.
 */
const DESCRIBE = `
  SELECT format_type(id, modifier), EXISTS (SELECT FROM pg_locks JOIN pg_class ON oid = relation
    WHERE pid = pg_backend_pid() AND relnamespace = 'information_schema'::regnamespace)
  FROM ROWS FROM (unnest($1::oid[]), unnest($2::int4[])) AS t (id, modifier)`;

/** Returns for each column its type, and whether the statement has read from `information_schema`. */
async function describeResult(
  client: Client,
  fields: StatementResult['fields'],
): Promise<readonly [type: string, isStandard: boolean][]> {
  if (fields.length === 0) return [];
  const values = [
    fields.map(({ dataTypeID }) => dataTypeID),
    fields.map(({ dataTypeModifier }) => dataTypeModifier),
  ];
  await client.query(USE_CATALOG_SEARCH_PATH);
  return (await client.query<[string, boolean]>({ text: DESCRIBE, values, rowMode: 'array' })).rows;
}
