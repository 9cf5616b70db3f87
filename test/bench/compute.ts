/** Starts a local service with one compute on a real Postgres. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startLocalService } from '../helpers/localService.ts';
import { computeId, projectId, projectsFile } from './sampleAccount.ts';

export interface MeasuredCompute {
  /** The connection string, with a password in it. */
  readonly uri: string;
  /** The data directory of the branch. */
  readonly dataDir: string;
  /** Returns the Unix socket of the running Postgres. */
  socket(): Promise<string>;
  /** Resolves when Postgres has ended. */
  suspend(): Promise<void>;
  stop(): Promise<void>;
}

export async function startCompute(): Promise<MeasuredCompute> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-bench-'));
  // Postgres refuses to run as root. The account that it runs as instead must be able to reach its data in here.
  await chmod(folder, 0o755);
  const projects = path.join(folder, 'projects.json');
  await writeFile(projects, projectsFile({ projects: 1, computesPerProject: 1 }));
  const dataDir = path.join(folder, 'service');
  const service = await startLocalService({ dataDir, args: ['--projects', projects] });
  const api = `${service.baseUrl}/projects/${projectId(0)}`;
  const headers = { authorization: `Bearer ${service.key}` };
  const send = async (route: string, method = 'GET'): Promise<unknown> => {
    const response = await fetch(`${api}/${route}`, { method, headers });
    if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const endpoint = `endpoints/${computeId(0, 0)}`;
  const query = new URLSearchParams({
    endpoint_id: computeId(0, 0),
    role_name: 'app_owner',
    database_name: 'app',
  });
  const { uri } = (await send(`connection_uri?${query.toString()}`)) as { readonly uri: string };
  const branchData = path.join(dataDir, 'postgres', 'branches', 'br-0', 'data');
  return {
    uri,
    dataDir: branchData,
    async socket() {
      // Lines: process id, data directory, start time, port, socket folder.
      const lines = (await readFile(path.join(branchData, 'postmaster.pid'), 'utf8')).split('\n');
      return path.join(lines[4] ?? '', `.s.PGSQL.${lines[3]}`);
    },
    async suspend() {
      await send(`${endpoint}/suspend`, 'POST');
      const isIdle = async () => {
        const answer = (await send(endpoint)) as { readonly endpoint: Readonly<Record<string, unknown>> };
        return answer.endpoint['current_state'] === 'idle' && !answer.endpoint['pending_state'];
      };
      while (!(await isIdle())) await delay(2);
    },
    async stop() {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
