/**
 * Finds the local service of a folder, with its data in `.hosted-postgres`. It is started if needed, and ends soon after its last
 * lease.
 */
import path from 'node:path';
import { createFileSync } from '../../base/replaceFile.ts';
import { isLoopback } from '../../api/addresses/host.ts';
import { baseUrlOrUndefined } from '../../api/transport/baseUrl.ts';
import { joinOrStartService } from '../../localService/joinOrStart.ts';
import {
  readOrCreateKey,
  createReachableDataFolder,
  PROJECT_DATA_FOLDER,
  TEST_PROJECT,
} from '../../localService/ownFolder.ts';
import { preparePostgres } from '../postgres.ts';
import { ServiceApi } from '../api.ts';

/** For how many milliseconds the service runs without a lease. Runners usually start their next process sooner. */
const GRACE = 5_000;

const joinedServices = new Map<string, Promise<ServiceApi>>();

/** @throws {Error} if the service can't start or has no Postgres */
export async function findService(cwd: string): Promise<ServiceApi> {
  const folder = path.resolve(cwd, PROJECT_DATA_FOLDER);
  const joined = joinedServices.get(folder) ?? serviceOfEnvironment() ?? joinService(folder);
  joinedServices.set(folder, joined);
  joined.catch(() => joinedServices.delete(folder));
  return joined;
}

/**
 * Returns the service of `npx hosted-postgres --run`, if that has started this program. The service runs longer than its command, so it
 * needs no lease. A service of another machine is never used.
 */
function serviceOfEnvironment(): Promise<ServiceApi> | undefined {
  const { NEON_API_HOST: host = '', NEON_API_KEY: key } = process.env;
  const baseUrl = baseUrlOrUndefined(host);
  if (key === undefined || baseUrl === undefined || !isLoopback(new URL(baseUrl).hostname)) return undefined;
  return Promise.resolve(new ServiceApi(baseUrl, key));
}

async function joinService(folder: string): Promise<ServiceApi> {
  createReachableDataFolder(folder, { ignoreInGit: true });
  const key = readOrCreateKey(folder);
  const projects = path.join(folder, 'projects.json');
  const compute = { type: 'read_write' };
  const main = { id: 'br-hosted-postgres-tests', name: 'main', default: true, computes: [compute] };
  const account = { projects: [{ id: TEST_PROJECT, name: TEST_PROJECT, branches: [main] }] };
  createFileSync(projects, JSON.stringify(account));
  const lease = await joinOrStartService({
    script: path.join(import.meta.dirname, 'service.js'),
    dataDir: folder,
    key,
    port: 0,
    postgresPath: process.env['HOSTED_POSTGRES_PATH'] ?? preparePostgres(),
    extensionsPath: process.env['HOSTED_POSTGRES_EXTENSIONS'],
    trustedExtensions: process.env['HOSTED_POSTGRES_TRUSTED_EXTENSIONS']?.split(','),
    grace: GRACE,
    projectsFile: projects,
  });
  const problem = await lease.postgresProblem;
  if (problem !== undefined) {
    lease.release();
    throw new Error(problem);
  }
  lease.unref();
  // If the service was killed, the next branch starts it again.
  lease.ended.addEventListener('abort', () => joinedServices.delete(folder));
  return new ServiceApi(lease.baseUrl, key);
}
