/** Finds files, processes and ports of a service that no record names. Processes and ports on Linux only. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { readPostmasterPid } from '../../../../src/service/postgres/server/postmaster.ts';
import { branchCalls, storageOf, type Created } from '../../../helpers/branchCalls.ts';
import type { LocalService } from '../../../helpers/localService.ts';
import { processTree } from '../../../workbench/processes.ts';

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);

/** Kills the postmasters on a storage, but not their backends. */
export function killPostmasters(storage: string): void {
  for (const kind of ['branches', 'replicas'])
    for (const id of namesIn(path.join(storage, kind))) {
      const server = readPostmasterPid(path.join(storage, kind, id, 'data'));
      try {
        if (server !== undefined) process.kill(server.pid, 'SIGKILL');
      } catch {
        // It has just ended.
      }
    }
}

/**
 * @param kept ids of branches of deleted projects that can be recovered, which have data but no processes
 * @returns a line for each file, process and port that does not belong to the branches, snapshots and computes of the account
 */
export async function leftBehind(service: LocalService, kept: readonly string[] = []): Promise<string[]> {
  const api = branchCalls(service);
  const { projects } = await api.send<{ projects: { id: string }[] }>('GET', '?limit=400');
  const snapshotsOf = async (project: string) =>
    (await api.send<{ snapshots: { id: string }[] }>('GET', `/${project}/snapshots`)).snapshots;
  const withData = projects.flatMap(({ id }) => [api.branches(id), snapshotsOf(id)]);
  const branches = (await Promise.all(withData)).flat().map(({ id }) => id);
  const lists = projects.map(({ id }) => api.send<Created>('GET', `/${id}/endpoints`));
  const computes = (await Promise.all(lists)).flatMap(({ endpoints }) => endpoints.map(({ id }) => id));
  const storage = storageOf(service);
  const family = await processTree([service.pid]);
  // The API has one address and each compute two. Those of servers end with them.
  const isServer = (pid: number) => target(`/proc/${pid}/cwd`).endsWith('/data');
  const ports = [...new Set(family.filter((pid) => !isServer(pid)).flatMap(listeningPorts))];
  return [
    ...leftFiles(storage, [...branches, ...kept], computes),
    ...leftProcesses(storage, family, [...branches, ...computes]),
    ...(ports.length <= 1 + 2 * computes.length ? [] : [`ports ${String(ports)}`]),
  ];
}

function leftFiles(storage: string, branches: readonly string[], computes: readonly string[]): string[] {
  const within = (kind: string) => namesIn(path.join(storage, kind)).map((id) => ({ kind, id }));
  const folders = [
    ...['branches', 'branches-with-data'].flatMap(within).filter(({ id }) => !branches.includes(id)),
    ...['replicas', 'poolers'].flatMap(within).filter(({ id }) => !computes.includes(id)),
  ].map(({ kind, id }) => `${kind}/${id}`);
  const ofBranches = branches.flatMap((id) =>
    namesIn(path.join(storage, 'branches', id))
      .filter((name) => !/^(data|data\.lock|\w+\.json|replicas\.conf)$/.test(name))
      .map((name) => `branches/${id}/${name}`),
  );
  const unfinished = namesIn(storage).filter((name) => /\.new$|^initdb-password$|^settings-/.test(name));
  return [...folders, ...ofBranches, ...unfinished];
}

/** Programs on the storage that this service did not start, or on a folder that no record names. */
function leftProcesses(storage: string, family: readonly number[], ids: readonly string[]): string[] {
  const pids = namesOf('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const args = read(`/proc/${pid}/cmdline`).split('\0');
    const folder = [target(`/proc/${pid}/cwd`), ...args].find((each) => each.startsWith(storage));
    if (folder === undefined) return [];
    const isRecorded = folder.split(path.sep).some((name) => ids.includes(name));
    return isRecorded && family.includes(Number(pid)) ? [] : [`process ${pid} of ${folder}`];
  });
}

function listeningPorts(pid: number): number[] {
  const sockets = namesOf(`/proc/${pid}/fd`).map((fd) => target(`/proc/${pid}/fd/${fd}`));
  return ['tcp', 'tcp6'].flatMap((kind) =>
    read(`/proc/${pid}/net/${kind}`)
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === '0A' && sockets.includes(`socket:[${inode}]`))
      .map(([, local = '']) => parseInt(local.split(':')[1] ?? '', 16)),
  );
}

const orElse = <T>(other: T, work: () => T): T => {
  try {
    return work();
  } catch {
    return other; // The process has ended.
  }
};
const read = (file: string) => orElse('', () => readFileSync(file, 'utf8'));
const target = (link: string) => orElse('', () => readlinkSync(link));
const namesOf = (folder: string) => orElse<string[]>([], () => readdirSync(folder));
