import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { freePorts } from '../../../../src/service/postgres/network/serverAddress.ts';
import { findPooler } from '../../../../src/service/postgres/config/programs.ts';
import { stopOrphan } from '../../../../src/service/postgres/process/orphans.ts';
import { startTime } from '../../../../src/base/processIdentity.ts';
import { roundsOf } from '../../../helpers/fullRun.ts';
import { connectTo, eventually, query } from '../clients.ts';
import { startControlPlane } from '../controlPlane.ts';

const CYCLES = roundsOf(3);

interface Running {
  readonly child: ChildProcess;
  readonly uri: string;
}

const alive = (pid: number) => startTime(pid) !== undefined;

/** Processes whose command line contains the folder. */
const processesOf = (dataDir: string) =>
  execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(dataDir) && !line.includes('serviceProcess.ts'));

describe('engine after its service was killed', function () {
  this.timeout(60_000 + CYCLES * 5000);
  let dataDir: string;
  let address: { port: number; poolerPort: number };
  const children: ChildProcess[] = [];
  before(async () => {
    dataDir = await mkdtemp(path.join(os.tmpdir(), 'orphans-'));
    address = await freePorts(new Set());
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    const last = await startControlPlane({ dataDir });
    await last.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function startService(...more: string[]): Promise<Running> {
    const script = path.join(import.meta.dirname, '../serviceProcess.ts');
    const args = [script, dataDir, String(address.port), String(address.poolerPort), ...more];
    // The program finds the binaries relative to itself.
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], cwd: process.cwd() });
    children.push(child);
    const line = await new Promise<string>((resolve, reject) => {
      child.stdout.once('data', (text) => resolve(String(text)));
      child.once('exit', (code) => reject(new Error(`service ended with ${code}`)));
    });
    const said: unknown = JSON.parse(line);
    assert.ok(typeof said === 'object' && said !== null && 'uri' in said);
    return { child, uri: String(said.uri) };
  }

  async function kill({ child }: Running, signal: NodeJS.Signals): Promise<void> {
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null)
      await new Promise((resolve) => child.once('exit', resolve));
  }

  const pidIn = (file: string) => Number(readFileSync(file, 'utf8').split('\n')[0]);
  const postmasterPid = () => path.join(dataDir, 'postgres/branches/br-main/data/postmaster.pid');
  const poolerPid = () => path.join(dataDir, 'postgres/poolers/ep-1/pgbouncer.pid');

  it('leaves nothing behind after SIGTERM', async () => {
    const running = await startService();
    await query(running.uri, 'create table kept (id int primary key)');
    await kill(running, 'SIGTERM');
    assert.deepEqual(processesOf(dataDir), []);
    assert.ok(!existsSync(postmasterPid()));
  });

  it('stops the Postgres and the PgBouncer it finds, and serves again', async function () {
    const hasPooler = findPooler() !== undefined;
    const running = await startService(...(hasPooler ? ['pooler'] : []));
    await query(running.uri, 'insert into kept values (-1)');
    const pids = [pidIn(postmasterPid()), ...(hasPooler ? [pidIn(poolerPid())] : [])];
    await kill(running, 'SIGKILL');
    assert.ok(pids.every(alive));
    const next = await startControlPlane({ dataDir });
    assert.deepEqual(pids.filter(alive), []);
    const compute = await next.create({ address });
    assert.deepEqual(await query(await next.uri(compute), 'select id from kept'), [-1]);
    await next.close();
  });

  it('stops the Postgres it finds after the clock was changed', async function () {
    if (process.platform !== 'linux') this.skip();
    const running = await startService();
    await query(running.uri, 'select 1');
    const pid = pidIn(postmasterPid());
    await kill(running, 'SIGKILL');
    // Its start time now differs from the one in its pid file.
    const lines = readFileSync(postmasterPid(), 'utf8').split('\n');
    writeFileSync(postmasterPid(), lines.with(2, String(Number(lines[2]) - 3600)).join('\n'));
    const next = await startControlPlane({ dataDir });
    assert.ok(!alive(pid));
    await next.close();
  });

  it('does not stop another process that has the pid of a former Postgres', async () => {
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
    children.push(stranger);
    const lines = [stranger.pid, path.dirname(postmasterPid()), 1_700_000_000, 5432, '', '', '', 'ready', ''];
    writeFileSync(postmasterPid(), lines.join('\n'));
    const service = await startControlPlane({ dataDir });
    const compute = await service.create({ address });
    assert.deepEqual(await query(await service.uri(compute), 'select id from kept'), [-1]);
    await service.close();
    assert.ok(stranger.pid !== undefined && alive(stranger.pid));
    stranger.kill();
  });

  it('reports a crashed Postgres and starts it again for the next connection', async () => {
    const service = await startControlPlane({ dataDir });
    const compute = await service.create({ address });
    const uri = await service.uri(compute);
    const client = await connectTo(uri);
    process.kill(pidIn(postmasterPid()), 'SIGKILL');
    await eventually(() => service.crashed.length === 1);
    assert.deepEqual(service.crashed, [{ id: compute.id, reason: 'Postgres was ended by SIGKILL' }]);
    assert.deepEqual(await query(uri, 'select id from kept'), [-1]);
    assert.deepEqual(service.woken, [compute.id, compute.id]);
    await client.end();
    await service.close();
  });

  it(`loses no committed row and leaves no process over ${CYCLES} kills at random moments`, async () => {
    let acknowledged = 0;
    for (let cycle = 0; cycle <= CYCLES; cycle += 1) {
      const running = await startService();
      const client = await connectTo(running.uri);
      if (cycle === 0) await client.query('truncate kept');
      const rows = await rowsOf(client);
      // The commit in progress when the server was killed may be there, although it was not acknowledged.
      assert.ok(
        rows === acknowledged || rows === acknowledged + 1,
        `${rows} rows of ${acknowledged} in cycle ${cycle}`,
      );
      const writing = writeUntilKilled(client, rows);
      const until = performance.now() + Math.random() * 100;
      while (performance.now() < until) await new Promise((resolve) => setImmediate(resolve));
      const victim = cycle % 3 === 0 ? pidIn(postmasterPid()) : running.child.pid;
      if (victim !== undefined) process.kill(victim, 'SIGKILL');
      acknowledged = await writing;
      await kill(running, 'SIGKILL');
    }
    const service = await startControlPlane({ dataDir });
    await service.close();
    assert.deepEqual(processesOf(dataDir), []);
  });
});

