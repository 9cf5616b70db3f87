/** The public serverless driver at a compute's own address, configured by the text that *Copy As…* writes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { Client, neon, neonConfig, Pool } from '@neondatabase/serverless';
import { drizzle } from 'drizzle-orm/neon-http';
import { migrate } from 'drizzle-orm/neon-http/migrator';
import type { MigrationConfig } from 'drizzle-orm/migrator';
import { migrate as migrateOnSocket } from 'drizzle-orm/neon-serverless/migrator';
import { drizzle as drizzleOnSocket } from 'drizzle-orm/neon-serverless';
import { sql as drizzleSql } from 'drizzle-orm';
import type { ComputeSpec } from '../../../../../src/service/core/computeEngine.ts';
import { readOptions } from '../../../../../src/service/options.ts';
import { formatConnection } from '../../../../../src/extension/connection/connectionFormats.ts';
import { findPooler } from '../../../../../src/service/postgres/server/programs.ts';
import { eventually, query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';

const reason = findPooler() === undefined ? ' (skipped: needs PgBouncer 1.21)' : '';

it('--allow-origin takes origins only', () => {
  const read = (...args: string[]) => readOptions(args, {})?.allowedOrigins;
  assert.deepEqual(read(), []);
  const both = ['http://localhost:3000', 'https://example.com'];
  assert.deepEqual(read(...both.map((origin) => `--allow-origin=${origin}`)), both);
  for (const wrong of ['*', 'null', '', 'example.com', 'http://localhost:3000/', 'file:///x'])
    assert.throws(() => read(`--allow-origin=${wrong}`), /must be an origin/);
});

describe('the serverless driver', () => {
  let service: ControlPlane;
  let compute: ComputeSpec;
  let withPooler: ComputeSpec;
  before(async () => {
    service = await startControlPlane();
    compute = await service.create();
    withPooler = await service.create({ branchId: 'br-pooled', poolerEnabled: true });
    const host = `127.0.0.1:${compute.address.port}`;
    const parts = {
      host,
      role: 'x',
      database: 'x',
      password: 'x',
      hosts: { direct: host, pooled: undefined },
    };
    runInNewContext(formatConnection('serverless', parts), { neon, neonConfig });
  });

  const wrong = (uri: string) => uri.replace(/:[^:@/]*@/, ':wrong@');
  const post = async (headers: Record<string, string>, body: string | Buffer, method = 'POST') => {
    const uri = await service.uri(compute);
    return fetch(`http://127.0.0.1:${compute.address.port}/sql`, {
      method,
      headers: { 'neon-connection-string': uri, ...headers },
      ...(method === 'POST' && { body }),
    });
  };

  it('runs queries of a pool by HTTP, although the driver forgets the port', async () => {
    neonConfig.poolQueryViaFetch = true;
    const answer = await new Pool({ connectionString: await service.uri(compute) }).query('select 1 as one');
    neonConfig.poolQueryViaFetch = false;
    assert.deepEqual(answer.rows, [{ one: 1 }]);
  });

  for (const [name, pooled] of [
    ['the direct address', false],
    [`the pooled address with PgBouncer${reason}`, true],
  ] as const) {
    const hasPooler = name.includes('PgBouncer');
    describe(`at ${name}`, () => {
      let id: string;
      let uri: string;
      before(async function () {
        if (hasPooler && reason !== '') return this.skip();
        const used = hasPooler ? withPooler : compute;
        id = used.id;
        uri = await service.uri(used, pooled);
      });
      const idle = async () => eventually(() => (service.open.get(id) ?? 0) === 0);

      it('wakes the compute by HTTP, and lets it be suspended afterwards', async () => {
        await service.engine.suspend(id);
        service.woken.length = 0;
        assert.deepEqual(await neon(uri)`select ${2}::int + 1 as three`, [{ three: 3 }]);
        assert.deepEqual(service.woken, [id]);
        await idle();
      });

      it('wakes the compute by a WebSocket', async () => {
        await service.engine.suspend(id);
        service.woken.length = 0;
        const pool = new Pool({ connectionString: uri });
        pool.on('error', () => {});
        assert.deepEqual((await pool.query('select $1::text as a', ['x'])).rows, [{ a: 'x' }]);
        assert.deepEqual(service.woken, [id]);
        await pool.end();
        await idle();
      });

      it('converts types, arrays, objects and nulls', async () => {
        const [row] = await neon(uri)`select ${true}::bool b, ${'9007199254740993'}::int8 i, ${null}::text n,
          ${{ a: [1] }}::jsonb j, ${['x"y', 'ä,']}::text[] t, 1.5::float8 f`;
        assert.deepEqual(row, {
          b: true,
          i: '9007199254740993',
          n: null,
          j: { a: [1] },
          t: ['x"y', 'ä,'],
          f: 1.5,
        });
      });

      it('returns full results, also of statements without rows', async () => {
        const sql = neon(uri, { fullResults: true, arrayMode: true });
        const { rows, fields, command, rowCount, rowAsArray } = await sql`select 1 as one`;
        assert.deepEqual(
          [rows, fields[0]?.name, command, rowCount, rowAsArray],
          [[[1]], 'one', 'SELECT', 1, true],
        );
        const created = await sql`create temporary table t (a int)`;
        assert.deepEqual([created.command, created.rowCount], ['CREATE', null]);
      });

      it('reports the fields of an error', async () => {
        await assert.rejects(neon(uri)`select * from missing`, {
          code: '42P01',
          severity: 'ERROR',
          position: '15',
        });
        await assert.rejects(neon(uri).query('select 1; select 2'), { code: '42601' });
      });

      it('rejects a wrong password', async () => {
        await assert.rejects(neon(wrong(uri))`select 1`, { code: '28P01', message: /for user 'app_owner'/ });
        const client = new Client(wrong(uri));
        client.on('error', () => {});
        // The driver sends the first query before it has read the answer to the login.
        await assert.rejects(client.connect().then(async () => client.query('select 1')));
      });

      it('runs a batch in one transaction, with its isolation', async () => {
        const sql = neon(uri);
        const options = { isolationLevel: 'Serializable', readOnly: true } as const;
        const settings = () => [sql`show transaction_isolation`, sql`show transaction_read_only`];
        assert.deepEqual(await sql.transaction(settings(), options), [
          [{ transaction_isolation: 'serializable' }],
          [{ transaction_read_only: 'on' }],
        ]);
        await sql`create table if not exists batch (id int primary key)`;
        await assert.rejects(
          sql.transaction([sql`insert into batch values (1)`, sql`insert into batch values (1)`]),
          { code: '23505' },
        );
        assert.deepEqual(await sql`select * from batch`, []);
      });

      it('runs transactions and several queries on one WebSocket', async () => {
        const client = new Client(uri);
        await client.connect();
        await client.query('begin');
        await client.query('create table rolled_back (id int)');
        await client.query('rollback');
        assert.deepEqual((await client.query("select to_regclass('rolled_back') r")).rows, [{ r: null }]);
        assert.equal((await client.query("select repeat('x', 3000000) x")).rows[0]?.x.length, 3_000_000);
        await client.end();
      });

      it('serves drizzle by HTTP and by a WebSocket', async () => {
        const http = drizzle(neon(uri));
        assert.deepEqual((await http.execute(drizzleSql`select ${5}::int as five`)).rows, [{ five: 5 }]);
        const pool = new Pool({ connectionString: uri });
        pool.on('error', () => {});
        const done = await drizzleOnSocket(pool).transaction(async (tx) =>
          tx.execute(drizzleSql`select 6 as six`),
        );
        assert.deepEqual(done.rows, [{ six: 6 }]);
        await pool.end();
      });

      it('ends the statement of a client that has gone, by HTTP and by a WebSocket', async () => {
        const running =
          "select count(*)::int from pg_stat_activity where query = 'select pg_sleep(600)' and state = 'active'";
        const isRunning = (count: number) => eventually(async () => (await query(uri, running))[0] === count);
        const gone = new AbortController();
        const sql = neon(uri, { fetchOptions: { signal: gone.signal } });
        const asked = assert.rejects(sql`select pg_sleep(600)`);
        await isRunning(1);
        gone.abort();
        await asked;
        await isRunning(0);
        const client = new Client(uri);
        client.on('error', () => {});
        await client.connect();
        const lost = assert.rejects(client.query('select pg_sleep(600)'));
        await isRunning(1);
        client.connection.stream.destroy();
        await isRunning(0);
        await lost;
      });
    });
  }

  it('runs drizzle migrations by HTTP and by a WebSocket, once each', async () => {
    const uri = await service.uri(compute);
    const pool = new Pool({ connectionString: uri });
    pool.on('error', () => {});
    for (const [name, run] of [
      ['by_http', async (config: MigrationConfig) => migrate(drizzle(neon(uri)), config)],
      ['by_socket', async (config: MigrationConfig) => migrateOnSocket(drizzleOnSocket(pool), config)],
    ] as const) {
      const migrationsFolder = migrations(name);
      for (const _time of [1, 2]) await run({ migrationsFolder, migrationsSchema: name });
      assert.deepEqual(await query(uri, `select id from ${name}`), [7]);
    }
    await pool.end();
  });

  it('works with SCRAM on the WebSocket, without pipelining', async () => {
    const client = new Client(await service.uri(compute));
    client.neonConfig.pipelineConnect = false;
    await client.connect();
    assert.deepEqual((await client.query('select 1 as one')).rows, [{ one: 1 }]);
    await client.end();
  });

  it('takes a query of 5 MB together with the login', async () => {
    const client = new Client(await service.uri(compute));
    await client.connect();
    const { rows } = await client.query('select length($1) as length', ['x'.repeat(5_000_000)]);
    assert.deepEqual(rows, [{ length: 5_000_000 }]);
    await client.end();
  });

  it('limits requests and replies', async () => {
    assert.equal((await post({}, JSON.stringify({ query: 'x'.repeat(11 * 1024 * 1024) }))).status, 413);
    assert.equal((await post({}, JSON.stringify({ query: "select repeat('x', 11000000)" }))).status, 507);
    assert.deepEqual(await query(await service.uri(compute), 'select 1'), [1]);
  });

  it('rejects requests that are not valid', async () => {
    const reply = await post({}, Buffer.from([0x22, 0xff, 0x22]));
    assert.deepEqual([reply.status, await reply.json()], [400, { message: 'The body is not valid UTF-8.' }]);
    const withNul = await post({}, String.raw`{"query":"select 1 \u0000"}`);
    assert.match(`${withNul.status} ${await withNul.text()}`, /^400 .*invalid message format/);
  });

  it('returns JSON to clients that ask for no text, with all digits and levels', async () => {
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    const query = `select 'NaN'::float8 f, array[1,null] a, 3::int8 i, 4 x, true x, $1::jsonb j, '${deep}'::json d`;
    const reply = await post({}, `{"query":"${query}","params":[{"a":12345678901234567890}]}`);
    const rows = `[{"f":"NaN","a":[1,null],"i":"3","x":true,"j":{"a": 12345678901234567890},"d":${deep}}]`;
    assert.ok((await reply.text()).endsWith(`"rows":${rows}}`));
  });

  it('refuses web pages, by HTTP and by a WebSocket', async () => {
    for (const method of ['POST', 'OPTIONS'])
      assert.equal(
        (await post({ origin: 'https://example.com' }, '{"query":"select 1"}', method)).status,
        403,
      );
    assert.equal((await post({}, '', 'OPTIONS')).status, 200);
    const socket = net.connect(compute.address.port, '127.0.0.1');
    const key =
      'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==';
    socket.write(`GET /v2 HTTP/1.1\r\nhost: x\r\norigin: https://example.com\r\n${key}\r\n\r\n`);
    assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 403/);
    socket.destroy();
  });

  it('reads a large request only if the password is right', async () => {
    const address = await service.uri(compute);
    const sockets = Array.from({ length: 30 }, () => net.connect(compute.address.port, '127.0.0.1'));
    const head = `POST /sql HTTP/1.1\r\nhost: x\r\nneon-connection-string: ${wrong(address)}\r\n`;
    for (const socket of sockets) socket.write(`${head}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`);
    const answers = await Promise.all(sockets.map(async (socket) => once(socket, 'data')));
    for (const [answer] of answers) assert.match(String(answer), /^HTTP\/1\.1 400.*password authentication/s);
    for (const socket of sockets) socket.destroy();
    const [row] = await neon(address)`select length(${'x'.repeat(100_000)}) as length`;
    assert.deepEqual(row, { length: 100_000 });
  });
});

/** Returns the folder of a migration that creates a table with one row. */
function migrations(name: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'drizzle-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(path.join(folder, 'meta'));
  const entries = [{ idx: 0, when: 1, tag: '0000_first', breakpoints: true }];
  writeFileSync(path.join(folder, 'meta', '_journal.json'), JSON.stringify({ entries }));
  const statements = [`create table ${name} (id int)`, `insert into ${name} values (7)`];
  writeFileSync(path.join(folder, '0000_first.sql'), statements.join('\n--> statement-breakpoint\n'));
  return folder;
}
