/**
 * Saves what a database contains in the beginning, which is the same as in the template that it is a copy of. The template is read
 * once, when it is complete, and the result is kept as a large object of another database. So resets rarely need a connection to the
 * template, which Postgres can't copy while there are connections.
 */
import type Client from 'pg/lib/client.js';
import { withDatabase } from '../../api/addresses/databaseUrl.ts';
import {
  readCatalogContents,
  readResettableLayout,
  readRows,
  readDatabaseState,
  type CatalogContents,
  type DatabaseState,
  type ResettableLayout,
} from './databaseState.ts';
import { closeClient, openClient, type TestClient } from './testClient.ts';

/** The state of a database when a test file begins, to which it is reset. */
interface Beginning {
  readonly layout: ResettableLayout;
  readonly catalogs: CatalogContents;
  readonly state: DatabaseState;
  /** The rows of each table as a text. Those of large tables are added when they are needed. */
  readonly rows: Map<string, string>;
}

/** The rows of larger tables are read only when they are needed. */
const MAX_ROWS_OF_SMALL_TABLE = 1000;
/** The id of the large object, in the database `postgres`, where any role can create one. */
const LARGE_OBJECT_ID = 16_000;

/** Stands for a beginning that isn't known. */
interface Unknown {
  /** The message of Postgres, for example that a table can't be read. */
  readonly problem: string;
}

/** Reads the template and saves its contents. @throws {Error} of Postgres, if they can't be saved */
export async function saveBeginning(admin: Client, url: string, template: string): Promise<void> {
  const read = withTemplateDatabase(url, template, async (client) => {
    const layout = await readResettableLayout(client);
    const catalogs = await readCatalogContents(client);
    const state = await readDatabaseState(client, layout);
    const small = layout.tables.filter(
      ({ problem }, at) => problem === null && Number(state.tables[at]?.rows) <= MAX_ROWS_OF_SMALL_TABLE,
    );
    return JSON.stringify({ layout, catalogs, state, rows: [...(await readRows(client, small))] });
  });
  const text = await read.catch(({ message: problem }: Error) => JSON.stringify({ problem }));
  await admin.query(`select lo_from_bytea($1, convert_to($2, 'UTF8'))`, [LARGE_OBJECT_ID, text]);
}

/** @param admin a connection to the database `postgres` */
export async function loadBeginning(admin: Client): Promise<Beginning | Unknown> {
  const query = `select convert_from(lo_get($1), 'UTF8') as text`;
  const { rows } = await admin.query<{ text: string }>(query, [LARGE_OBJECT_ID]);
  const saved = JSON.parse(String(rows[0]?.text));
  return 'problem' in saved ? saved : { ...saved, rows: new Map(saved.rows) };
}

/**
 * With these settings, the template and the database print and read values alike, and no object of users hides one of pg_catalog.
 * Timeouts are in milliseconds.
 */
const SESSION_OPTIONS = Object.entries({
  search_path: 'pg_catalog',
  datestyle: 'ISO,YMD',
  intervalstyle: 'postgres',
  extra_float_digits: 1,
  bytea_output: 'hex',
  lc_monetary: 'C',
  timezone: 'UTC',
  xmloption: 'content',
  row_security: 'off',
  default_transaction_read_only: 'off',
  default_transaction_isolation: 'read\\ committed',
  statement_timeout: 0,
  lock_timeout: 10_000,
})
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');

/** Opens a connection that reads and writes the texts of all values in the same way. */
export const connectForReset = async (url: string): Promise<TestClient> =>
  openClient(url, { options: SESSION_OPTIONS, application_name: 'reset' });

export async function withTemplateDatabase<T>(
  url: string,
  template: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await connectForReset(withDatabase(url, template));
  try {
    return await work(client);
  } finally {
    await closeClient(client);
  }
}
