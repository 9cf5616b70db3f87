import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { limitTo } from '../../../../src/base/limit.ts';
import type { ComputeSpec } from '../../../../src/service/core/computeEngine.ts';
import { findPooler } from '../../../../src/service/postgres/config/programs.ts';
import { connectTo, eventually, query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';

const reason = findPooler() === undefined ? ' (skipped: needs PgBouncer)' : '';

const CLIENTS = 10_000;
/** Sockets for the clients and the other files of the process. */
const openFiles = Number(
  execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).replace('unlimited', '1000000'),
);
const tooFew = openFiles < CLIENTS + 500 ? ` (skipped: only ${openFiles} open files allowed)` : '';

describe(`pooled connections${reason}`, function () {
  this.timeout(600_000);
  let service: ControlPlane;
  let compute: ComputeSpec;
  let uri: string;
  before(async function () {
    if (reason !== '') return this.skip();
    service = await startControlPlane();
    compute = await service.create({ poolerEnabled: true });
    uri = await service.uri(compute, true);
  });
  after(async () => service?.close());

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

  it('let the compute be suspended while they are idle, and wake it again', async () => {
    const client = await connectTo(uri);
    await client.query('select 1');
    await eventually(() => service.open.get(compute.id) === 0);
    await service.engine.suspend(compute.id);
    service.woken.length = 0;
    assert.equal((await client.query('select 2 as two')).rows[0]?.two, 2);
    assert.deepEqual(service.woken, [compute.id]);
    await client.end();
  });

  it(`serve ${CLIENTS} clients at once, each running a query${tooFew}`, async function () {
    if (tooFew !== '') return this.skip();
    const withLock = limitTo(200);
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, async () => withLock(async () => connectTo(uri))),
    );
    const answers = await Promise.all(
      clients.map(async (client, n) => (await client.query('select $1::int as n', [n])).rows[0]?.n === n),
    );
    assert.equal(answers.filter(Boolean).length, CLIENTS);
    await Promise.all(clients.map(async (client) => client.end()));
  });

  it('get separate sessions while pooling is switched off', async () => {
    const server = async () => (await query(uri, 'select pg_backend_pid()'))[0];
    const sessions = async () => new Set([await server(), await server()]).size;
    await eventually(async () => (await sessions()) === 1);
    compute = await service.change(compute, { poolerEnabled: false });
    assert.equal(await sessions(), 2);
    compute = await service.change(compute, { poolerEnabled: true });
    await eventually(async () => (await sessions()) === 1);
  });

  it('leave nothing behind when their compute is removed', async () => {
    const note = path.join(service.dataDir, 'postgres-folder');
    const root = existsSync(note) ? readFileSync(note, 'utf8') : path.join(service.dataDir, 'postgres');
    const poolers = path.join(root, 'poolers');
    assert.deepEqual(readdirSync(poolers), [compute.id]);
    await service.engine.remove(compute.id);
    assert.deepEqual(readdirSync(poolers), []);
  });
});
