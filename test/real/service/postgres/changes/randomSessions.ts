/** Sessions that change a branch at the same time, each with random transactions. */
import CopyQuery from 'pg/lib/query.js';
import type pg from 'pg';
import { connectTo } from '../clients.ts';
import type { RandomStatement, RandomStatements } from './randomStatements.ts';

/** What a session does in a round: its statements, one after the other, and in which database. */
interface Program {
  readonly statements: readonly RandomStatement[];
  readonly isElsewhere: boolean;
}

const SESSIONS = 3;
/** A session must not wait for a prepared transaction. */
const SETTINGS = `set lock_timeout = '150ms'; set statement_timeout = '10s'; set client_min_messages = error`;

export class RandomSessions {
  readonly #statements: RandomStatements;
  readonly #random: () => number;
  #prepared = 0;
  #clients: pg.Client[] = [];
  /** How many statements have succeeded and failed. */
  readonly counts = { done: 0, failed: 0 };

  constructor(statements: RandomStatements, random: () => number) {
    this.#statements = statements;
    this.#random = random;
  }

  /** Resolves when all sessions have ended their transactions, or are gone. @param uri the URI of the branch */
  async round(uri: string): Promise<void> {
    // The programs are the same for the same seed.
    const programs = Array.from({ length: SESSIONS }, () => this.#program());
    while (this.#clients.length < SESSIONS) this.#clients.push(await open(uri));
    await Promise.all(programs.map(async (program, index) => this.#run(uri, this.#clients[index], program)));
  }

  /** Drops the connections, which the server may have closed already. */
  async disconnect(): Promise<void> {
    const clients = this.#clients;
    this.#clients = [];
    await Promise.allSettled(clients.map((client) => client.end()));
  }

  #program(): Program {
    const { definition, alone } = this.#statements;
    const rows = () => this.#statements.rows();
    const async = { sql: `set synchronous_commit = ${this.#statements.pick(['on', 'off'])}` };
    const isElsewhere = this.#random() < 0.15;
    const transaction = (kinds: readonly (() => RandomStatement)[], end: string) => [
      { sql: 'begin' },
      ...this.#statements.body(kinds),
      { sql: end },
    ];
    const choice = this.#random();
    const end = this.#statements.pick(['commit', 'commit', 'rollback']);
    const statements =
      choice < 0.2
        ? [alone()]
        : choice < 0.35
          ? [rows(), definition()]
          : choice < 0.45
            ? transaction([rows], `prepare transaction 'x${(this.#prepared += 1)}'`)
            : choice < 0.6
              ? [{ sql: this.#finishPrepared() }]
              : transaction([definition, definition, rows], end);
    return { statements: [async, ...statements], isElsewhere };
  }

  #finishPrepared(): string {
    return `${this.#statements.pick(['commit', 'rollback'])} prepared 'x${this.#prepared}'`;
  }

  async #run(uri: string, own: pg.Client | undefined, { statements, isElsewhere }: Program): Promise<void> {
    const other = isElsewhere && own !== undefined ? await this.#elsewhere(uri, own) : undefined;
    const client = other ?? own;
    try {
      for (const { sql, data } of statements) await this.#send(client, sql, data);
      await client?.query('rollback').catch(() => undefined);
    } finally {
      await other?.end().catch(() => undefined);
    }
  }

  async #elsewhere(uri: string, client: pg.Client): Promise<pg.Client | undefined> {
    try {
      const { rows } = await client.query<{ name: string }>(
        `select datname as name from pg_database where datname ~ '^b' and datconnlimit <> -2 order by 1`,
      );
      const [first] = rows;
      return first && (await open(uri.replace(/\/\w+$/, `/${first.name}`)));
    } catch {
      return undefined; // It was dropped.
    }
  }

  async #send(client: pg.Client | undefined, sql: string, data: string | undefined): Promise<void> {
    if (client === undefined) return;
    try {
      await (data === undefined ? client.query(sql) : copy(client, sql, data));
      this.counts.done += 1;
    } catch {
      this.counts.failed += 1;
      // The savepoint lets the transaction continue after a failed statement.
      if (/^(begin|savepoint|set|commit|rollback)/.test(sql)) return;
      await client.query('rollback to s').catch(() => undefined);
    }
  }
}

async function open(uri: string): Promise<pg.Client> {
  const client = await connectTo(uri);
  await client.query(SETTINGS);
  return client;
}

async function copy(client: pg.Client, sql: string, data: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const query = new CopyQuery(sql, (error: unknown) => (error ? reject(error) : resolve(undefined)));
  query.handleCopyInResponse = (connection) => {
    connection.sendCopyFromChunk(Buffer.from(data));
    connection.endCopyFrom();
  };
  client.query(query);
  return promise;
}
