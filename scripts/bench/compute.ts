/** Starts a local service with one compute on a real Postgres. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { branchCalls, storageOf } from '../../test/helpers/branchCalls.ts';
import { startLocalService } from '../../test/helpers/localService.ts';

interface MeasuredCompute {
  /** The connection string, with a password in it. */
  readonly uri: string;
  /** Of the service. */
  readonly pid: number;
  /** The data directory of the branch. */
  readonly dataDir: string;
  /** Returns the Unix socket of the running Postgres. */
  socket(): Promise<string>;
  /** Resolves when Postgres has ended. */
  suspend(): Promise<void>;
  stop(): Promise<unknown>;
}

export async function startCompute(): Promise<MeasuredCompute> {
  const service = await startLocalService();
  const api = branchCalls(service);
  const created = await api.change('POST', '', { project: {} });
  const { project, branch, endpoints } = created;
  const dataDir = path.join(storageOf(service), 'branches', branch.id, 'data');
  return {
    uri: api.uri(created),
    pid: service.pid,
    dataDir,
    async socket() {
      // Lines: process id, data directory, start time, port, socket folder.
      const lines = (await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8')).split('\n');
      return path.join(lines[4] ?? '', `.s.PGSQL.${lines[3]}`);
    },
    async suspend() {
      await api.change('POST', `/${project.id}/endpoints/${endpoints[0]?.id}/suspend`);
    },
    stop: () => service.stop(),
  };
}
