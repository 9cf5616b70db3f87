/**
 * The time from asking for an undo to the first query on the same address, compared with doing the same manually with the same Postgres:
 * stopping the server, `cp` of the base and of the write-ahead log (WAL) after it, and recovery to the same position. The row `marker`
 * is the time to note a moment to which an undo can go back.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { branchCalls, storageOf, type Api } from '../../test/helpers/branchCalls.ts';
import { startLocalService, temporaryFolder } from '../../test/helpers/localService.ts';
import { connectTo, query } from '../../test/real/service/postgres/clients.ts';
import { sharedMemory } from '../../src/extension/agents/sharedMemory.ts';
import { Markers } from '../../src/extension/history/markers.ts';
import { plainPostgres } from './plainPostgres.ts';
import { comparison, measureInTurns, median, medianRatio, ms, timeOf, type Result } from './result.ts';

const run = promisify(execFile);
const GOAL = 1.3;
/** Milliseconds, on a machine that does nothing else. */
const MARKER_GOAL = 5;
const MARKERS = 500;
/** Of {@link fillerTransactions}, to write a megabyte of WAL. */
const TRANSACTIONS_PER_MB = 870;

export async function measure(): Promise<readonly Result[]> {
  const service = await startLocalService();
  const storage = storageOf(service);
  try {
    const api = branchCalls(service);
    return [
      await compare(api, storage, { megabytes: 0, rounds: 9, limit: 2000 }),
      await compare(api, storage, { megabytes: 256, rounds: 3, limit: 10_000 }),
      measureMarkers(),
    ];
  } finally {
    await service.stop();
  }
}

interface Size {
  /** Of WAL to replay. */
  readonly megabytes: number;
  readonly rounds: number;
  /** Milliseconds. */
  readonly limit: number;
}

async function compare(api: Api, storage: string, { megabytes, rounds, limit }: Size): Promise<Result> {
  const main = await api.change('POST', '', { project: {} });
  const uri = api.uri(main);
  await query(uri, 'create table item as select 1 as id');
  const client = await connectTo(uri);
  await client.query(fillerTransactions(megabytes * TRANSACTIONS_PER_MB));
  await client.query('set synchronous_commit to off');
  await client.query('call fill()');
  await client.end();
  const [lsn] = await query(uri, 'select pg_current_wal_flush_lsn()::text');
  await query(uri, 'delete from item');
  const undo = async () => {
    const body = { source_branch_id: main.branch.id, source_lsn: lsn, preserve_under_name: 'before' };
    return timeOf(async () => {
      const address = `/${main.project.id}/branches/${main.branch.id}/restore`;
      await api.finish(main.project.id, (await api.send('POST', address, body, 200)).operations);
      assert.deepEqual(await query(uri, 'select * from item'), [1]);
    });
  };
  const source = path.join(storage, 'branches', main.branch.id);
  const manual = await manualUndo(storage, source, new URL(uri), String(lsn));
  const pairs = await measureInTurns(rounds, 1, {
    ours: async () => {
      const time = await undo();
      const before = (await api.branches(main.project.id)).find(({ name }) => name === 'before');
      await api.change('DELETE', `/${main.project.id}/branches/${before?.id}`);
      return time;
    },
    baseline: manual.undo,
  });
  await manual.stop();
  await api.change('POST', `/${main.project.id}/endpoints/${main.endpoints[0]?.id}/suspend`);
  const time = median(pairs.ours);
  return comparison(pairs, {
    what: megabytes === 0 ? 'undo' : `undo after ${megabytes} MB`,
    unit: ms,
    baseline: 'manually',
    goal: `≤ ${GOAL} ×, ≤ ${limit / 1000} s`,
    met: medianRatio(pairs) <= GOAL && time <= limit,
    note: `of a branch of ${(manual.bytes / 2 ** 20).toFixed(0)} MB, with ${manual.segments} files of WAL`,
  });
}

/**
 * Small transactions with an incompressible row of one kilobyte each, a fifth of them by an update. They write less WAL than data,
 * so that no other base is made.
 */
function fillerTransactions(count: number): string {
  const text = Array.from({ length: 32 }, (_, index) => `md5((g * 32 + ${index})::text)`).join(' || ');
  return `create table filler (id int primary key, text text) with (autovacuum_enabled = off);
    create procedure fill() language plpgsql as $$ declare earlier int; begin
      for g in 1..${count} loop
        earlier := g - 1 - floor(random() * g / 5) * 5;
        if g % 5 = 0 then update filler set text = ${text} where id = earlier;
        else insert into filler values (g, ${text}); end if;
        commit;
      end loop;
    end $$`;
}

/** @param source the folder of the branch, of which it keeps what it needs, as the branch's own undos change it */
async function manualUndo(
  storage: string,
  source: string,
  { password, username, pathname }: URL,
  lsn: string,
) {
  const folder = path.join(storage, 'manual');
  const [base] = JSON.parse(readFileSync(path.join(source, 'history.json'), 'utf8')) as { folder: string }[];
  const wal = path.join(folder, 'wal');
  const data = path.join(folder, 'data');
  const original = path.join(source, 'data');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  await run('cp', ['-a', path.join(original, 'pg_wal'), wal]);
  const settings = [
    'listen_addresses=',
    'restore_command=exit 1',
    `recovery_target_lsn=${lsn}`,
    'recovery_target_timeline=current',
    'recovery_target_action=promote',
  ].flatMap((setting) => ['-c', setting]);
  const plain = await plainPostgres(original, data, settings);
  const { host, port } = plain;
  let stop = async () => {};
  return {
    stop: async () => stop(),
    segments: readdirSync(wal).length,
    bytes: Number((await run('du', ['-sb', `${original}/base`])).stdout.split('\t')[0]),
    undo: async () =>
      timeOf(async () => {
        await stop();
        rmSync(data, { recursive: true });
        await run('cp', ['-a', '--reflink=auto', `${path.join(storage, base?.folder ?? '')}/.`, data]);
        rmSync(path.join(data, 'pg_wal'), { recursive: true });
        await run('cp', ['-a', '--reflink=auto', wal, path.join(data, 'pg_wal')]);
        await run('cp', ['-a', path.join(original, 'postgresql.conf'), data]);
        writeFileSync(path.join(data, 'recovery.signal'), '');
        stop = await plain.start();
        const uri = `postgresql://${username}:${password}@localhost:${port}${pathname}?host=${host}`;
        assert.deepEqual(await query(uri, 'select * from item'), [1]);
      }),
  };
}

/** A marker in a file of many. */
function measureMarkers(): Result {
  const memory = sharedMemory(temporaryFolder());
  const markers = new Markers(memory, {
    onError: (error) => {
      throw error;
    },
  });
  const times = Array.from({ length: MARKERS }, (_, index) => {
    const branch = { account: 'a', projectId: 'p', branchId: `br-${index % 20}` };
    const startedAt = performance.now();
    markers.add(branch, { kind: 'agent', text: 'alter table item drop column name', by: 'agent' });
    return performance.now() - startedAt;
  });
  const time = median(times.slice(-100));
  return {
    what: 'marker',
    ours: ms(time),
    baseline: '',
    ratio: undefined,
    goal: `≤ ${MARKER_GOAL} ms`,
    met: time <= MARKER_GOAL,
    note: `a line in the file of what agents own, with ${MARKERS} others`,
  };
}
