/**
 * The time from asking for a branch to the first query on it, one alone and ten at once. It is compared with the same done manually with the
 * same Postgres (`cp` of the files of a stopped branch, start, query), and with `CREATE DATABASE … TEMPLATE` on a warm server,
 * which copies one database in the place of four.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { branchCalls, storageOf, type Api, type Created } from '../../test/helpers/branchCalls.ts';
import { startLocalService } from '../../test/helpers/localService.ts';
import { query } from '../../test/real/service/postgres/clients.ts';
import { plainPostgres } from './plainPostgres.ts';
import {
  comparison,
  measureInTurns,
  medianRatio,
  ms,
  pick,
  timeOf,
  type Pairs,
  type Result,
} from './result.ts';

const run = promisify(execFile);
const ROUNDS = 7;
const GOAL = 1.3;
/** Megabytes. */
const SIZE_GOAL = 15;
const PRIMARY = { type: 'read_write' };

export async function measure(): Promise<readonly Result[]> {
  const service = await startLocalService();
  try {
    const api = branchCalls(service);
    const main = await createProject(api);
    // In another project, because a branch has all databases of its parent.
    const other = await createProject(api);
    const storage = storageOf(service);
    const manual = await manualBranches(api, main, storage);
    return [
      await compareManual(api, main, manual, 1),
      await compareManual(api, main, manual, 10),
      await compareTemplate(api, main, api.uri(other), 1),
      await compareTemplate(api, main, api.uri(other), 10),
      await measureTwenty(api, main, path.join(storage, 'branches')),
    ];
  } finally {
    await service.stop();
  }
}

async function createProject(api: Api): Promise<Created> {
  const created = await api.change('POST', '', { project: {} });
  await query(api.uri(created), 'create table t as select 1');
  return created;
}

/** Milliseconds: by the clock, and of the processors for all programs of the machine. */
interface Cost {
  readonly time: number;
  readonly processor: number;
}

type ManualBranches = (count: number) => Promise<Cost>;

async function compareManual(
  api: Api,
  main: Created,
  manual: ManualBranches,
  count: 1 | 10,
): Promise<Result> {
  const costs = await measureInTurns(ROUNDS, 1, {
    ours: () => costOfBranches(api, main, count),
    baseline: () => manual(count),
  });
  const times = pick(costs, ({ time }) => time);
  return comparison(times, {
    what: count === 1 ? 'new branch' : `${count} at once`,
    unit: ms,
    baseline: 'manually',
    goal: `≤ ${GOAL} ×`,
    met: medianRatio(times) <= GOAL,
    note: `copy, start, first query; ${processorRatio(costs).toFixed(2)} × the processor time`,
  });
}

/** Of the sums, because the system counts in steps of ten milliseconds. */
function processorRatio(costs: Pairs<Cost>): number {
  const { ours, baseline } = pick(costs, ({ processor }) => processor);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return sum(ours) / sum(baseline);
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const before = processorTime();
  const time = await timeOf(work);
  return { time, processor: processorTime() - before };
}

const processorTime = (): number =>
  os.cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys, 0);

async function compareTemplate(api: Api, main: Created, server: string, count: number): Promise<Result> {
  const pairs = await measureInTurns(ROUNDS, 1, {
    ours: async () => (await costOfBranches(api, main, count)).time,
    baseline: () => timeOfDatabases(server, count),
  });
  return comparison(pairs, {
    what: count === 1 ? 'branch or database' : `${count} of them`,
    unit: ms,
    baseline: 'CREATE DATABASE … TEMPLATE',
    goal: '',
    met: true,
    note: 'from the request to the first query; a branch has four databases, so this has no goal',
  });
}

async function createBranches(api: Api, main: Created, count: number): Promise<Created[]> {
  const project = main.project.id;
  return Promise.all(
    Array.from({ length: count }, async () => {
      const created = await api.send('POST', `/${project}/branches`, { endpoints: [PRIMARY] });
      // A client may connect at once: the compute's address waits for its server.
      await query(api.uri(created), 'select * from t');
      return created;
    }),
  );
}

