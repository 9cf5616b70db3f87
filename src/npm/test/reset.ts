/**
 * Takes a database back to the template database that it is a copy of. Tables that were written since are emptied and filled with the
 * rows of the template, and sequences are set back, in one transaction. If that isn't enough or fails, such as after DDL, the
 * database is created again, which ends its connections.
 */
import type Client from 'pg/lib/client.js';
import { requireDatabaseUrl } from '../../api/addresses/databaseUrl.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { connectForReset, loadBeginning, withTemplate, type Beginning } from './beginning.ts';
import { copyDatabase } from './copyDatabase.ts';
import { readRows, readState, type Contents, type Layout, type Table } from './databaseState.ts';
import { closeClient, type TestClient } from './testClient.ts';

/** The code if there is no database of that name. */
const MISSING = '3D000';

/** Does work with a connection to the database `postgres`. */
export type WithAdmin = <T>(work: (admin: Client) => Promise<T>) => Promise<T>;

export class Reset {
  readonly #url: string;
  readonly #template: string;
  readonly #next: string;
  #beginning: Beginning | undefined;
  #client: TestClient | undefined;
  /** By table, after its rows were replaced. */
  #replaced = new Map<string, Contents>();

  /**
   * @param template the name of the database that the database is a copy of, and that has no connections
   * @param next the name of a database that is created again, until it gets its name
   */
  constructor(url: string, template: string, next: string) {
    this.#url = url;
    this.#template = template;
    this.#next = next;
  }

