/**
 * A suite of 40 test files with 10 tests each that write, with `hosted-postgres/test`: a branch for each file, a clone for each
 * test, four files at a time. The baseline is the same suite on one shared database that is truncated after each test, so its
 * files run one after the other. Then nothing of the branches may be left.
 */
import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { branchCalls, storageOf } from '../helpers/branchCalls.ts';
import { builtTestLibrary } from '../helpers/builtTestLibrary.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../helpers/localService.ts';
import { projectRoot } from '../workbench/folders.ts';
import { until } from '../workbench/until.ts';
import { comparison, measureInTurns, medianRatio, timeOf, type Result } from './result.ts';

const FILES = 40;
const TESTS = 10;
const PARALLEL = 4;
const ROUNDS = 1;
const GOAL = 1.2;
/** Milliseconds. */
const LEFT_LIMIT = 15_000;
const PROJECT = 'hosted-postgres-tests';
const TABLES = ['customer', 'product', 'purchase', 'item', 'review', 'event'];

const SCHEMA = TABLES.map(
  (name) =>
    `create table ${name} (id int generated always as identity primary key, name text not null, made timestamptz default now());
     create index on ${name} (name);`,
).join('\n');
const SEED = TABLES.map(
  (name) => `insert into ${name} (name) select 'name ' || n from generate_series(1, 20) n;`,
).join('\n');

/** The tests of a file, in a client for each test or in one for all. */
const program = (library: string): string => `
  const { Client } = require('pg');
  const assert = require('node:assert/strict');
  const connect = async (url) => {
    const client = new Client(url);
    await client.connect();
    return client;
  };
  const test = async (client) => {
    for (const table of ${JSON.stringify(TABLES)}) {
      await client.query('insert into ' + table + ' (name) values ($1), ($2)', ['a', 'b']);
      await client.query('update ' + table + ' set name = $1 where id = 1', ['c']);
      const { rows } = await client.query('select count(*)::int as n from ' + table);
      assert.equal(rows[0].n, 22);
    }
  };
  const onBranch = async () => {
    const { branch } = require(${JSON.stringify(library)});
    const db = await branch({ migrate: 'schema.sql', seed: 'seed.sql' });
    for (let n = 0; n < ${TESTS}; n += 1) {
      const clone = await db.clone();
      const client = await connect(clone.url);
      await test(client);
      await client.end();
      await clone.drop();
    }
    await db.drop();
    console.log(JSON.stringify({ id: db.id, port: new URL(db.url).port }));
  };
  const onSharedDatabase = async (url) => {
    const client = await connect(url);
    for (let n = 0; n < ${TESTS}; n += 1) {
      await test(client);
      await client.query(${JSON.stringify(`truncate ${TABLES.join(', ')} restart identity;\n${SEED}`)});
    }
    await client.end();
  };
  const prepare = async (url) => {
    const client = await connect(url);
    await client.query(${JSON.stringify(`drop table if exists ${TABLES.join(', ')};\n${SCHEMA}\n${SEED}`)});
    await client.end();
  };
  const { PREPARED_DATABASE: prepared, SHARED_DATABASE: shared } = process.env;
  (prepared ? prepare(prepared) : shared ? onSharedDatabase(shared) : onBranch()).catch((error) => { console.error(error); process.exitCode = 1; });`;

export async function measure(): Promise<readonly Result[]> {
  const service = await startLocalService();
  try {
    const folder = temporaryFolder();
    writeFileSync(path.join(folder, 'schema.sql'), SCHEMA);
    writeFileSync(path.join(folder, 'seed.sql'), SEED);
    writeFileSync(path.join(folder, 'file.cjs'), program(await builtTestLibrary()));
    const api = branchCalls(service);
    const shared = await api.change('POST', '', { project: {} });
    const made: Made[] = [];
    const run = async (environment: NodeJS.ProcessEnv = {}) => runFile(service, folder, environment);
    const pairs = await measureInTurns(ROUNDS, 0, {
      ours: () => timeOf(async () => void made.push(...(await runFiles(PARALLEL, run)))),
      baseline: () =>
        timeOf(async () => {
          const uri = api.uri(shared);
          await run({ PREPARED_DATABASE: uri });
          await runFiles(1, async () => run({ SHARED_DATABASE: uri }));
        }),
    });
    const left = await leftovers(service, made);
    return [
      comparison(pairs, {
        what: 'test suite',
        unit: (time) => `${(time / 1000).toFixed(1)} s`,
        baseline: 'one database, truncated',
        goal: `≤ ${GOAL} ×, nothing left`,
        met: medianRatio(pairs) <= GOAL && left.length === 0,
        note: `${FILES} files of ${TESTS} tests, ${PARALLEL} at a time; left: ${left.join(', ') || 'nothing'}`,
      }),
    ];
  } finally {
    await service.stop();
  }
}

/** What a test file says about its branch. */
interface Made {
  readonly id: string;
  readonly port: number;
}

async function runFile(
  { baseUrl, key }: LocalService,
  cwd: string,
  environment: NodeJS.ProcessEnv,
): Promise<Made> {
  const { stdout } = await promisify(execFile)(process.execPath, ['file.cjs'], {
    cwd,
    env: {
      ...process.env,
      NODE_PATH: path.join(projectRoot, 'node_modules'),
      NEON_API_HOST: baseUrl,
      NEON_API_KEY: key,
      ...environment,
    },
  });
  return JSON.parse(stdout || '{}');
}

async function runFiles<T>(parallel: number, run: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let started = 0;
  const worker = async () => {
    while ((started += 1) <= FILES) results.push(await run());
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return results;
}

/** Branches, files, processes and ports of branches that tests have deleted. */
async function leftovers(service: LocalService, made: readonly Made[]): Promise<string[]> {
  const find = async () => {
    const api = branchCalls(service);
    const { projects } = await api.send<{ projects: { id: string; name: string }[] }>('GET', '');
    const project = projects.find(({ name }) => name === PROJECT)?.id ?? '';
    const texts = [
      ...(await api.branches(project)).map(({ id }) => `branch ${id}`),
      ...readdirSync(storageOf(service), { encoding: 'utf8', recursive: true }),
      ...(await promisify(execFile)('ps', ['-eo', 'args'])).stdout.split('\n'),
    ];
    const open = await Promise.all(made.map(async ({ port }) => isOpen(port)));
    return [
      ...texts.filter((text) => made.some(({ id }) => text.includes(id))),
      ...made.flatMap(({ port }, index) => (open[index] === true ? `port ${port}` : [])),
    ];
  };
  // Files of deleted branches are removed in the background.
  await until('nothing is left', async () => (await find()).length === 0, LEFT_LIMIT).catch(() => undefined);
  return find();
}

const isOpen = async (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1' });
    const end = (isFound: boolean) => () => {
      socket.destroy();
      resolve(isFound);
    };
    socket.once('connect', end(true)).once('error', end(false));
  });
