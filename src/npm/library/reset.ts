/**
 * Takes a database back to the template database that it is a copy of. Tables that were written since then are emptied and filled
 * with the rows of the template, and sequences are set back, in one transaction. If that isn't enough or fails, such as after DDL,
 * the database is created again, which ends its connections.
 */
import type Client from 'pg/lib/client.js';
import { requireDatabaseUrl } from '../../api/addresses/databaseUrl.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { connectForReset, loadBeginning, withTemplateDatabase } from './beginning.ts';
import { copyDatabase, dropDatabase } from './copyDatabase.ts';
import {
  readCatalogContents,
  readRows,
  readDatabaseState,
  type CatalogContents,
  type TableContents,
  type ResettableTable,
} from './databaseState.ts';
import { tableReplacementStatements, sequenceResetStatements, rootsToEmpty } from './replacement.ts';
import { closeClient, queryOnOpenClient, type TestClient } from './testClient.ts';

/** The SQLSTATE if there is no database with that name. */
const MISSING = '3D000';

/** Does work with a connection to the database `postgres`. */
export type WithAdmin = <T>(work: (admin: Client) => Promise<T>) => Promise<T>;

/** Why the database must be created again. */
export interface ResetObstacle {
  /** The end of a sentence that begins "The database was created again, because". */
  readonly reason: string;
  /** Whether the reason is what a test has done, such as DDL, which always requires a new database. */
  readonly isOfTest: boolean;
}

/** Resets the database of a test to its template, by replacing changed rows or by creating it again. */
export class DatabaseReset {
  readonly #url: string;
  readonly #template: string;
  readonly #next: string;
  #beginning: Awaited<ReturnType<typeof loadBeginning>> | undefined;
  #client: TestClient | undefined;
  /** The contents of each table after its rows were replaced. */
  #replaced = new Map<string, TableContents>();

  /**
   * @param template the name of the template, to which no client is connected
   * @param next the name that a new copy of the template has until it replaces the database
   */
  constructor(url: string, template: string, next: string) {
    this.#url = url;
    this.#template = template;
    this.#next = next;
  }

  /** Resets the database. @returns why it was created again, if it was @throws {Error} if a transaction is open or a statement writes */
  async run(withAdmin: WithAdmin): Promise<ResetObstacle | undefined> {
    let client: TestClient | undefined;
    try {
      client = await this.#connected();
    } catch (error) {
      if (fieldsOf(error).code !== MISSING) throw error;
    }
    let obstacle: ResetObstacle | undefined;
    try {
      obstacle =
        client === undefined
          ? { reason: 'it was dropped', isOfTest: true }
          : await this.#replaceRows(client, withAdmin).catch(async (error: unknown) =>
              rollBackAfter(client, error),
            );
      if (obstacle === undefined) return undefined;
    } finally {
      // The process may end while the connection is idle.
      client?.unref();
    }
    await withAdmin(async (admin) => this.#createAgain(admin));
    return obstacle;
  }