  /** @returns whether the database was created again @throws {Error} if a transaction is open or a statement writes */
  async run(withAdmin: WithAdmin): Promise<boolean> {
    // Without it, the database is created again each time.
    this.#beginning ??= await withAdmin(loadBeginning).catch(() => undefined);
    let client: TestClient | undefined;
    try {
      client = await this.#connected();
    } catch (error) {
      if (fieldsOf(error).code !== MISSING) throw error;
    }
    try {
      if (await this.#replaceRows(client).catch(async (error: unknown) => giveUp(client, error)))
        return false;
    } finally {
      // The process may end while the connection is idle.
      client?.unref();
    }
    await withAdmin(async (admin) => this.#createAgain(admin));
    return true;
  }

  /** @throws {Error} if another connection has a transaction open or writes: what it has written could appear later */
  async #connected(): Promise<TestClient> {
    const known = this.#client;
    known?.ref();
    // A test may have ended all connections.
    const found = await known?.query<{ text: string }>(OPEN).catch(() => undefined);
    const client = found === undefined || known === undefined ? await connectForReset(this.#url) : known;
    this.#client = client;
    const { rows } = found ?? (await client.query<{ text: string }>(OPEN));
    if (rows.length === 0) return client;
    client.unref();
    const others = rows.map(({ text }) => `\n${text}`).join('');
    throw new Error(`A transaction is open. End it and await all statements before reset. Open:${others}`);
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) await closeClient(client).catch(() => undefined);
  }

  /** @returns false if that isn't enough */
  async #replaceRows(client: TestClient | undefined): Promise<boolean> {
    if (this.#beginning === undefined || client === undefined) return false;
    const { layout, state, rows } = this.#beginning;
    const now = await readState(client, layout);
    if (now.catalogs !== state.catalogs) return false;
    const changed = layout.tables.filter(({ name }, at) => {
      const [before, after] = [this.#replaced.get(name) ?? state.tables[at], now.tables[at]];
      return before?.rows !== after?.rows || (after?.newest ?? 0) > (before?.newest ?? 0);
    });
    const sequences = layout.sequences.flatMap((name, at) => {
      const [value = '', isCalled = ''] = state.sequences[at]?.split(' ') ?? [];
      return now.sequences[at] === state.sequences[at]
        ? []
        : [`setval(${client.escapeLiteral(name)}, ${value}, ${isCalled === 't'})`];
    });
    const tables = withReferencing(changed, layout);
    if (tables.some(({ problem }) => problem !== null)) return false;
    if (tables.length === 0 && sequences.length === 0) return true;
    const unknown = tables.filter(({ name }) => !rows.has(name));
    if (unknown.length > 0) for (const [name, text] of await this.#rowsOf(unknown)) rows.set(name, text);
    const result: unknown = await client.query(
      [
        'begin;',
        ...replacement(client, tables, rows),
        `select ${['pg_current_xact_id()::text as number', ...sequences].join(', ')};`,
        'commit',
      ].join('\n'),
    );
    const newest = numberIn(result);
    for (const { name } of tables) {
      const count = state.tables[layout.tables.findIndex((each) => each.name === name)]?.rows ?? '';
      this.#replaced.set(name, { rows: count, newest });
    }
    return true;
  }

  async #rowsOf(tables: readonly Table[]): Promise<Map<string, string>> {
    return withTemplate(this.#url, this.#template, async (client) => readRows(client, tables));
  }

  async #createAgain(admin: Client): Promise<void> {
    await this.close();
    this.#replaced = new Map();
    const { database } = requireDatabaseUrl(this.#url);
    const name = admin.escapeIdentifier(database);
    // If it can't be copied, such as while a program is connected to the template, the database stays as it is.
    await admin.query(`drop database if exists ${this.#next} with (force)`);
    await copyDatabase(admin, this.#template, this.#next);
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.query(`alter database ${this.#next} rename to ${name}`);
  }
}

/** The last of the results is that of `commit`. */
function numberIn(results: unknown): number {
  const last = Array.isArray(results) ? results.at(-2) : undefined;
  const number = Number(last?.rows?.[0]?.number);
  if (!Number.isSafeInteger(number)) throw new Error('no transaction');
  return number;
}

/** Adds all tables with foreign keys to them, because they must be emptied together, and all partitions of a table. */
function withReferencing(changed: readonly Table[], { tables, references }: Layout): readonly Table[] {
  const roots = new Set(changed.map(({ root }) => root));
  for (let size = -1; size !== roots.size;) {
    size = roots.size;
    for (const [from, to] of references) if (roots.has(to)) roots.add(from);
  }
  return tables.filter(({ root }) => roots.has(root));
}

/** One statement inserts all rows, so that foreign keys are checked when all are there. */
function replacement(client: Client, tables: readonly Table[], rows: ReadonlyMap<string, string>): string[] {
  if (tables.length === 0) return [];
  const roots = new Set(tables.map(({ root }) => root));
  const targets = [...roots].map((root) =>
    tables.some(({ name }) => name === root) ? `only ${root}` : root,
  );
  const triggered = new Set(
    tables.filter(({ hasTriggers }) => hasTriggers).flatMap(({ name, root }) => [name, root]),
  );
  const triggers = (what: string) =>
    [...triggered].map((name) => `alter table only ${name} ${what} trigger user;`);
  const inserts = tables.flatMap(({ name, columns }, index) => {
    const values = rows.get(name) ?? '';
    return values === ''
      ? []
      : [
          `i${index} as (insert into ${name} (${columns}) overriding system value
            select ${columns} from unnest(${client.escapeLiteral(values)}::${name}[]))`,
        ];
  });
  return [
    ...triggers('disable'),
    `truncate ${targets.join(', ')};`,
    ...(inserts.length === 0 ? [] : [`with ${inserts.join(',\n')} select;`]),
    'set constraints all immediate;',
    ...triggers('enable'),
  ];
}

/** @returns false, so that the database is created again @throws {Error} if others use a table */
async function giveUp(client: Client | undefined, error: unknown): Promise<boolean> {
  await client?.query('rollback').catch(() => undefined);
  if (fieldsOf(error).code !== LOCKED) return false;
  throw new Error('A statement is still running. Wait for all of them before reset.', { cause: error });
}

const LOCKED = '55P03';

/** Only a transaction that has written has a number. Autovacuum, which has no user, keeps what the rows contain. */
const OPEN = {
  name: 'open',
  text: `select concat_ws(', ', nullif(application_name, ''), state, left(query, 200)) as text from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and (state ~ '^idle in transaction' or (backend_xid is not null and usesysid is not null))
    union all select 'prepared transaction ' || gid from pg_prepared_xacts where database = current_database()`,
};
