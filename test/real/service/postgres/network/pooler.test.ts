import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { limitConcurrency } from '../../../../../src/base/limitConcurrency.ts';
import type { ComputeSpec } from '../../../../../src/service/core/computeEngine.ts';
import { findPooler } from '../../../../../src/service/postgres/server/programs.ts';
import postgres from 'postgres';
import { storageOf } from '../../../../helpers/branchCalls.ts';
import { connectTo, eventually, query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';

const reason = findPooler() === undefined ? ' (skipped: needs PgBouncer 1.21)' : '';

/** The tests' process has a socket of each client, and the service, which may be in the same process, has two. */
const openFiles = Number(
  execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).replace('unlimited', '1000000'),
);
const CLIENTS = Math.min(10_000, Math.floor((openFiles - 500) / 3));

describe(`pooled connections${reason}`, () => {
  let service: ControlPlane;
  let compute: ComputeSpec;
  let uri: string;
  before(async function () {
    if (reason !== '') return this.skip();
    service = await startControlPlane();
    compute = await service.create({ poolerEnabled: true });
    uri = await service.uri(compute, true);
  });

  const direct = () => uri.replace(`:${compute.address.poolerPort}/`, `:${compute.address.port}/`);

  it('wake the compute like any other', async () => {
    assert.deepEqual(await query(uri, 'select 1'), [1]);
    assert.deepEqual(service.woken, [compute.id]);
  });

  it('share server connections, one transaction at a time', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, async () => connectTo(uri)));
    const backends = new Set<unknown>();
    for (const client of clients)
      backends.add((await client.query('select pg_backend_pid() as pid')).rows[0]?.pid);
    assert.ok(backends.size < clients.length);
    await Promise.all(clients.map(async (client) => client.end()));
  });

  it('accept roles and passwords that were created in SQL', async () => {
    await query(await service.uri(compute), "create role reader login password 'sesame'");
    const as = (password: string) => uri.replace(/\/\/.*@/, `//reader:${password}@`);
    assert.deepEqual(await query(as('sesame'), 'select current_user::text'), ['reader']);
    await assert.rejects(query(as('wrong'), 'select 1'), /authentication failed/);
    await assert.rejects(
      query(uri.replace(/\/\/.*@/, '//postgres:postgres@'), 'select 1'),
      /authentication failed/,
    );
  });

  it('do not reach the console of PgBouncer', async () => {
    const console = uri.replace(/\/\/.*@(.*)\/app/, '//pgbouncer:x@$1/pgbouncer');
    await assert.rejects(query(console, 'show pools'), /authentication failed/);
  });

  it('let the compute be suspended while they are idle, and wake it again', async () => {
    const client = await connectTo(uri);
    await client.query('select 1');
    await eventually(() => service.open.get(compute.id) === 0);
    await service.engine.suspend(compute.id);
    service.woken.length = 0;
    assert.equal((await client.query('select 2 as two')).rows[0]?.two, 2);
    assert.deepEqual(service.woken, [compute.id]);
  });

  it('stay open while the compute is resized', async () => {
    const client = await connectTo(uri);
    await client.query('select 1');
    compute = await service.change(compute, { minCu: 0.5, maxCu: 0.5 });
    assert.equal((await client.query('show max_connections')).rows[0]?.max_connections, '225');
    const many = await Promise.all(Array.from({ length: 150 }, async () => connectTo(uri)));
    const sleeping = many.map(async (each) => each.query('select pg_sleep(60)').catch(() => undefined));
    const count = "select count(*)::int from pg_stat_activity where query = 'select pg_sleep(60)'";
    // More than the smaller size allows.
    await eventually(async () => (await query(direct(), count))[0] === 150);
    await service.engine.suspend(compute.id);
    await Promise.all([...sleeping, ...[client, ...many].map(async (each) => each.end())]);
  });

  it(`serve ${CLIENTS} clients at once, each running a query`, async () => {
    const withLock = limitConcurrency(200);
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, async () => withLock(async () => connectTo(uri))),
    );
    const answers = await Promise.all(
      clients.map(async (client, n) => (await client.query('select $1::int as n', [n])).rows[0]?.n === n),
    );
    assert.equal(answers.filter(Boolean).length, CLIENTS);
    await Promise.all(clients.map(async (client) => client.end()));
  });

  it('run prepared statements of node-postgres and postgres.js, over changing server connections', async () => {
    const clients = await Promise.all([1, 2, 3].map(async () => connectTo(uri)));
    for (let round = 0; round < 3; round += 1) {
      // Transactions of several clients at once need several server connections, which then change hands.
      const rows = clients.map(async (client, index) => {
        await client.query('begin');
        const named = { name: `twice-${index % 2}`, text: 'select $1::int * 2 as twice', values: [index] };
        const { rows: found } = await client.query<{ twice: number }>(named);
        await client.query('commit');
        return found[0]?.twice;
      });
      assert.deepEqual(await Promise.all(rows), [0, 2, 4]);
    }
    await Promise.all(clients.map(async (client) => client.end()));
    const sql = postgres(uri, { max: 3 });
    const answers = Array.from({ length: 30 }, async (_, n) => (await sql`select ${n}::int as n`)[0]?.['n']);
    assert.deepEqual(
      await Promise.all(answers),
      answers.map((_, n) => n),
    );
    await sql.end();
  });

  it('are shared whatever `pooler_enabled` says, as on the public service', async () => {
    const server = async (at: string) => (await query(at, 'select pg_backend_pid()'))[0];
    const sessions = async (at: string) => new Set([await server(at), await server(at)]).size;
    await eventually(async () => (await sessions(uri)) === 1);
    const client = await connectTo(uri);
    compute = await service.change(compute, { poolerEnabled: false });
    assert.deepEqual((await client.query('select 1 as one')).rows, [{ one: 1 }]);
    await client.end();
    await eventually(async () => (await sessions(uri)) === 1);
    const other = await service.create();
    const poolers = () => readdirSync(path.join(storageOf(service), 'poolers'));
    assert.deepEqual(poolers(), [compute.id]);
    const ofOther = await service.uri(other, true);
    await eventually(async () => (await sessions(ofOther)) === 1);
    assert.deepEqual(poolers().toSorted(), [compute.id, other.id].toSorted());
    await service.engine.remove(other.id);
  });

  it('let clients send start-up parameters that PgBouncer does not know', async () => {
    const sql = postgres(`${uri}?channel_binding=require&pgbouncer=true`, {
      max: 1,
      connection: { search_path: 'public', jit: false },
    });
    assert.equal((await sql`select 1 as one`)[0]?.['one'], 1);
    await sql.end();
    const options = { options: '-c search_path=public' };
    await assert.rejects(connectTo(uri, options), {
      code: '08P01',
      message: /unsupported startup parameter/,
    });
  });

  it('leave nothing behind when their compute is removed', async () => {
    const poolers = path.join(storageOf(service), 'poolers');
    assert.deepEqual(readdirSync(poolers), [compute.id]);
    await service.engine.remove(compute.id);
    assert.deepEqual(readdirSync(poolers), []);
  });
});
