/** Attacks of a program that runs as `nobody` on a service that runs as root, through the folders that `nobody` owns. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, lchownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startTime } from '../../../src/base/processIdentity.ts';
import { eventually, query } from '../postgres/clients.ts';
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
    folder = mkdtempSync(path.join(os.tmpdir(), 'privileges-'));
    chmodSync(folder, 0o755);
    dataDir = path.join(folder, 'data');
    branch = path.join(dataDir, 'postgres/branches/br-main/data');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const link = (target: string, file: string) => {
    symlinkSync(target, file);
    lchownSync(file, NOBODY, NOBODY);
  };
  const secret = () => {
    const file = path.join(folder, 'secret');
    writeFileSync(file, 'of root alone', { mode: 0o600 });
    return file;
  };

  const engineOf = () =>
    (JSON.parse(readFileSync(path.join(dataDir, 'postgres/engine.pid'), 'utf8')) as { pid: number }).pid;

  it("runs its engine without root's rights", async function () {
    if (process.platform !== 'linux') return this.skip();
    const service = await startControlPlane({ dataDir });
    const status = readFileSync(`/proc/${engineOf()}/status`, 'utf8');
    await service.close();
    const line = (name: string) =>
      new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, 'm').exec(status)?.[1]?.split('\t');
    const nobody = Array.from({ length: 4 }, () => String(NOBODY));
    assert.deepEqual([line('Uid'), line('Gid'), line('Groups')], [nobody, nobody, ['']]);
    assert.deepEqual(['CapEff', 'CapPrm', 'CapAmb'].map(line), Array(3).fill(['0000000000000000']));
  });

  it('reports its computes as crashed when its engine is killed, and serves them again', async () => {
    const service = await startControlPlane({ dataDir });
    try {
      const compute = await service.create();
      const uri = await service.uri(compute);
      assert.deepEqual(await query(uri, 'select 1'), [1]);
      process.kill(engineOf(), 'SIGKILL');
      await eventually(() => service.crashed.length === 1);
      assert.deepEqual(service.crashed, [
        { id: compute.id, reason: 'the process that runs Postgres ended with SIGKILL' },
      ]);
      // Waits for the new engine.
      await service.engine.catalog(compute.branchId);
      assert.deepEqual(await query(uri, 'select 1'), [1]);
    } finally {
      await service.close();
    }
  });

  it('reports why it cannot start a compute when its engine keeps crashing', async () => {
    const service = await startControlPlane({ dataDir });
    try {
      const compute = await service.create();
      const first = engineOf();
      process.kill(first, 'SIGKILL');
      await eventually(() => engineOf() !== first);
      process.kill(engineOf(), 'SIGKILL');
      await eventually(() => service.crashed.length === 2);
      await assert.rejects(
        service.engine.start(compute),
        /EngineError: the process that runs Postgres ended/i,
      );
    } finally {
      await service.close();
    }
  });

  it('does not write through a link at postgresql.conf.new', async () => {
    const service = await startControlPlane({ dataDir });
    try {
      const compute = await service.create();
      const uri = await service.uri(compute);
      assert.deepEqual(await query(uri, 'select 1'), [1]);
      await service.engine.suspend(compute.id);
      const file = secret();
      link(file, path.join(branch, 'postgresql.conf.new'));
      await query(uri, 'select 1').catch(() => undefined);
      assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).uid], ['of root alone', 0]);
    } finally {
      await service.close();
    }
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
      const lines = [pid, branch, Math.floor(startTime(pid) ?? 0), 5432, '', '', '', 'ready', ''];
      writeFileSync(path.join(branch, 'postmaster.pid'), lines.join('\n'), { mode: 0o644 });
      for (const owned of [path.dirname(branch), branch]) lchownSync(owned, NOBODY, NOBODY);
      const service = await startControlPlane({ dataDir });
      await service.close();
      assert.ok(startTime(pid) !== undefined, 'it runs');
      assert.ok(
        !existsSync(path.join(branch, 'postmaster.pid')),
        'no server of ours, so the file is removed',
      );
    } finally {
      victim.kill('SIGKILL');
    }
  });
});
