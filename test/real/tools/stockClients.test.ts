/** Common clients: psql, pg_dump, pg_restore, pgbench and two drivers. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import type { ComputeSpec } from '../../../src/service/core/computeEngine.ts';
import { connectTo, installedPostgres, query } from '../service/postgres/clients.ts';
import { startControlPlane, type ControlPlane } from '../service/postgres/controlPlane.ts';

const run = promisify(execFile);
const installed = installedPostgres();
const folderOfClients = installed ?? '';

/** States of a compute when a client connects. */
const states = ['active', 'idle', 'restarting'] as const;

describe(`stock clients${installed === undefined ? ' (skipped: no Postgres with its clients is installed)' : ''}`, () => {
  let service: ControlPlane;
  let compute: ComputeSpec;
  let uri: string;
  let folder: string;
  before(async function () {
    if (installed === undefined) return this.skip();
    service = await startControlPlane({ postgresPath: installed });
    compute = await service.create();
    uri = await service.uri(compute);
    folder = await mkdtemp(path.join(os.tmpdir(), 'clients-'));
  });
  after(async () => {
    await service?.close();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const client = async (program: string, ...args: string[]) =>
    run(path.join(folderOfClients, program), args, {
      maxBuffer: 64 << 20,
      env: { PATH: process.env['PATH'], TZ: 'UTC' },
    });
  const psql = async (sql: string) =>
    (await client('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', sql, uri)).stdout.trim();

  /** Brings the compute into a state and runs a client against it. A restart is in progress when the client connects. */
  async function against<T>(state: (typeof states)[number], work: () => Promise<T>): Promise<T> {
    await service.engine.suspend(compute.id);
    if (state === 'idle') return work();
    await service.engine.start(compute);
    if (state === 'active') return work();
    const witness = await connectTo(uri);
    const isDropped = new Promise((resolve) => witness.once('end', resolve));
    const ended = service.engine.suspend(compute.id).then(async () => service.engine.start(compute));
    await isDropped;
    const [result] = await Promise.all([work(), ended]);
    return result;
  }

  it('psql: connects without TLS, with it, and with a checked certificate and channel binding', async () => {
    const encrypted = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
    const certificate = path.join(service.dataDir, 'postgres/tls/server.crt');
    const checked = `sslmode=verify-full&sslrootcert=${certificate}&channel_binding=require`;
    for (const [options, answer] of [
      ['sslmode=disable', 'f'],
      ['sslmode=prefer', 't'],
      ['sslmode=require&channel_binding=require', 't'],
      [checked, 't'],
    ]) {
      const { stdout } = await client('psql', '-XAtq', '-c', encrypted, `${uri}?${options}`);
      assert.equal(stdout.trim(), answer, options);
    }
  });

  for (const state of states) {
    it(`pgbench: initialises and runs 50 clients, simple and prepared, against ${state} computes`, async () => {
      await against(state, async () => client('pgbench', '-i', '-q', '-s', '1', uri));
      for (const mode of ['simple', 'prepared']) {
        const args = ['-c', '50', '-j', '2', '-t', '10', '-n', '-M', mode, uri];
        const { stdout } = await against(state, async () => client('pgbench', ...args));
        assert.match(stdout, /number of transactions actually processed: 500\/500/);
        assert.match(stdout, /number of failed transactions: 0 /);
      }
    });

    it(`pg_dump and pg_restore: copy a database, against ${state} computes`, async () => {
      await psql(
        'drop table if exists kept; create table kept as select g, md5(g::text) from generate_series(1, 20000) g',
      );
      const file = path.join(folder, `${state}.dump`);
      await against(state, async () => client('pg_dump', '-Fc', '-t', 'kept', '-f', file, uri));
      await psql('drop table kept');
      await against(state, async () => client('pg_restore', '--exit-on-error', '-d', uri, file));
      assert.equal(await psql('select count(*), max(g) from kept'), '20000|20000');
    });

    it(`postgres.js and node-postgres: query against ${state} computes`, async () => {
      await against(state, async () => {
        const sql = postgres(uri, { max: 5 });
        const rows = await Promise.all([1, 2, 3, 4, 5].map(async (n) => sql`select ${n}::int * 2 as twice`));
        assert.deepEqual(
          rows.map(([row]) => row?.['twice']),
          [2, 4, 6, 8, 10],
        );
        await sql.end();
        assert.deepEqual(await query(uri, 'select 1'), [1]);
      });
    });
  }

  it('COPY: transfers megabytes both ways unchanged', async () => {
    await psql('create table copied (id int, text text)');
    const line = (id: number) => `${id}\t${'x'.repeat(200)}\n`;
    const input = Array.from({ length: 20_000 }, (_, id) => line(id)).join('');
    const child = spawn(path.join(folderOfClients, 'psql'), ['-Xq', '-c', 'copy copied from stdin', uri], {
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    child.stdin.end(input);
    assert.equal(await new Promise((resolve) => child.once('exit', resolve)), 0);
    const { stdout } = await client(
      'psql',
      '-Xq',
      '-c',
      'copy (select * from copied order by id) to stdout',
      uri,
    );
    assert.equal(stdout, input);
  });

  it('LISTEN: a notification reaches an idle connection', async () => {
    const listener = await connectTo(uri);
    await listener.query('listen news');
    const heard = new Promise((resolve) =>
      listener.once('notification', (message) => resolve(message.payload)),
    );
    await psql("notify news, 'spring'");
    assert.equal(await heard, 'spring');
  });

  it('large objects: can be written and read', async () => {
    const file = path.join(folder, 'object');
    const object = path.join(folderOfClients, 'postgres');
    const script = `\\lo_import '${object}'\n\\lo_export :LASTOID '${file}'\n\\lo_unlink :LASTOID\n`;
    const child = spawn(path.join(folderOfClients, 'psql'), ['-Xq', '-v', 'ON_ERROR_STOP=1', uri], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    child.stdin.end(script);
    assert.equal(await new Promise((resolve) => child.once('exit', resolve)), 0);
    await run('cmp', [file, object]);
  });

  it('psql: Ctrl-C cancels a long query', async () => {
    const child = spawn(path.join(folderOfClients, 'psql'), ['-XAt', uri], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let said = '';
    child.stdout.on('data', (text) => (said += String(text)));
    child.stderr.on('data', (text) => (said += String(text)));
    child.stdin.write("select 'begun'; select pg_sleep(600);\n");
    const watcher = await connectTo(uri);
    const sleeping =
      "select 1 from pg_stat_activity where query = 'select pg_sleep(600);' and state = 'active'";
    while ((await watcher.query(sleeping)).rows.length === 0);
    child.kill('SIGINT');
    child.stdin.end();
    await new Promise((resolve) => child.once('close', resolve));
    assert.match(said, /begun\n.*canceling statement due to user request/s);
  });
});
