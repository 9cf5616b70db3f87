/** Attacks of a program that runs as `nobody` on a service that runs as root, through the folders that `nobody` owns. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lchownSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { readStartTimeSync } from '../../../../src/base/processIdentity.ts';
import { call } from '../../../helpers/call.ts';
import { startLocalService, temporaryFolder } from '../../../helpers/localService.ts';
import { query } from '../postgres/clients.ts';
import { startControlPlane } from '../postgres/controlPlane.ts';

const NOBODY = 65_534;
const why = process.getuid?.() === 0 ? '' : ' (skipped: needs root)';

describe(`service that runs as root${why}`, () => {
  let folder: string;
  let dataDir: string;
  let branch: string;
  before(function () {
    if (why !== '') this.skip();
  });
  beforeEach(() => {
    folder = temporaryFolder();
    chmodSync(folder, 0o755);
    dataDir = path.join(folder, 'data');
    branch = path.join(dataDir, 'postgres/branches/br-main/data');
  });

  const link = (target: string, file: string) => {
    symlinkSync(target, file);
    lchownSync(file, NOBODY, NOBODY);
  };
  const secret = () => {
    const file = path.join(folder, 'secret');
    writeFileSync(file, 'of root alone', { mode: 0o600 });
    return file;
  };

  const openFilesOf = (pid: number) =>
    readdirSync(`/proc/${pid}/fd`).map((name) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${name}`);
      } catch {
        return undefined; // Closed in between.
      }
    });

  it('leaves the certificates alone that Node is still reading', async () => {
    const certificates = path.join(folder, 'company.pem');
    writeFileSync(certificates, `${rootCertificates.join('\n')}\n`.repeat(20));
    const under = ['env', `NODE_EXTRA_CA_CERTS=${certificates}`];
    const service = await startLocalService({ dataDir, postgres: false, under });
    assert.equal(await service.stop(), 0);
    assert.equal(service.stderr(), '');
  });

  it("gives up root's rights, and keeps its environment from others", async function () {
    if (process.platform !== 'linux') return this.skip();
    const service = await startLocalService({ dataDir });
    const status = readFileSync(`/proc/${service.pid}/status`, 'utf8');
    const line = (name: string) =>
      new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, 'm').exec(status)?.[1]?.split('\t');
    const ids = Array.from({ length: 4 }, () => String(NOBODY));
    assert.deepEqual([line('Uid'), line('Gid'), line('Groups')], [ids, ids, ['']]);
    assert.deepEqual(['CapEff', 'CapPrm', 'CapAmb'].map(line), Array(3).fill(['0000000000000000']));
    const environment = `/proc/${service.pid}/environ`;
    assert.ok(readFileSync(environment, 'utf8').includes(service.key), 'the key is in it');
    for (const file of [environment, `/proc/${service.pid}/mem`, path.join(dataDir, 'service.json')]) {
      const { stderr } = spawnSync('cat', [file], { uid: NOBODY, gid: NOBODY, encoding: 'utf8' });
      assert.match(stderr, /Permission denied/, file);
    }
  });

  it('passes no file that it inherited to Postgres, and keeps none open', async function () {
    if (process.platform !== 'linux') return this.skip();
    const file = secret();
    const under = ['bash', '-c', 'exec "$@" 5<"$0" 200<"$0"', file];
    const service = await startLocalService({ dataDir, under });
    const uri = '/projects/shiny-wind-028834/connection_uri?role_name=app_owner&database_name=app';
    const { json } = await call(service.baseUrl, { path: uri, key: service.key });
    assert.deepEqual(await query((json as { uri: string }).uri, 'select 1'), [1]);
    const branch = path.join(dataDir, 'postgres/branches/br-aged-salad-637688');
    const postmaster = Number.parseInt(readFileSync(path.join(branch, 'data/postmaster.pid'), 'utf8'));
    for (const pid of [service.pid, postmaster])
      assert.ok(!openFilesOf(pid).includes(file), `process ${pid} has it open`);
  });

  it('is replaced after it has ended, although it could not remove its files', async () => {
    for (const signal of ['stop', 'kill'] as const) await (await startLocalService({ dataDir }))[signal]();
    await (await startLocalService({ dataDir })).stop();
    for (const name of ['service.lock', 'service.json'])
      assert.equal(readFileSync(path.join(dataDir, name), 'utf8'), '', name);
  });

  it('does not write through a link at postgresql.conf.new', async () => {
    const service = await startControlPlane({ dataDir });
    const compute = await service.create();
    const uri = await service.uri(compute);
    assert.deepEqual(await query(uri, 'select 1'), [1]);
    await service.engine.suspend(compute.id);
    const file = secret();
    link(file, path.join(branch, 'postgresql.conf.new'));
    await query(uri, 'select 1').catch(() => undefined);
    assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).uid], ['of root alone', 0]);
  });

  it('does not give away the folder behind a link at poolers', async () => {
    await (await startControlPlane({ dataDir })).close();
    const victim = path.join(folder, 'victim');
    mkdirSync(victim, { mode: 0o755 });
    rmSync(path.join(dataDir, 'postgres/poolers'), { recursive: true });
    link(victim, path.join(dataDir, 'postgres/poolers'));
    const service = await startControlPlane({ dataDir }).catch(() => undefined);
    await service?.close();
    const { uid, mode } = statSync(victim);
    assert.deepEqual([uid, (mode & 0o777).toString(8)], [0, '755']);
  });

  it('does not kill a root process that a forged postmaster.pid names', async () => {
    await (await startControlPlane({ dataDir })).close();
    const victim = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      const { pid = 0 } = victim;
      mkdirSync(branch, { recursive: true });
      const lines = [pid, branch, Math.floor(readStartTimeSync(pid) ?? 0), 5432, '', '', '', 'ready', ''];
      writeFileSync(path.join(branch, 'postmaster.pid'), lines.join('\n'), { mode: 0o644 });
      for (const owned of [path.dirname(branch), branch]) lchownSync(owned, NOBODY, NOBODY);
      const service = await startControlPlane({ dataDir });
      await service.close();
      assert.ok(readStartTimeSync(pid) !== undefined, 'it runs');
      assert.ok(
        !existsSync(path.join(branch, 'postmaster.pid')),
        'no server of ours, so the file is removed',
      );
    } finally {
      victim.kill('SIGKILL');
    }
  });
});
