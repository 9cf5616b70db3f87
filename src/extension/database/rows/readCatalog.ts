/** Reads from Postgres's catalog what a database has: its tables, views and functions, and the columns of a table. */
import type { Column, FunctionName, TableName } from '../../inventory/databaseNodes.ts';
import type { DatabaseObjects } from '../../inventory/databaseTreeRows.ts';
import type { BranchLogin } from '../../connection/sqlSession.ts';
import { withReadOnlySession } from './readRows.ts';

const MAX_OBJECTS = 5000;

/** A condition that excludes the schemas of Postgres itself. */
const USERS_SCHEMA = "nspname !~ '^pg_' AND nspname <> 'information_schema'";

const TABLES = `SELECT nspname AS schema, relname AS name, relkind IN ('v', 'm') AS "isView"
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = relnamespace
  WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND ${USERS_SCHEMA}
  ORDER BY nspname <> 'public', nspname, relname LIMIT ${MAX_OBJECTS}`;

/** Lists functions and procedures, without those of extensions: PostGIS alone has hundreds. */
const FUNCTIONS = `SELECT nspname AS schema, proname AS name,
    pg_catalog.pg_get_function_identity_arguments(p.oid) AS parameters,
    pg_catalog.pg_get_function_result(p.oid) AS result
  FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = pronamespace
  WHERE ${USERS_SCHEMA} AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend
    WHERE classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND objid = p.oid AND deptype = 'e')
  ORDER BY nspname <> 'public', nspname, proname, 3 LIMIT ${MAX_OBJECTS}`;

/** A constraint NOT NULL that is NOT VALID leaves the nulls that were there, although Postgres 18 sets attnotnull. */
const COLUMNS = `SELECT attname AS name, pg_catalog.format_type(atttypid, atttypmod) AS type,
    NOT attnotnull OR EXISTS (SELECT FROM pg_catalog.pg_constraint
      WHERE conrelid = attrelid AND contype = 'n' AND conkey = ARRAY[attnum] AND NOT convalidated) AS "isNullable",
    EXISTS (SELECT FROM pg_catalog.pg_index
      WHERE indrelid = attrelid AND indisprimary AND attnum = ANY (indkey)) AS "isKey"
  FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_class c ON c.oid = attrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = relnamespace
  WHERE nspname = $1 AND relname = $2 AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;

/** Returns the tables and views of a database, those of `public` first. @throws {SqlError} */
export const listTables = (login: BranchLogin, signal: AbortSignal): Promise<readonly TableName[]> =>
  withReadOnlySession(login, signal, async (client) => (await client.query<TableName>(TABLES)).rows);

/** @throws {SqlError} */
export const readObjects = (login: BranchLogin, signal: AbortSignal): Promise<DatabaseObjects> =>
  withReadOnlySession(login, signal, async (client) => ({
    tables: (await client.query<TableName>(TABLES)).rows,
    functions: (await client.query<FunctionName>(FUNCTIONS)).rows,
  }));

/** Returns the columns of a table; none if the table is gone. @throws {SqlError} */
export const readColumns = (
  login: BranchLogin,
  { schema, name }: TableName,
  signal: AbortSignal,
): Promise<readonly Column[]> =>
  withReadOnlySession(
    login,
    signal,
    async (client) => (await client.query<Column>(COLUMNS, [schema, name])).rows,
  );
