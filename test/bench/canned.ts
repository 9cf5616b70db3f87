/** Starts a service of ready answers, and the extension's model on it: everything of the extension but VS Code. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { baseUrlOrUndefined, type BaseUrl } from '../../src/api/baseUrl.ts';
import type { Fetch } from '../../src/api/attempt.ts';
import { Client, fetchFor } from '../../src/api/client.ts';
import { Emitter } from '../../src/base/event.ts';
import { Accounts, type SecretStore } from '../../src/model/accounts.ts';
import { Inventory } from '../../src/model/inventory.ts';
import { Session } from '../../src/model/session.ts';
import type { AccountSize } from './account.ts';
import type { ComputeState } from './cannedRecords.ts';

export const KEY = 'key-of-the-bench';

/** A service that takes {@link KEY}. */
export interface Service {
  readonly baseUrl: BaseUrl;
}

export interface Canned extends Service {
  /** Gives a compute another state; resolves when it is answered. */
  set(project: number, index: number, state: ComputeState): Promise<void>;
  stop(): Promise<void>;
}

export async function startCanned({ projects, computesPerProject }: AccountSize): Promise<Canned> {
  const args = [`${projects}`, `${computesPerProject}`];
  const child = fork(path.join(import.meta.dirname, 'cannedServer.ts'), args, {
    execArgv: ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'],
  });
  const [port] = await once(child, 'message');
  const baseUrl = baseUrlOrUndefined(`http://127.0.0.1:${port}/api/v2`);
  if (baseUrl === undefined) throw new Error('The canned service told no port');
  return {
    baseUrl,
    async set(project, index, state) {
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

/** Every request that went out, and how many were under way together at most. */
export interface Traffic {
  requests: number;
  underway: number;
  most: number;
}

export interface Model {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly traffic: Traffic;
  dispose(): void;
}

/** Signs in; asks for nothing by itself. @param fetch by default what the extension would take for this address */
export async function startModel({ baseUrl }: Service, fetch: Fetch = fetchFor(baseUrl)): Promise<Model> {
  const traffic: Traffic = { requests: 0, underway: 0, most: 0 };
  const counted: Fetch = async (url, init) => {
    traffic.requests += 1;
    traffic.underway += 1;
    traffic.most = Math.max(traffic.most, traffic.underway);
    try {
      return await fetch(url, init);
    } finally {
      traffic.underway -= 1;
    }
  };
  const accounts = new Accounts(secretsInMemory());
  await accounts.add({ baseUrl, name: '' }, KEY);
  const session = new Session(accounts, async (account, key) => {
    return new Client({ baseUrl: account.baseUrl, key, fetch: counted });
  });
  const inventory = new Inventory(session, () => undefined);
  await session.start();
  const dispose = () => {
    inventory.dispose();
    session.dispose();
    accounts.dispose();
  };
  return { session, inventory, traffic, dispose };
}

function secretsInMemory(): SecretStore {
  const entries = new Map<string, string>();
  const changed = new Emitter<string>();
  const store = async (entry: string, value: string) => {
    entries.set(entry, value);
    changed.fire(entry);
  };
  return {
    get: async (entry) => entries.get(entry),
    store,
    keep: store,
    async delete(entry) {
      entries.delete(entry);
      changed.fire(entry);
    },
    onDidChange: changed.event,
  };
}

/** The least a client can do: the same request, its text, its JSON. */
export async function bareGet(url: string): Promise<unknown> {
  const headers = { accept: 'application/json', authorization: `Bearer ${KEY}` };
  return JSON.parse(await (await fetch(url, { headers })).text());
}
