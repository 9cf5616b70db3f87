/** The statements that a rehearsal lists, by clients that send the messages of a statement in their own way. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type net from 'node:net';
import { once } from 'node:events';
import { promisify } from 'node:util';
import pg from 'pg';
import postgres from 'postgres';
import type { RehearsedStatement } from '../../../../../src/api/records/rehearsal.ts';
import { connectTo, eventually, runStatements } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';

/** What of `pg` sends single messages. */
interface Messages {
  parse(query: { text: string }): void;
  bind(): void;
  execute(): void;
  flush(): void;
  sync(): void;
  sendCopyFromChunk(data: Buffer): void;
  endCopyFrom(): void;
}

/** COPY with a Sync right after Execute, which Postgres ignores, and another one after the data, as libpq and tokio-postgres send it. */
class PreparedCopy extends pg.Query {
  /** Whether the server's request for the data comes before the Sync. */
  readonly #isAskedFirst: boolean;

  constructor(isAskedFirst: boolean) {
    super('');
    this.#isAskedFirst = isAskedFirst;
  }

  override submit = (connection: pg.Connection): void => {
    const messages = connection as unknown as Messages;
    messages.parse({ text: 'copy users from stdin' });
    messages.bind();
    messages.execute();
    if (this.#isAskedFirst) messages.flush();
    else messages.sync();
  };
  handleCopyInResponse(connection: Messages): void {
    if (this.#isAskedFirst) connection.sync();
    connection.sendCopyFromChunk(Buffer.from('1\tone\n2\ttwo\n'));
    connection.endCopyFrom();
    connection.sync();
  }
}

/** As a program, because the settings of the driver are those of its process, and other suites change them. */
const SERVERLESS = `
  const { Client, neonConfig } = require('@neondatabase/serverless');
  neonConfig.wsProxy = (host, port) => host + ':' + port + '/v2';
  neonConfig.useSecureWebSocket = false;
  const client = new Client(process.env.DATABASE_URL);
  client.connect()
    .then(async () => {
      console.log(JSON.stringify((await client.query('select 6 * 7 as answer')).rows));
      await client.end();
    })
    .catch((error) => { console.error(error); process.exitCode = 1; });`;

describe('The statements of a rehearsal', () => {
  let plane: ControlPlane;
  let url: string;

  before(async () => {
    plane = await startControlPlane();
    const compute = await plane.create();
    url = await plane.uri(compute);
    await runStatements(
      url,
      'create table users (id int primary key, name text)',
      'create table many as select generate_series(1, 300000) as id',
    );
    await plane.engine.startRehearsal(compute.branchId, compute.id);
  });
  after(() => plane.close());

  const listed = async (): Promise<readonly RehearsedStatement[]> =>
    (await plane.engine.rehearsal('br-main')).statements;

  describe('of a connection that ends within a transaction', () => {
    const begin = async (sent: string) => {
      const from = (await listed()).length;
      const client = await connectTo(url);
      await client.query(`begin; ${sent}`);
      const seen = async () => (await listed()).slice(from).map(({ isUncommitted = false }) => isUncommitted);
      return { client, seen };
    };

    it('are noted if they have written', async () => {
      const { client, seen } = await begin('create table lost (id int)');
      await client.end();
      assert.deepEqual(await seen(), [true]);
    });
    for (const end of ['destroy', 'resetAndDestroy'] as const)
      it(`are noted if the client is gone (${end})`, async () => {
        const { client, seen } = await begin('create table lost (id int)');
        (client.connection.stream as net.Socket)[end]();
        await eventually(async () => (await seen())[0] === true);
      });
    it('are not if they have only read', async () => {
      const { client, seen } = await begin('select * from users');
      await client.end();
      assert.deepEqual(await seen(), [false]);
    });
    it('are not if they are committed, also if the client does not wait for the reply', async () => {
      const { client, seen } = await begin('create table kept (id int)');
      const committed = client.query('commit');
      client.connection.end();
      await committed;
      assert.deepEqual(await seen(), [false, false]);
    });
  });

  for (const prepare of [true, false])
    it(`have one that fails before it is executed (prepare: ${prepare})`, async () => {
      const sql = postgres(url, { max: 1, prepare, fetch_types: false });
      const from = (await listed()).length;
      await sql.begin(async (inside) => {
        await inside`insert into users values (${prepare ? 10 : 11})`;
        await assert.rejects(inside.savepoint((nested) => nested`update users set nick = ${'x'}`));
      });
      await sql.end();
      const all = (await listed()).slice(from);
      const failed = all.filter(({ error }) => error !== undefined);
      assert.deepEqual(
        failed.map(({ text, error }) => [text, error?.code]),
        [['update users set nick = $1', '42703']],
      );
      assert.deepEqual(
        all.map(({ tags }) => tags.join()),
        ['BEGIN', 'INSERT 0 1', 'SAVEPOINT', '', 'ROLLBACK', 'COMMIT'],
      );
      assert.equal(new Set(all.map(({ transaction }) => transaction)).size, 1);
    });

  it('take as long as they do, also while the commit of another session is held', async () => {
    const slow = 'select pg_sleep(0.6)';
    const other = await connectTo(url);
    // Its changed rows are counted before the commit is let go.
    await other.query('begin; update many set id = 0 where id = 1; select pg_sleep(0.2)');
    const run = runStatements(url, slow);
    await eventually(async () => (await listed()).some(({ text }) => text === slow));
    await other.query('commit');
    await other.end();
    await run;
    const [seen] = (await listed()).filter(({ text }) => text === slow);
    assert((seen?.milliseconds ?? 0) >= 600, JSON.stringify(seen));
  });

  it('have those of the serverless driver on a WebSocket', async () => {
    const from = (await listed()).length;
    const env = { ...process.env, DATABASE_URL: url };
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', SERVERLESS], { env });
    assert.deepEqual(JSON.parse(stdout), [{ answer: 42 }]);
    assert.deepEqual(
      (await listed()).slice(from).map(({ text, tags }) => [text, ...tags]),
      [['select 6 * 7 as answer', 'SELECT 1']],
    );
  });

  for (const isAskedFirst of [false, true])
    it(`have each with its own result after the data of a COPY that was prepared (asked first: ${isAskedFirst})`, async () => {
      const client = await connectTo(url);
      await client.query('truncate users');
      const from = (await listed()).length;
      const copy = new PreparedCopy(isAskedFirst);
      const ended = once(copy, 'end');
      client.query(copy);
      await ended;
      await client.query('update users set name = $1', ['other']);
      await client.query('select $1::int', [1]);
      assert.deepEqual(
        (await listed()).slice(from).map(({ text, tags }) => [text, ...tags]),
        [
          ['copy users from stdin', 'COPY 2'],
          ['update users set name = $1', 'UPDATE 2'],
          ['select $1::int', 'SELECT 1'],
        ],
      );
    });

  it('may copy the database that their session is in, and continue there', async () => {
    const client = await connectTo(url);
    await client.query('select 1');
    const { rows } = await client.query<{ name: string }>('select current_database() as name');
    await client.query(`create database copied template "${rows[0]?.name}"`);
    const from = (await listed()).length;
    await client.query('begin; lock table users in share mode');
    await client.query('commit');
    await client.query('drop database copied');
    await client.end();
    const { statements, locks } = await plane.engine.rehearsal('br-main');
    assert.deepEqual(
      statements.slice(from).map(({ tags }) => tags.join()),
      ['BEGIN,LOCK TABLE', 'COMMIT', 'DROP DATABASE'],
    );
    assert.ok(locks.some(({ statement, mode }) => statement === from && mode === 'ShareLock'));
  });
});
