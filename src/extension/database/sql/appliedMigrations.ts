/** Which migrations a database has, from the tables in which the programs that applied them note each with a row. */
import type Client from 'pg/lib/client.js';
import { ACTIVITY_APPLICATION } from '../../../api/rules/sessions.ts';
import {
  asNumber,
  MIGRATION_TABLES_QUERY,
  migrationTableKind,
  type MigrationTableKind,
  type TableWithColumns,
} from '../../../api/rules/migrationTables.ts';
import { withSession, type BranchLogin } from '../../connection/sqlSession.ts';

const DATABASE = `SELECT ${asNumber('oid')} AS id FROM pg_database WHERE datname = current_database()`;

const MAX_TABLES = 4;
const MAX_ROWS = 2000;

/** A migration that a table notes. */
export interface AppliedMigration {
  readonly name: string;
  /** The transaction that has written the row. */
  readonly transaction: number;
  /** Whether the migration was applied. If not, it has failed. */
  readonly isApplied: boolean;
}

/** The table of a migration tool, and the migrations that it notes. */
export interface AppliedMigrations {
  /** The ids of the database, of the table and of its file. */
  readonly table: readonly number[];
  /** Empty if a row of the table isn't one migration. */
  readonly rows: readonly AppliedMigration[];
  /** Whether each migration was noted before it was applied. */
  readonly areNotedFirst: boolean;
}

/**
 * Reads the migrations, which wakes the compute.
 * @returns undefined if there are too many tables or rows.
 * @throws {Error} from Postgres or the network
 */
export const readAppliedMigrations = async (
  login: BranchLogin,
  signal: AbortSignal,
): Promise<readonly AppliedMigrations[] | undefined> =>
  await withSession(login, READING, signal, async (client) => {
    const [database] = (await client.query<{ readonly id: number }>(DATABASE)).rows;
    const tables = (await client.query<TableWithColumns>(MIGRATION_TABLES_QUERY)).rows;
    const known = tables.flatMap((table) => {
      const kind = migrationTableKind(table);
      return kind === undefined ? [] : [{ ...table, kind }];
    });
    if (database === undefined || known.length > MAX_TABLES) return undefined;
    const found: AppliedMigrations[] = [];
    for (const { id, file, quoted, kind } of known) {
      const rows = await readRows(client, quoted, kind);
      if (rows === undefined) return undefined;
      found.push({ table: [database.id, id, file], rows, areNotedFirst: kind.isNotedFirst === true });
    }
    return found;
  });

async function readRows(
  client: Client,
  quoted: string,
  { migration, isMigration = 'true', isApplied = 'true' }: MigrationTableKind,
): Promise<readonly AppliedMigration[] | undefined> {
  if (migration === undefined) return [];
  const { rows } = await client.query<AppliedMigration>(`
    SELECT (${migration})::text AS name, ${asNumber('xmin::text')} AS transaction, ${isApplied} AS "isApplied"
    FROM ONLY ${quoted} WHERE ${isMigration} LIMIT ${MAX_ROWS + 1}`);
  return rows.length > MAX_ROWS ? undefined : rows;
}

const READING = {
  application: ACTIVITY_APPLICATION,
  begin: 'BEGIN READ ONLY',
  timeoutSeconds: 15,
};
