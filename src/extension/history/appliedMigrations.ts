/** Which migrations a database has, from the table in which the program that applied them notes each with a row. */
import { OWN_APPLICATION } from '../../api/rules/sessions.ts';
import { withSession, type BranchLogin } from '../sql/sqlSession.ts';

/** Of Prisma. */
const PRISMA = '_prisma_migrations';

/**
 * By the name of a table with migrations: its column that says which migration a row is about. The tables are those of Prisma;
 * Knex; sqlx; Rails, dbmate and Supabase; node-pg-migrate; TypeORM; Drizzle. All but Prisma write the row in the transaction of
 * the migration, or after a migration that runs without a transaction.
 */
const TABLES: Readonly<Record<string, string>> = {
  [PRISMA]: 'migration_name',
  knex_migrations: 'name',
  _sqlx_migrations: 'version',
  schema_migrations: 'version',
  pgmigrations: 'name',
  migrations: 'timestamp',
  __drizzle_migrations: 'hash',
};

/** Prisma notes failed ones, too. */
const APPLIED: Readonly<Record<string, string>> = {
  [PRISMA]: 'finished_at IS NOT NULL AND rolled_back_at IS NULL',
};

const number = (id: string) => `${id}::int8::float8`;

const FIND = `
  SELECT t.relname AS name, t.oid::regclass::text AS quoted, ${number('t.oid')} AS id,
    ${number('pg_relation_filenode(t.oid)')} AS file, ${number('d.oid')} AS database
  FROM pg_class t
  JOIN pg_attribute a ON a.attrelid = t.oid
  JOIN pg_database d ON d.datname = current_database()
  WHERE t.relkind = 'r' AND (t.relname, a.attname) IN (${Object.entries(TABLES)
    .map(([table, column]) => `('${table}','${column}')`)
    .join()})`;

const MAX_ROWS = 2000;

export interface AppliedMigration {
  readonly name: string;
  /** The transaction that has written the row. */
  readonly transaction: number;
  /** Otherwise, it has failed. */
  readonly isApplied: boolean;
}

export interface AppliedMigrations {
  /** The ids of the database, of the table and of its file. */
  readonly table: readonly number[];
  readonly rows: readonly AppliedMigration[];
  /** Each was noted before it was applied. */
  readonly areNotedFirst: boolean;
}

interface FoundTable {
  readonly name: string;
  readonly quoted: string;
  readonly id: number;
  readonly file: number;
  readonly database: number;
}

/** Wakes the compute. @returns undefined if it isn't clear which table it is. @throws {Error} from Postgres or the network */
export const readApplied = async (
  login: BranchLogin,
  signal: AbortSignal,
): Promise<AppliedMigrations | undefined> =>
  await withSession(login, READING, signal, async (client) => {
    const [table, other] = (await client.query<FoundTable>(FIND)).rows;
    if (table === undefined || other !== undefined) return undefined;
    const { name, quoted, id, file, database } = table;
    const { rows } = await client.query<AppliedMigration>(`
      SELECT "${TABLES[name]}"::text AS name, ${number('xmin::text')} AS transaction, ${APPLIED[name] ?? true} AS "isApplied"
      FROM ONLY ${quoted} LIMIT ${MAX_ROWS + 1}`);
    return rows.length > MAX_ROWS
      ? undefined
      : { table: [database, id, file], rows, areNotedFirst: name === PRISMA };
  });

const READING = {
  application: OWN_APPLICATION,
  begin: 'BEGIN READ ONLY',
  timeoutSeconds: 15,
};
