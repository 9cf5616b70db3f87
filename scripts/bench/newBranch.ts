/**
 * The time from asking for a branch to the first query on it, beside `CREATE DATABASE … TEMPLATE` on a warm server: one
 * alone, and ten at once.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { branchCalls, storageOf, type Api, type Created } from '../../test/helpers/branchCalls.ts';
import { startLocalService } from '../../test/helpers/localService.ts';
import { query } from '../../test/service/postgres/clients.ts';
import { comparison, measureInTurns, medianRatio, ms, timeOf, type Result } from './result.ts';

const ROUNDS = 5;
const GOALS = { 1: 3.5, 10: 2 };
/** Megabytes. */
const SIZE_GOAL = 25;
const PRIMARY = { type: 'read_write' };

export async function measure(): Promise<readonly Result[]> {
  const service = await startLocalService();
  try {
    const api = branchCalls(service);
    const main = await createProject(api);
    // In a project of its own, because a branch has all databases of its parent.
    const other = await createProject(api);
    const folder = path.join(storageOf(service), 'branches');
    return [
      await compare(api, main, api.uri(other), 1),
      await compare(api, main, api.uri(other), 10),
      await measureTwenty(api, main, folder),
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

async function compare(api: Api, main: Created, server: string, count: 1 | 10): Promise<Result> {
  const pairs = await measureInTurns(ROUNDS, 1, {
    ours: () => timeOfBranches(api, main, count),
    baseline: () => timeOfDatabases(server, count),
  });
  const goal = GOALS[count];
  return comparison(pairs, {
    what: count === 1 ? 'new branch' : `${count} at once`,
    unit: ms,
    baseline: 'CREATE DATABASE … TEMPLATE',
    goal: `≤ ${goal} ×`,
    met: medianRatio(pairs) <= goal,
    note: 'from the request to the first query',
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

async function timeOfBranches(api: Api, main: Created, count: number): Promise<number> {
  let created: Created[] = [];
  const time = await timeOf(async () => (created = await createBranches(api, main, count)));
  await suspend(api, main.project.id, created);
  return time;
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
  const { stdout } = await promisify(execFile)('du', ['-skc', ...folders]);
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
