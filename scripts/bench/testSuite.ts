/**
 * A suite of 40 test files with 10 tests each that write, with `hosted-postgres/test`: a branch for each file, with a clone for each
 * test or a reset after each, or a database for each file with resets, four files at a time. The baseline is the same suite on one
 * shared database that is truncated after each test, so its files run one after the other.
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

export const FILES = 40;
export const TESTS = 10;
export const PARALLEL = 4;
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
  const works = {
    prepare,
    truncated: onSharedDatabase,
    clones: onBranch,
    reset: () => withReset('branch'),
    databases: () => withReset('database'),
  };
  const [work, url] = process.argv.slice(2);
  works[work](url).catch((error) => { console.error(error); process.exitCode = 1; });`;

export async function measure(): Promise<readonly Result[]> {
  const service = await startLocalService();
  try {
    const folder = temporaryFolder();
    writeFileSync(path.join(folder, 'schema.sql'), SCHEMA);
    writeFileSync(path.join(folder, 'seed.sql'), SEED);
    writeFileSync(path.join(folder, 'file.cjs'), program(await builtTestLibrary()));
    const api = branchCalls(service);
    const shared = await api.change('POST', '', { project: {} });
    const run = async (...args: readonly string[]) => runFile(service, folder, args);
    const truncated = () =>
      timeOf(async () => {
        const uri = api.uri(shared);
        await run('prepare', uri);
        await runFiles(1, () => run('truncated', uri));
      });
    const row = async (work: 'clones' | 'reset' | 'databases') => {
      const ours = () => timeOf(() => runFiles(PARALLEL, () => run(work)));
      const pairs = await measureInTurns(ROUNDS, 0, { ours, baseline: truncated });
      return comparison(pairs, {
        what: `test suite, ${work}`,
        unit: (time) => `${(time / 1000).toFixed(1)} s`,
        baseline: 'one database, truncated',
        goal: `≤ ${GOAL} ×`,
        met: medianRatio(pairs) <= GOAL,
        note: `${FILES} files of ${TESTS} tests, ${PARALLEL} at a time`,
      });
    };
    return [await row('clones'), await row('reset'), await row('databases')];
  } finally {
    await service.stop();
  }
}

async function runFile({ baseUrl, key }: LocalService, cwd: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, ['file.cjs', ...args], {
    cwd,
    env: {
      ...process.env,
      NODE_PATH: path.join(projectRoot, 'node_modules'),
      NEON_API_HOST: baseUrl,
      NEON_API_KEY: key,
    },
  });
}

/** Runs each of the {@link FILES}, so many at a time. */
export async function runFiles(parallel: number, run: () => Promise<unknown>): Promise<void> {
  let started = 0;
  const worker = async () => {
    while ((started += 1) <= FILES) await run();
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}
