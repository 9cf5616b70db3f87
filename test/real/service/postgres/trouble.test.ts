import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createUsableFolder, openDataDirectory } from '../../../../src/service/state/dataDirectory.ts';
import { findPooler } from '../../../../src/service/postgres/server/programs.ts';
import { storageOf } from '../../../helpers/branchCalls.ts';
import { answers, query } from './clients.ts';
import { copyOfPostgres } from './copyOfPostgres.ts';
import { startControlPlane } from './controlPlane.ts';

describe('compute in trouble', () => {
  it('reports a full disk, and starts when there is space again', async function () {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'full-'));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=20m,mode=755', 'tmpfs', folder]);
    if (mounted.status !== 0) return this.skip(); // Only root may mount.
    const service = await startControlPlane({ dataDir: path.join(folder, 'data') });
    try {
      const compute = await service.create();
      const uri = `postgresql://app_owner:x@127.0.0.1:${compute.address.port}/app`;
      await assert.rejects(query(uri, 'select 1'), /the disk is full|no space left on device/i);
      const role = { kind: 'createRole', name: 'new', canLogin: true } as const;
      const change = service.engine.changeCatalog(compute.branchId, role);
      await assert.rejects(change, /EngineError: .*(the disk is full|no space left on device)/i);
      execFileSync('mount', ['-o', 'remount,size=300m', folder]);
      assert.deepEqual(await query(await service.uri(compute), 'select 1'), [1]);
    } finally {
      await service.close();
      execFileSync('umount', [folder]);
      await rm(folder, { recursive: true });
    }
  });

  it('says what to do if Postgres was removed, as npm does with its cache', async () => {
    const { folder, remove } = copyOfPostgres();
    const service = await startControlPlane({ postgresPath: folder });
    const compute = await service.create();
    const uri = await service.uri(compute);
    remove();
    await assert.rejects(
      query(uri, 'select 1'),
      /postgres is gone, for example because npm emptied its cache\. Start/,
    );
  });

  it('says why a compute did not start, also if Postgres cannot even begin, and keeps its log', async () => {
    const service = await startControlPlane();
    const compute = await service.create();
    const uri = await service.uri(compute);
    await query(uri, 'select 1');
    await service.engine.suspend(compute.id);
    const data = path.join(storageOf(service), 'branches', compute.branchId, 'data');
    const file = path.join(data, 'global', 'pg_control');
    await rename(file, `${file}.moved`);
    await assert.rejects(
      query(uri, 'select 1'),
      /did not start: .*could not find the database system.*pg_control/,
    );
    await rename(`${file}.moved`, file);
    await query(uri, 'select 1');
    const log = (await service.engine.serverLog(compute.id)).map((line) => line.replace(/^\S+Z /, ''));
    const positions = [/^LOG: {2}starting PostgreSQL/, /^postgres: could not find/, /^Couldn't start: /].map(
      (line) => log.findIndex((each) => line.test(each)),
    );
    assert.ok(
      positions.every((at, index) => at > (positions[index - 1] ?? -1)),
      log.join('\n'),
    );
    assert.match(log.at(-1) ?? '', /database system is ready/);
  });

  it('names the library that a Postgres lacks', async function () {
    if (process.platform !== 'linux') return this.skip();
    const { folder } = copyOfPostgres((library) => !library.startsWith('libicui18n'));
    const service = await startControlPlane({ postgresPath: folder });
    assert.match(
      service.log.join('\n') + service.engine.postgresProblem,
      /can't run: libicui18n\.so\.\d+: cannot open shared object file: No such file or directory\. Install Postgres with/,
    );
  });

  it('reports a read-only folder', async function () {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'read-only-'));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', folder]);
    if (mounted.status !== 0) return this.skip(); // Only root may mount.
    try {
      const data = path.join(folder, 'new', 'data');
      const message = `Cannot use the data directory ${data}: the file system is read-only (EROFS). Choose another folder.`;
      assert.throws(() => createUsableFolder(data), { message });
    } finally {
      execFileSync('umount', [folder]);
      await rm(folder, { recursive: true });
    }
  });

  it('reports a folder for temporary files that is missing', function () {
    if (process.platform === 'win32') return this.skip(); // It has another variable.
    const { TMPDIR } = process.env;
    process.env['TMPDIR'] = '/missing';
    try {
      const message = 'Cannot create a temporary folder in /missing (TMPDIR): ENOENT';
      assert.throws(() => openDataDirectory(undefined), { message });
    } finally {
      if (TMPDIR === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = TMPDIR;
    }
  });

  it('reports data of another version', async () => {
    const service = await startControlPlane();
    const compute = await service.create();
    const uri = await service.uri(compute);
    await query(uri, 'select 1');
    await service.engine.suspend(compute.id);
    const file = path.join(service.dataDir, 'postgres/branches/br-main/data/PG_VERSION');
    const version = readFileSync(file, 'utf8');
    writeFileSync(file, '9\n');
    await assert.rejects(
      query(uri, 'select 1'),
      /Branch br-main has data of Postgres 9, but the Postgres found is \d+/,
    );
    writeFileSync(file, version);
    assert.deepEqual(await query(uri, 'select 1'), [1]);
  });

  it('restarts a crashed PgBouncer', async function () {
    if (findPooler() === undefined) return this.skip();
    const service = await startControlPlane();
    const compute = await service.create({ poolerEnabled: true });
    const file = path.join(service.dataDir, 'postgres/poolers', compute.id, 'pgbouncer.pid');
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
    const uri = await service.uri(compute, true);
    await answers(uri);
  });

  for (const state of ['runs', 'is suspended']) {
    it(`copies the branch again for a replica with a damaged copy while the primary ${state}`, async () => {
      const service = await startControlPlane();
      const primary = await service.create();
      await query(await service.uri(primary), 'create table t as select 1 as id');
      const replica = await service.create({ type: 'read_only' });
      await query(await service.uri(replica), 'select 1');
      await service.engine.suspend(replica.id);
      if (state === 'is suspended') await service.engine.suspend(primary.id);
      writeFileSync(
        path.join(service.dataDir, 'postgres/replicas', replica.id, 'data/global/pg_control'),
        'x',
      );
      assert.deepEqual(await query(await service.uri(replica), 'select id from t'), [1]);
    });
  }
});
