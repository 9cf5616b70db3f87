/** Starts a service with prepared replies, and the extension's model connected to it, without VS Code. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { baseUrlOrUndefined, type BaseUrl } from '../../src/api/transport/baseUrl.ts';
import { connectModel as connectStores, type ConnectedModel } from '../../test/helpers/connectedModel.ts';
import type { AccountSize, ComputeState } from './sampleAccount.ts';

const KEY = 'bench-key';

export interface StubService {
  readonly baseUrl: BaseUrl;
  /** Changes the state of a compute. Resolves when later replies contain it. */
  setState(project: number, index: number, state: ComputeState): Promise<void>;
  stop(): Promise<void>;
}

export async function startStubService({ projects, computesPerProject }: AccountSize): Promise<StubService> {
  const args = [`${projects}`, `${computesPerProject}`];
  const child = fork(path.join(import.meta.dirname, 'stubServer.ts'), args, { execArgv: [] });
  const [port] = await once(child, 'message');
  const baseUrl = baseUrlOrUndefined(`http://127.0.0.1:${port}/api/v2`);
  if (baseUrl === undefined) throw new Error('The stub service sent no port');
  return {
    baseUrl,
    async setState(project, index, state) {
      const done = once(child, 'message');
      child.send({ project, index, state });
      await done;
    },
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

/** Counts all requests and the highest number of simultaneous ones. */
interface Traffic {
  requests: number;
  pending: number;
  mostPending: number;
}

export interface Model extends ConnectedModel {
  readonly traffic: Traffic;
}

/** Connects the model. It sends no request until it is used. */
export async function connectModel(service: Pick<StubService, 'baseUrl'>): Promise<Model> {
  const traffic: Traffic = { requests: 0, pending: 0, mostPending: 0 };
  const countingFetch: typeof globalThis.fetch = async (url, init) => {
    traffic.requests += 1;
    traffic.pending += 1;
    traffic.mostPending = Math.max(traffic.mostPending, traffic.pending);
    try {
      return await globalThis.fetch(url, init);
    } finally {
      traffic.pending -= 1;
    }
  };
  // Node keeps the signal of a request until its time limit, so it is short enough for the memory row to see it go.
  const client = { fetch: countingFetch, limits: { attempt: 800 } };
  return Object.assign(await connectStores(service, { key: KEY, client }), { traffic });
}

/** Sends the same request as the client, without any of its checks. */
export async function bareGet(url: string): Promise<unknown> {
  const headers = { accept: 'application/json', authorization: `Bearer ${KEY}` };
  return JSON.parse(await (await fetch(url, { headers })).text());
}
