/** The local service of a folder, in its `.hosted-postgres`. It is started if needed, and ends soon after its last lease. */
import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { baseUrlOrUndefined, isLoopback } from '../../api/baseUrl.ts';
import { joinOrStart } from '../../ui/localService/localServiceProcess.ts';
import { Api, OWN_PROJECT } from './api.ts';

/** Milliseconds. Runners start their next process sooner. */
const GRACE = 5_000;

const found = new Map<string, Promise<Api>>();

/** @throws {Error} if the service can't start or has no Postgres */
export async function findService(cwd: string): Promise<Api> {
  const folder = path.resolve(cwd, '.hosted-postgres');
  const joined = found.get(folder) ?? givenService() ?? join(folder);
  found.set(folder, joined);
  joined.catch(() => found.delete(folder));
  return joined;
}

/** The service of `npx hosted-postgres --run`, which runs longer than its command. Never one of another machine. */
function givenService(): Promise<Api> | undefined {
  const { NEON_API_HOST: host = '', NEON_API_KEY: key } = process.env;
  const baseUrl = baseUrlOrUndefined(host);
  if (key === undefined || baseUrl === undefined || !isLoopback(new URL(baseUrl).hostname)) return undefined;
  return Promise.resolve(new Api(baseUrl, key));
}

async function join(folder: string): Promise<Api> {
  await mkdir(folder, { recursive: true, mode: 0o711 });
  await createOnce(path.join(folder, '.gitignore'), '*\n');
  await createOnce(path.join(folder, 'api-key'), randomBytes(24).toString('base64url'));
  const projects = path.join(folder, 'projects.json');
  const compute = { type: 'read_write' };
  const main = { id: 'br-hosted-postgres-tests', name: 'main', default: true, computes: [compute] };
  const account = { projects: [{ id: OWN_PROJECT, name: OWN_PROJECT, branches: [main] }] };
  await createOnce(projects, JSON.stringify(account));
  const key = (await readFile(path.join(folder, 'api-key'), 'utf8')).trim();
  const lease = await joinOrStart({
    script: path.join(import.meta.dirname, 'service.js'),
    dataDir: folder,
    key,
    port: 0,
    postgresPath: process.env['HOSTED_POSTGRES_PATH'],
    grace: GRACE,
    projectsFile: projects,
  });
  const problem = await lease.postgresProblem;
  if (problem !== undefined) throw new Error(problem);
  lease.unref();
  return new Api(lease.baseUrl, key);
}

/** Writes a file that only this user can read, unless it exists. It is complete from the beginning. */
async function createOnce(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(temporary, text, { mode: 0o600 });
  await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(temporary);
}
