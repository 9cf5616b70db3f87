/** One compute of a local service with a real Postgres, as its users reach it. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startLocalService } from '../helpers/localService.ts';
import { account, computeId, projectId } from './account.ts';

export interface MeasuredCompute {
  /** The connection string, with a password in it. */
  readonly uri: string;
  /** Where the branch's data lies. */
  readonly dataDir: string;
  /** Resolves when nothing runs any more. */
  suspend(): Promise<void>;
  stop(): Promise<void>;
}

export async function startCompute(): Promise<MeasuredCompute> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-bench-'));
  // Postgres will not run as root; the account it then runs as has to reach its data in here.
  await chmod(folder, 0o755);
  const projects = path.join(folder, 'projects.json');
  await writeFile(projects, JSON.stringify(account({ projects: 1, computesPerProject: 1 })));
  const dataDir = path.join(folder, 'service');
  const service = await startLocalService({ dataDir, args: ['--projects', projects] });
  const api = `${service.baseUrl}/projects/${projectId(0)}`;
  const headers = { authorization: `Bearer ${service.key}` };
  const ask = async (route: string, method = 'GET'): Promise<unknown> => {
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
  const { uri } = (await ask(`connection_uri?${query.toString()}`)) as { readonly uri: string };
  return {
    uri,
    dataDir: path.join(dataDir, 'postgres', 'branches', 'br-0', 'data'),
    async suspend() {
      // A connection that was just closed may still be on its way out.
      await ask(`${endpoint}/suspend`, 'POST');
      const isIdle = async () => {
        const answer = (await ask(endpoint)) as { readonly endpoint: Readonly<Record<string, unknown>> };
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
