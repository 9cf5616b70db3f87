import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { readStartTimeSync } from '../../../../../src/base/processIdentity.ts';
import { isServiceEnding } from '../../../../../src/localService/discover.ts';
import { findPooler } from '../../../../../src/service/postgres/server/programs.ts';
import { stopOrphanServer } from '../../../../../src/service/postgres/server/orphans.ts';
import { branchCalls, emptyAccount, storageOf, type Created } from '../../../../helpers/branchCalls.ts';
import { roundsOf } from '../../../../helpers/fullRun.ts';
import { startLocalService, temporaryFolder } from '../../../../helpers/localService.ts';
import { answers, connectTo, eventually, query } from '../clients.ts';

const CYCLES = roundsOf(3);

const alive = (pid: number) => readStartTimeSync(pid) !== undefined;

/** Processes whose command line contains the folder. */
const processesOf = (dataDir: string) =>
  execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(dataDir));

describe('service that was killed or ends slowly', () => {
  const dataDir = temporaryFolder();
  const options = { key: 'k', dataDir, args: emptyAccount() };
  const start = () => startLocalService(options);
  let created: Created;
  let uri: string;
  before(async () => {
    const service = await start();
    const api = branchCalls(service);
    created = await api.change('POST', '', { project: {} });
    uri = api.uri(created);
    const computes = `/${created.project.id}/endpoints`;
    const endpoint = { pooler_enabled: findPooler() !== undefined };
    await api.change('PATCH', `${computes}/${created.endpoints[0]?.id}`, { endpoint });
    await query(uri, 'create table kept as select -1 as id');
    await service.stop();
  });

  const pidIn = (file: string) => Number(readFileSync(file, 'utf8').split('\n')[0]);
  const postmasterPid = () =>
    path.join(storageOf({ dataDir }), 'branches', created.branch.id, 'data/postmaster.pid');
  const poolerPid = () =>
    path.join(storageOf({ dataDir }), 'poolers', created.endpoints[0]?.id ?? '', 'pgbouncer.pid');
  /** The addresses are open soon after the start. */
  const requireRow = async () => {
    await answers(uri);
    assert.deepEqual(await query(uri, 'select id from kept'), [-1]);
  };
  /** Kills a service whose compute runs. @returns the processes that it leaves */
  const leaveRunning = async () => {
    const service = await start();
    await requireRow();
    const pids = [postmasterPid(), poolerPid()].filter(existsSync).map(pidIn);
    await service.kill();
    assert.ok(pids.length > 0 && pids.every(alive));
    return pids;
  };

  it('notes in its lock that it is ending, because its Postgres may take long to stop', async function () {
    if (process.platform === 'win32') return this.skip(); // It has no signals.
    const service = await start();
    await requireRow();
    const server = pidIn(postmasterPid());
    process.kill(server, 'SIGSTOP');
    const ended = service.stop();
    try {
      await eventually(() => isServiceEnding(dataDir));
    } finally {
      process.kill(server, 'SIGCONT');
    }
    assert.equal(await ended, 0);
    assert.ok(!alive(server));
  });

  it('stops the Postgres and the PgBouncer it finds, and serves again', async () => {
    const pids = await leaveRunning();
    assert.equal(pids.length, findPooler() === undefined ? 1 : 2);
    await start();
    await eventually(() => !pids.some(alive));
    await requireRow();
  });

  it('stops the Postgres it finds after the clock was changed', async function () {
    if (process.platform !== 'linux') this.skip();
    const pids = await leaveRunning();
    // Its start time now differs from the one in its pid file.
    const lines = readFileSync(postmasterPid(), 'utf8').split('\n');
    writeFileSync(postmasterPid(), lines.with(2, String(Number(lines[2]) - 3600)).join('\n'));
    await start();
    await eventually(() => !pids.some(alive));
  });

  it('does not stop another process that has the pid of a former Postgres', async () => {
    const { pid = 0 } = spawn('sleep', ['60'], { stdio: 'ignore' });
    const lines = [pid, path.dirname(postmasterPid()), 1_700_000_000, 5432, '', '', '', 'ready', ''];
    writeFileSync(postmasterPid(), lines.join('\n'));
    const service = await start();
    await requireRow();
    await service.stop();
    assert.ok(alive(pid));
    process.kill(pid);
  });

  it('reports a crashed Postgres and starts it again for the next connection', async () => {
    const service = await start();
    await requireRow();
    await connectTo(uri);
    process.kill(pidIn(postmasterPid()), 'SIGKILL');
    await eventually(async () => {
      const list = `/${created.project.id}/operations`;
      const { operations } = await branchCalls(service).send<Created>('GET', list);
      return operations.some(({ error }) => error === 'Postgres was ended by SIGKILL');
    });
    await requireRow();
  });

  it(`loses no committed row and leaves no process over ${CYCLES} kills at random moments`, async () => {
    let acknowledged = 0;
    for (let cycle = 0; cycle <= CYCLES; cycle += 1) {
      const service = await start();
      await answers(uri);
      const client = await connectTo(uri);
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
      process.kill(cycle % 3 === 0 ? pidIn(postmasterPid()) : service.pid, 'SIGKILL');
      acknowledged = await writing;
      await service.kill();
    }
    const service = await start();
    await answers(uri);
    await service.stop();
    assert.deepEqual(processesOf(dataDir), []);
    assert.ok(!existsSync(postmasterPid()));
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

describe('stopOrphanServer', () => {
  it('leaves other programs alone whose working folder is the data directory', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-test-'));
    const shell = spawn('sleep', ['60'], { cwd: folder });
    try {
      await once(shell, 'spawn');
      // What a killed server leaves.
      const { pid } = spawnSync('true');
      writeFileSync(path.join(folder, 'postmaster.pid'), `${pid}\n${folder}\n1\n5432\n/tmp\n127.0.0.1\n`);
      await stopOrphanServer(folder);
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