  /** @throws {Error} if another connection has a transaction open or writes: what it has written could appear later */
  async #connected(): Promise<TestClient> {
    const { client, result } = await queryOnOpenClient(
      this.#client,
      async () => (this.#client = await connectForReset(this.#url)),
      (each) => each.query<{ text: string }>(OPEN_TRANSACTIONS),
    );
    if (result.rows.length === 0) return client;
    client.unref();
    const others = result.rows.map(({ text }) => `\n${text}`).join('');
    throw new Error(`A transaction is open. End it and await all statements before reset. Open:${others}`);
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) await closeClient(client).catch(() => undefined);
  }

  /** Replaces changed rows, and resets sequences. @returns why that isn't enough, if it isn't @throws {Error} of Postgres */
  async #replaceRows(client: TestClient, withAdmin: WithAdmin): Promise<ResetObstacle | undefined> {
    const beginning = (this.#beginning ??= await withAdmin(loadBeginning));
    if ('problem' in beginning)
      return { reason: `what it began with can't be read: ${beginning.problem}`, isOfTest: false };
    const { layout, state, rows } = beginning;
    const changes = changedCatalogs(beginning.catalogs, await readCatalogContents(client));
    if (changes.length > 0)
      return {
        reason: `its objects, settings or rights have changed (${changes.join(', ')})`,
        isOfTest: true,
      };
    const now = await readDatabaseState(client, layout);
    const changed = layout.tables.filter(({ name }, at) => {
      const [before, after] = [this.#replaced.get(name) ?? state.tables[at], now.tables[at]];
      return before?.rows !== after?.rows || (after?.newest ?? 0) > (before?.newest ?? 0);
    });
    const roots = rootsToEmpty(changed, layout.references);
    const tables = layout.tables.filter(({ root }) => roots.has(root));
    for (const { name, problem } of tables)
      if (problem !== null)
        return { reason: `the rows of ${name} can't be replaced: ${problem}`, isOfTest: false };
    const sequences = sequenceResetStatements(client, layout, state, now);
    if (roots.size === 0 && sequences.length === 0) return undefined;
    const unknown = tables.filter(({ name }) => !rows.has(name));
    if (unknown.length > 0) for (const [name, text] of await this.#rowsOf(unknown)) rows.set(name, text);
    const result: unknown = await client.query(
      [
        'begin;',
        ...tableReplacementStatements(client, roots, tables, rows),
        ...sequences,
        'select pg_current_xact_id()::text as number;',
        'commit',
      ].join('\n'),
    );
    const newest = numberInResults(result);
    for (const { name } of tables) {
      const count = state.tables[layout.tables.findIndex((each) => each.name === name)]?.rows ?? '';
      this.#replaced.set(name, { rows: count, newest });
    }
    return undefined;
  }

  async #rowsOf(tables: readonly ResettableTable[]): Promise<Map<string, string>> {
    return withTemplateDatabase(this.#url, this.#template, async (client) => readRows(client, tables));
  }

  async #createAgain(admin: Client): Promise<void> {
    await this.close();
    this.#replaced = new Map();
    const { database } = requireDatabaseUrl(this.#url);
    // If the template can't be copied, for example while a program is connected to it, the database stays as it is.
    await dropDatabase(admin, this.#next);
    await copyDatabase(admin, this.#template, this.#next);
    await dropDatabase(admin, database);
    await admin.query(`alter database ${this.#next} rename to ${admin.escapeIdentifier(database)}`);
  }
}

/** Returns the number in the result before the last one, which is that of `commit`. */
function numberInResults(results: unknown): number {
  const last = Array.isArray(results) ? results.at(-2) : undefined;
  const number = Number(last?.rows?.[0]?.number);
  if (!Number.isSafeInteger(number)) throw new Error('The reset has no transaction id');
  return number;
}

/** Returns the names of the catalogs whose contents have changed. */
const changedCatalogs = (before: CatalogContents, after: CatalogContents): string[] =>
  Object.keys(before).filter((name) => before[name] !== after[name]);

/** Returns the error as an obstacle. @throws {Error} if others use a table */
async function rollBackAfter(client: TestClient, error: unknown): Promise<ResetObstacle> {
  // If the connection has ended, so has its transaction.
  await client.query('rollback').catch(() => undefined);
  const { code, message } = fieldsOf(error);
  if (code !== LOCKED) return { reason: String(message), isOfTest: false };
  throw new Error('A statement is still running. Wait for all of them before reset.', { cause: error });
}

const LOCKED = '55P03';

/** Only a transaction that has written has a number. Autovacuum, which has no user, doesn't change what rows contain. */
const OPEN_TRANSACTIONS = {
  name: 'open',
  text: `select concat_ws(', ', nullif(application_name, ''), state, left(query, 200)) as text from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and (state ~ '^idle in transaction' or (backend_xid is not null and usesysid is not null))
    union all select 'prepared transaction ' || gid from pg_prepared_xacts where database = current_database()`,
};
