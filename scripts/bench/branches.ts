/** The time to create a branch of a large parent under load, and what a hundred branches cost. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { branchCalls, storageOf, type Api } from '../../test/helpers/branchCalls.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../test/helpers/localService.ts';
import { connectTo, query } from '../../test/real/service/postgres/clients.ts';
import { findPgbench } from './pgbench.ts';
import { median, ms, timeOf, type Result } from './result.ts';

const run = promisify(execFile);
const ROUNDS = 3;
const MANY = 100;
/** About 1 GB. */
const SCALE = 68;
const GOAL = 1.3;
const PRIMARY = { type: 'read_write' };
/** What limits a copy differs between memory and a disk. */
const PLACES: readonly (readonly [where: string, parent: string])[] =
  process.platform === 'linux'
    ? [
        ['in memory', '/dev/shm'],
        ['on a disk', '/var/tmp'],
      ]
    : [['', os.tmpdir()]];

export async function measure(): Promise<readonly Result[]> {
  const results: Result[] = [];
  const pgbench = findPgbench();
  for (const [where, parent] of PLACES) {
    const service = await startLocalService({ dataDir: temporaryFolder(parent) });
    results.push(await measureLarge(service, where, pgbench));
    await service.stop();
  }
  const options = { dataDir: temporaryFolder(), key: 'bench' };
  const start = () => startLocalService(options);
  const service = await start();
  const branches = path.join(storageOf(service), 'branches');
  results.push(await measureMany(branchCalls(service), branches));
  await service.stop();
  results.push(await measureStart(start, branches));
  return results;
}

const row = (what: string, ours: string, note: string): Result => ({
  what,
  ours,
  baseline: '',
  ratio: undefined,
  goal: '',
  met: true,
  note,
});

/** A parent of 1 GB under pgbench, compared with `cp` of the same directory, also under pgbench. */
async function measureLarge(service: LocalService, where: string, pgbench: string): Promise<Result> {
  const api = branchCalls(service);
  const folder = path.join(storageOf(service), 'branches');
  const main = await api.change('POST', '', { project: {} });
  const uri = api.uri(main);
  await run(pgbench, ['-i', '-I', 'dtGvp', '-q', '-s', String(SCALE), uri]);
  await query(uri, 'create table ledger (id int primary key)');
  const load = spawn(pgbench, ['-n', '-c', '4', '-T', '600', '-P', '1', uri], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const rates: { at: number; rate: number }[] = [];
  load.stderr.on('data', (text: Buffer) => {
    const rate = / ([\d.]+) tps/.exec(String(text))?.[1];
    if (rate !== undefined) rates.push({ at: performance.now(), rate: Number(rate) });
  });
  const client = await connectTo(uri);
  try {
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    const [ours, plain, checkpoints, spans]: [number[], number[], number[], [number, number][]] = [
      [],
      [],
      [],
      [],
    ];
    for (let round = 0; round < ROUNDS; round += 1) {
      const copy = path.join(folder, '..', 'copy');
      const source = path.join(folder, main.branch.id, 'data');
      // Files that disappear during the copy make it fail.
      plain.push(
        await timeOf(() => run('cp', ['-a', '--reflink=auto', source, copy]).catch(() => undefined)),
      );
      await rm(copy, { recursive: true, force: true });
      await client.query('insert into ledger values ($1)', [round]);
      const before = await checkpointTime(uri);
      const startedAt = performance.now();
      const branch = await api.change('POST', `/${main.project.id}/branches`, {});
      spans.push([startedAt, performance.now()]);
      ours.push(performance.now() - startedAt);
      checkpoints.push((await checkpointTime(uri)) - before);
      const endpoint = { ...PRIMARY, branch_id: branch.branch.id };
      const { operations, endpoint: compute } = await api.send<{
        operations: [];
        endpoint: { host: string };
      }>('POST', `/${main.project.id}/endpoints`, { endpoint });
      await api.finish(main.project.id, operations);
      const copied = uri.replace(main.endpoints[0]?.host ?? '', compute.host);
      assert.deepEqual(await query(copied, 'select count(*)::int from ledger'), [round + 1]);
      await api.change('DELETE', `/${main.project.id}/branches/${branch.branch.id}`);
    }
    const isDuring = (at: number) => spans.some(([from, to]) => at >= from && at <= to + 1000);
    const rate = (during: boolean) =>
      median(rates.filter(({ at }) => isDuring(at) === during).map((each) => each.rate));
    const [time, checkpoint] = [median(ours), median(checkpoints)];
    const ratio = Math.max(0, time - checkpoint) / median(plain);
    return {
      what: `branch of 1 GB ${where}`.trim(),
      ours: ms(time),
      baseline: `${ms(median(plain))} cp --reflink=auto`,
      ratio,
      goal: `≤ ${GOAL} × and one checkpoint`,
      met: ratio <= GOAL,
      note: `checkpoint ${ms(checkpoint)}; pgbench ${rate(true).toFixed(0)} tps during it, ${rate(false).toFixed(0)} else`,
    };
  } finally {
    await client.end();
    load.kill();
    await api.send('DELETE', `/${main.project.id}`).catch(() => undefined);
  }
}

/** Milliseconds that the server has spent in checkpoints. */
async function checkpointTime(uri: string): Promise<number> {
  const [version] = await query(uri, "select current_setting('server_version_num')::int");
  const sql =
    Number(version) >= 170_000
      ? 'select write_time + sync_time from pg_stat_checkpointer'
      : 'select checkpoint_write_time + checkpoint_sync_time from pg_stat_bgwriter';
  return Number((await query(uri, sql))[0]);
}

async function diskUse(folder: string): Promise<number> {
  const { stdout } = await run('du', ['-sk', folder]);
  return Number.parseInt(stdout, 10) / 1024;
}

/** A hundred branches whose only compute is disabled, one after the other. */
async function measureMany(api: Api, folder: string): Promise<Result> {
  const main = await api.change('POST', '', { project: {} });
  const before = await diskUse(folder);
  const time = await timeOf(async () => {
    for (let count = 0; count < MANY; count += 1)
      await api.change('POST', `/${main.project.id}/branches`, {
        endpoints: [{ type: 'read_only', disabled: true }],
      });
  });
  const used = (await diskUse(folder)) - before;
  return row(`${MANY} branches`, ms(time), `${ms(time / MANY)} and ${(used / MANY).toFixed(1)} MB each`);
}

/** A service with a hundred branches, none of which is touched. */
async function measureStart(
  start: () => ReturnType<typeof startLocalService>,
  folder: string,
): Promise<Result> {
  let service: Awaited<ReturnType<typeof start>> | undefined;
  const starting = await timeOf(async () => (service = await start()));
  const running = readdirSync(folder).filter((name) =>
    readdirSync(path.join(folder, name, 'data')).includes('postmaster.pid'),
  );
  const ending = await timeOf(async () => service?.stop());
  const what = `start with ${MANY} branches`;
  return {
    ...row(what, ms(starting), `ends in ${ms(ending)}; ${running.length} servers ran`),
    met: running.length === 0,
  };
}
