/**
 * The memory of the service for each idle branch and each open client, and of the extension for 200 expanded projects. Each is
 * compared with the least that does the same: a server that listens and has the branch's records, a relay of two piped sockets, and
 * the parsed replies.
 */
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { branchCalls } from '../../test/helpers/branchCalls.ts';
import { startLocalService, temporaryFolder } from '../../test/helpers/localService.ts';
import { connectTo } from '../../test/real/service/postgres/clients.ts';
import { until } from '../../test/workbench/until.ts';
import { startCompute } from './compute.ts';
import { reachableBytes, settledBytes } from './heap.ts';
import { startProgram } from './program.ts';
import { kilobytes, type Result } from './result.ts';
import { projectId } from './sampleAccount.ts';
import { bareGet, connectModel, startStubService } from './stubService.ts';

const BRANCHES = 40;
const CLIENTS = 50;
const PROJECTS = 200;
const COMPUTES = 100;
/** The extension also keeps the texts of lists, by which it recognizes unchanged ones without parsing. */
const GOALS = { branch: 4, client: 2, model: 3.5 };

export async function measure(): Promise<readonly Result[]> {
  return [await measureBranches(), await measureClients(), await measureModel()];
}

async function measureBranches(): Promise<Result> {
  const snapshots = new Snapshots();
  const service = await snapshots.start(() => startLocalService());
  try {
    const api = branchCalls(service);
    const { project } = await api.change('POST', '', { project: {} });
    const create = async () => api.createBranch(project.id);
    const suspend = async ({ endpoints }: Awaited<ReturnType<typeof create>>) =>
      api.change('POST', `/${project.id}/endpoints/${endpoints[0]?.id}/suspend`);
    const first = await create();
    await suspend(first);
    const ours = await growth(
      async () => snapshots.bytes(service.pid),
      async () => {
        for (let count = 0; count < BRANCHES; count += 1) await suspend(await create());
      },
    );
    const records = JSON.stringify([first.branch, first.endpoints, first.roles, first.databases]);
    const kept: unknown[] = [];
    const bare = await growth(settledBytes, async () => {
      for (let count = 0; count < BRANCHES; count += 1)
        kept.push(JSON.parse(records), net.createServer().listen(0, '127.0.0.1'));
    });
    for (const each of kept) if (each instanceof net.Server) each.close();
    return row({
      what: 'memory, idle branch',
      ours,
      bare,
      count: BRANCHES,
      goal: GOALS.branch,
      than: 'server and records',
    });
  } finally {
    await service.stop();
  }
}

async function measureClients(): Promise<Result> {
  const snapshots = new Snapshots();
  const compute = await snapshots.start(startCompute);
  const relayScript = path.join(import.meta.dirname, 'relay.ts');
  try {
    const uri = new URL(compute.uri);
    const open = async (pid: number, port: string) => {
      const clients: Awaited<ReturnType<typeof connectTo>>[] = [];
      const connect = async () => clients.push(await connectTo(Object.assign(new URL(uri), { port }).href));
      await connect();
      const bytes = await growth(
        async () => snapshots.bytes(pid),
        async () => {
          for (let count = 0; count < CLIENTS; count += 1) await connect();
        },
      );
      await Promise.all(clients.map(async (client) => client.end()));
      return bytes;
    };
    const ours = await open(compute.pid, uri.port);
    const socket = await compute.socket();
    const relay = await snapshots.start(() => startProgram(process.execPath, [relayScript, socket]));
    const bare = await open(relay.child.pid ?? 0, relay.line);
    await relay.stop();
    return row({
      what: 'memory, open client',
      ours,
      bare,
      count: CLIENTS,
      goal: GOALS.client,
      than: 'minimal relay',
    });
  } finally {
    await compute.stop();
  }
}

async function measureModel(): Promise<Result> {
  const service = await startStubService({ projects: PROJECTS, computesPerProject: COMPUTES });
  const model = await connectModel(service);
  const ids = Array.from({ length: PROJECTS }, (_, index) => projectId(index));
  try {
    const ours = await growth(settledBytes, async () => {
      await model.inventory.projects?.load();
      await model.inventory.loadComputesOf(ids);
    });
    const kept: unknown[] = [];
    const bare = await growth(settledBytes, async () => {
      for (const id of ids)
        for (const list of ['endpoints', 'branches'])
          kept.push(await bareGet(`${service.baseUrl}/projects/${id}/${list}`));
    });
    return row({
      what: `memory, ${PROJECTS} projects`,
      ours,
      bare,
      count: PROJECTS,
      goal: GOALS.model,
      than: `parsed replies (${kept.length})`,
    });
  } finally {
    model.dispose();
    await service.stop();
  }
}

async function growth(bytes: () => Promise<number>, work: () => Promise<void>): Promise<number> {
  const before = await bytes();
  await work();
  return (await bytes()) - before;
}

interface Comparison {
  readonly what: string;
  readonly ours: number;
  readonly bare: number;
  readonly count: number;
  readonly goal: number;
  readonly than: string;
}

function row({ what, ours, bare, count, goal, than }: Comparison): Result {
  return {
    what,
    ours: kilobytes(ours / count),
    baseline: `${kilobytes(bare / count)} ${than}`,
    ratio: ours / bare,
    goal: `≤ ${goal} ×`,
    met: ours / bare <= goal,
    note: `each of ${count}, reachable after garbage collection`,
  };
}

/** Heap snapshots of other Node processes, which write one when they get a signal. */
class Snapshots {
  readonly #folder = temporaryFolder();

  constructor() {
    // The service doesn't run as root.
    chmodSync(this.#folder, 0o1777);
  }

  /** Starts a process that can be measured. */
  async start<T>(start: () => Promise<T>): Promise<T> {
    process.env.NODE_OPTIONS = `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${this.#folder}`;
    try {
      return await start();
    } finally {
      delete process.env.NODE_OPTIONS;
    }
  }

  async bytes(pid: number): Promise<number> {
    await delay(SETTLING);
    process.kill(pid, 'SIGUSR2');
    return until('a heap snapshot', async () => {
      const [name] = readdirSync(this.#folder);
      if (name === undefined) return undefined;
      const file = path.join(this.#folder, name);
      try {
        const bytes = reachableBytes(readFileSync(file, 'utf8'));
        rmSync(file);
        return bytes;
      } catch (error) {
        if (error instanceof SyntaxError) return undefined; // It is still being written.
        throw error;
      }
    });
  }
}

/** Milliseconds until what was just closed is released. */
const SETTLING = 1000;
