/** Projects that use `hosted-postgres/test`, with a process for each test file, as most runners have it. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { TEST_LIMIT } from '../limits.ts';
import { until } from '../workbench/until.ts';
import { ANOTHER_SERVER } from './anotherServer.ts';
import { branchCalls } from './branchCalls.ts';
import { builtTestLibrary } from './builtTestLibrary.ts';
import { hasReleasedLock, temporaryFolder } from './localService.ts';
import { prepareStorage } from './preparedStorage.ts';

export const PROJECT = 'hosted-postgres-tests';

const dataDirs: string[] = [];

/** A project with migrations that count how often they run. */
export async function createProject() {
  const cwd = temporaryFolder();
  mkdirSync(path.join(cwd, 'migrations'));
  writeFileSync(path.join(cwd, 'migrations', '1.sql'), 'create table item (id int primary key)');
  writeFileSync(path.join(cwd, 'seed.sql'), 'insert into item values (1), (2)');
  const dataDir = path.join(cwd, '.hosted-postgres');
  dataDirs.push(dataDir);
  await prepareStorage(dataDir);
  const count = (): number => readFileSync(path.join(cwd, 'count'), 'utf8').split('x').length - 1;
  return { cwd, dataDir, count, api: () => branchCalls({ ...serviceOf(dataDir) }) };
}

export function serviceOf(dataDir: string): {
  readonly baseUrl: string;
  readonly key: string;
  readonly pid: number;
} {
  const key = readFileSync(path.join(dataDir, 'api-key'), 'utf8');
  return { ...JSON.parse(readFileSync(path.join(dataDir, 'service.json'), 'utf8')), key };
}

export const OPTIONS = `{
  migrate: { run: 'echo x>>count', files: ['migrations'] },
  seed: { run: async (url) => { forgetServer(); for (const file of ['migrations/1.sql', 'seed.sql']) await query(url, fs.readFileSync(file, 'utf8')); }, files: ['seed.sql'] },
}`;

/** The code of a test file: `db` is its branch, and what `show` gets is the result. */
export async function program(code: string): Promise<string> {
  return `
    const fs = require('node:fs');
    const { Client } = require('pg');
    const { branch, database } = require(${JSON.stringify(await builtTestLibrary())});
    const query = async (url, text) => {
      const client = new Client(url);
      await client.connect();
      const result = await client.query({ text, rowMode: 'array' });
      await client.end();
      return result.rows?.flat();
    };
    // Functions of users connect by themselves.
    const forgetServer = () => Object.keys(process.env).forEach((name) => /^PG/.test(name) && delete process.env[name]);
    const show = (value) => console.log(JSON.stringify(value));
    (async () => { ${code} })().catch((error) => { console.error(error.message); process.exitCode = 1; });`;
}

export const environment = () => ({
  ...process.env,
  ...ANOTHER_SERVER,
  NEON_API_HOST: '',
  DATABASE_URL: 'before',
  NODE_PATH: path.resolve('node_modules'),
});

export async function run<T>(cwd: string, code: string): Promise<T> {
  const args = ['-e', await program(code)];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd,
    env: environment(),
    timeout: TEST_LIMIT,
  });
  return JSON.parse(stdout);
}

const ended = async (dataDir: string): Promise<unknown> =>
  until('the service has ended', async () => hasReleasedLock(dataDir), TEST_LIMIT);

/** A service ends a while after its last client. */
export const allEnded = async (): Promise<unknown> => Promise.all(dataDirs.map(ended));

export async function stopService(dataDir: string): Promise<unknown> {
  process.kill(serviceOf(dataDir).pid, 'SIGTERM');
  return ended(dataDir);
}