/** Rows of the endurance test, numbered from 0 without gaps. */
async function rowsOf(client: pg.Client): Promise<number> {
  const [row] = (await client.query('select count(*)::int, coalesce(max(id) + 1, 0) as next from kept')).rows;
  assert.equal(row.count, row.next);
  return Number(row.count);
}

/** Commits rows one by one. @returns how many were acknowledged */
async function writeUntilKilled(client: pg.Client, from: number): Promise<number> {
  for (let id = from; ; id += 1) {
    try {
      await client.query('insert into kept values ($1)', [id]);
    } catch {
      return id;
    }
  }
}

describe('stopOrphan', () => {
  it('leaves other programs alone whose working folder is the data directory', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-test-'));
    const shell = spawn('sleep', ['60'], { cwd: folder });
    try {
      await once(shell, 'spawn');
      // What a killed server leaves.
      const { pid } = spawnSync('true');
      writeFileSync(path.join(folder, 'postmaster.pid'), `${pid}\n${folder}\n1\n5432\n/tmp\n127.0.0.1\n`);
      await stopOrphan(folder);
      assert.equal(shell.signalCode, null);
      assert.ok(shell.kill('SIGTERM'));
      const [, signal] = await once(shell, 'exit');
      assert.equal(signal, 'SIGTERM');
    } finally {
      shell.kill('SIGKILL');
      await rm(folder, { recursive: true });
    }
  });
});
