/**
 * A suite of 40 test files with 10 tests each that write, with `hosted-postgres/test`: a branch for each file, and a clone for each
 * test or a reset after each, four files at a time. The baseline is the same suite on one shared database that is truncated after each test, so its
 * files run one after the other.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { branchCalls } from '../../test/helpers/branchCalls.ts';
import { builtTestLibrary } from '../../test/helpers/builtTestLibrary.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../test/helpers/localService.ts';
import { projectRoot } from '../../test/workbench/folders.ts';
import { comparison, measureInTurns, medianRatio, timeOf, type Result } from './result.ts';

const FILES = 40;
const TESTS = 10;
const PARALLEL = 4;
const ROUNDS = 1;
const GOAL = 1.2;
export const TABLES = ['customer', 'product', 'purchase', 'item', 'review', 'event'];

export const SCHEMA = TABLES.map(
  (name) =>
    `create table ${name} (id int generated always as identity primary key, name text not null, made timestamptz default now());
     create index on ${name} (name);`,
).join('\n');
export const SEED = TABLES.map(
  (name) => `insert into ${name} (name) select 'name ' || n from generate_series(1, 20) n;`,
).join('\n');

export const TRUNCATION = `truncate ${TABLES.join(', ')} restart identity;\n${SEED}`;

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
  };
  const withReset = async (kind) => {
    const db = await require(${JSON.stringify(library)})[kind]({ migrate: 'schema.sql', seed: 'seed.sql' });
    const client = await connect(db.url);
    for (let n = 0; n < ${TESTS}; n += 1) {
      await test(client);
      await db.reset();
    }
    await client.end();
    await db.drop();
  };
  const onSharedDatabase = async (url) => {
    const client = await connect(url);
    for (let n = 0; n < ${TESTS}; n += 1) {
      await test(client);
      await client.query(${JSON.stringify(TRUNCATION)});
    }
    await client.end();
  };
  const prepare = async (url) => {
    const client = await connect(url);
    await client.query(${JSON.stringify(`drop table if exists ${TABLES.join(', ')};\n${SCHEMA}\n${SEED}`)});
    await client.end();
  };
  const { PREPARED_DATABASE: prepared, SHARED_DATABASE: shared, WITH_RESET: reset } = process.env;
  (prepared ? prepare(prepared) : shared ? onSharedDatabase(shared) : reset ? withReset(reset) : onBranch()).catch((error) => { console.error(error); process.exitCode = 1; });`;

export async function measure(): Promise<readonly Result[]> {
  const service = await startLocalService();
  try {
    const folder = temporaryFolder();
    writeFileSync(path.join(folder, 'schema.sql'), SCHEMA);
    writeFileSync(path.join(folder, 'seed.sql'), SEED);
    writeFileSync(path.join(folder, 'file.cjs'), program(await builtTestLibrary()));
    const api = branchCalls(service);
    const shared = await api.change('POST', '', { project: {} });
    const run = async (environment: NodeJS.ProcessEnv = {}) => runFile(service, folder, environment);
    const truncated = () =>
      timeOf(async () => {
        const uri = api.uri(shared);
        await run({ PREPARED_DATABASE: uri });
        await runFiles(1, () => run({ SHARED_DATABASE: uri }));
      });
    const row = async (what: string, environment: NodeJS.ProcessEnv) => {
      const ours = () => timeOf(() => runFiles(PARALLEL, () => run(environment)));
      const pairs = await measureInTurns(ROUNDS, 0, { ours, baseline: truncated });
      return comparison(pairs, {
        what,
        unit: (time) => `${(time / 1000).toFixed(1)} s`,
        baseline: 'one database, truncated',
        goal: `≤ ${GOAL} ×`,
        met: medianRatio(pairs) <= GOAL,
        note: `${FILES} files of ${TESTS} tests, ${PARALLEL} at a time`,
      });
    };
    return [
      await row('test suite, clones', {}),
      await row('test suite, reset', { WITH_RESET: 'branch' }),
      await row('test suite, databases', { WITH_RESET: 'database' }),
    ];
  } finally {
    await service.stop();
  }
}

async function runFile(
  { baseUrl, key }: LocalService,
  cwd: string,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  await promisify(execFile)(process.execPath, ['file.cjs'], {
    cwd,
    env: {
      ...process.env,
      NODE_PATH: path.join(projectRoot, 'node_modules'),
      NEON_API_HOST: baseUrl,
      NEON_API_KEY: key,
      ...environment,
    },
  });
}

async function runFiles(parallel: number, run: () => Promise<void>): Promise<void> {
  let started = 0;
  const worker = async () => {
    while ((started += 1) <= FILES) await run();
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}