/**
 * Ends the servers. The files stay until all is measured: some file systems create files many times slower for a minute after
 * thousands were removed (ext4 without a journal does not use a freed inode again at once).
 */
async function suspend(api: Api, project: string, branches: readonly Created[]): Promise<void> {
  for (const { id } of branches.flatMap(({ endpoints }) => endpoints))
    await api.change('POST', `/${project}/endpoints/${id}/suspend`);
}

async function costOfBranches(api: Api, main: Created, count: number): Promise<Cost> {
  let created: Created[] = [];
  const cost = await costOf(async () => (created = await createBranches(api, main, count)));
  await suspend(api, main.project.id, created);
  return cost;
}

/** @returns measures what it costs to copy the files of a stopped branch, start Postgres and query, for several of them at once */
async function manualBranches(api: Api, main: Created, storage: string): Promise<ManualBranches> {
  const created = await api.createBranch(main.project.id);
  const uri = new URL(api.uri(created));
  await query(uri.href, 'select * from t');
  await suspend(api, main.project.id, [created]);
  const original = path.join(storage, 'branches', created.branch.id, 'data');
  let last = 0;
  return async (count) => {
    const copies = await Promise.all(
      Array.from({ length: count }, async () => {
        const data = path.join(storage, 'manual', String((last += 1)), 'data');
        mkdirSync(data, { recursive: true });
        return { data, server: await plainPostgres(original, data, ['-c', 'listen_addresses=']) };
      }),
    );
    const stops: (() => Promise<void>)[] = [];
    const cost = await costOf(() =>
      Promise.all(
        copies.map(async ({ data, server }) => {
          await run('cp', ['-a', '--reflink=auto', `${original}/.`, data]);
          stops.push(await server.start());
          const { host, port } = server;
          await query(
            `postgresql://${uri.username}:${uri.password}@localhost:${port}${uri.pathname}?host=${host}`,
            'select * from t',
          );
        }),
      ),
    );
    await Promise.all(stops.map((stop) => stop()));
    return cost;
  };
}

async function timeOfDatabases(uri: string, count: number): Promise<number> {
  const inDatabase = (name: string) => Object.assign(new URL(uri), { pathname: `/${name}` }).href;
  const template = new URL(uri).pathname.slice(1);
  const names = Array.from({ length: count }, () => `copy_${randomUUID()}`);
  const time = await timeOf(() =>
    Promise.all(
      names.map(async (name) => {
        await query(inDatabase('postgres'), `create database "${name}" template "${template}"`);
        await query(inDatabase(name), 'select * from t');
      }),
    ),
  );
  return time;
}

async function measureTwenty(api: Api, main: Created, folder: string): Promise<Result> {
  let ends: PromiseSettledResult<Created[]>[] = [];
  const time = await timeOf(async () => {
    ends = await Promise.allSettled(Array.from({ length: 20 }, () => createBranches(api, main, 1)));
  });
  const created = ends.flatMap((end) => (end.status === 'fulfilled' ? end.value : []));
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []));
  const folders = created.map(({ branch }) => path.join(folder, branch.id));
  const { stdout } = await run('du', ['-skc', ...folders]);
  const size = Number(/(\d+)\s+total/.exec(stdout)?.[1]) / 1024 / created.length;
  const [reason] = failures[0]?.split('\n') ?? [];
  return {
    what: '20 at once',
    ours: ms(time),
    baseline: '',
    ratio: undefined,
    goal: `no failure, ≤ ${SIZE_GOAL} MB each`,
    met: failures.length === 0 && size <= SIZE_GOAL,
    note: `${size.toFixed(1)} MB each, with their computes active; ${failures.length} failed${reason === undefined ? '' : `: ${reason}`}`,
  };
}
