/** Requests for projects and branches, so that tests of the service don't depend on the extension's client. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '../workbench/until.ts';
import { call } from './call.ts';
import { temporaryFolder } from './localService.ts';

export interface Branch {
  readonly id: string;
  readonly name: string;
  readonly parent_id?: string;
  readonly parent_lsn?: string;
  readonly current_state: string;
  readonly default: boolean;
  readonly protected: boolean;
  readonly expires_at?: string;
  readonly logical_size?: number;
  readonly history_size?: number;
}

interface Operation {
  readonly id: string;
  readonly action: string;
  readonly status: string;
  readonly error?: string;
}

export interface Created {
  readonly project: { readonly id: string; readonly name: string };
  readonly branch: Branch;
  readonly endpoints: readonly { readonly id: string; readonly branch_id: string; readonly host: string }[];
  readonly operations: readonly Operation[];
  readonly roles: readonly { readonly name: string }[];
  readonly databases: readonly { readonly id: number; readonly name: string; readonly owner_name: string }[];
  readonly connection_uris: readonly { readonly connection_uri: string }[];
}

export interface Api {
  /** @returns the reply's body, if the status is the expected one */
  send<T = Created>(method: string, address: string, body?: unknown, status?: number): Promise<T>;
  branches(project: string): Promise<readonly Branch[]>;
  /** Waits until the operations have ended. @throws if one failed */
  finish(project: string, operations: readonly Operation[]): Promise<void>;
  /** Sends a change and waits for its operations. Sends it again after 423. */
  change(method: string, address: string, body?: unknown): Promise<Created>;
  /** Creates a branch with a primary, by default of the default branch. */
  createBranch(project: string, branch?: object): Promise<Created>;
  /** Returns the first connection URI of a created branch or project. */
  uri(created: Created): string;
}

export function branchCalls(service: { readonly baseUrl: string; readonly key: string }): Api {
  const { baseUrl, key } = service;
  const send = async <T>(method: string, address: string, body?: unknown, status?: number): Promise<T> => {
    const reply = await call(baseUrl, { method, path: `/projects${address}`, body, key });
    assert.equal(
      reply.status,
      status ?? (method === 'POST' ? 201 : 200),
      `${method} ${address}: ${reply.text}`,
    );
    return reply.json as T;
  };
  const finish = async (project: string, operations: readonly Operation[]) => {
    for (const { id, action } of operations) {
      let last: Operation | undefined;
      await until(`${action} has ended`, async () => {
        const address = `/${project}/operations/${id}`;
        last = (await send<{ operation: Operation }>('GET', address)).operation;
        return !['scheduling', 'running'].includes(last.status);
      });
      assert.equal(last?.status, 'finished', `${action}: ${last?.error}`);
    }
  };
  const change = async (method: string, address: string, body?: unknown): Promise<Created> => {
    let reply: Awaited<ReturnType<typeof call>> | undefined;
    await until(`${method} ${address} is not locked`, async () => {
      reply = await call(baseUrl, { method, path: `/projects${address}`, body, key });
      return reply.status !== 423;
    });
    assert([200, 201].includes(reply?.status ?? 0), `${method} ${address}: ${reply?.text}`);
    const result = reply?.json as Created;
    const project = address.split('/')[1] ?? result.project.id;
    await finish(project, result.operations);
    return result;
  };
  return {
    send,
    finish,
    change,
    createBranch: (project, branch = {}) =>
      change('POST', `/${project}/branches`, { branch, endpoints: [{ type: 'read_write' }] }),
    branches: async (project) => (await send<{ branches: Branch[] }>('GET', `/${project}/branches`)).branches,
    uri: ({ connection_uris: [first] }) => first?.connection_uri ?? assert.fail('no connection URI'),
  };
}

/** Arguments for a service with an account without projects. */
export function emptyAccount(): string[] {
  const file = path.join(temporaryFolder(), 'account.json');
  writeFileSync(file, JSON.stringify({ projects: [] }));
  return ['--projects', file];
}

/** Where the service keeps the data of branches. */
export function storageOf({ dataDir }: { readonly dataDir: string }): string {
  const note = path.join(dataDir, 'postgres-folder');
  return existsSync(note) ? readFileSync(note, 'utf8') : path.join(dataDir, 'postgres');
}
