/** The calls for databases and roles of a branch, on a local service with Postgres. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { call, type RawReply } from '../../../../helpers/call.ts';
import { temporaryFolder, type LocalService } from '../../../../helpers/localService.ts';
import { connectTo } from '../clients.ts';
import { until } from '../../../../workbench/until.ts';

export const PROJECT = 'shiny-wind-028834';
/** A branch with an idle primary, and one without computes. */
export const BRANCH = 'br-aged-salad-637688';
export const WITHOUT_COMPUTE = 'br-frosty-lake-110382';

/** Arguments for a service with these branches, in which there are no tables. */
export function emptyBranches(): string[] {
  const file = path.join(temporaryFolder(), 'empty.json');
  const main = { id: BRANCH, name: 'main', default: true, computes: [{ type: 'read_write' }] };
  const branches = [main, { id: WITHOUT_COMPUTE, name: 'before-migration' }];
  writeFileSync(file, JSON.stringify({ projects: [{ id: PROJECT, name: 'shop', branches }] }));
  return ['--projects', file];
}

export interface Reply extends RawReply {
  /** The body, if it is an object. */
  readonly body: Readonly<Record<string, unknown>>;
}

type Kind = 'databases' | 'roles';
export type RejectedRequest = readonly [status: number, method: string, path: string, body?: unknown];

export function branchApi(service: () => LocalService, branch = BRANCH) {
  const project = async (method: string, path: string, body?: unknown): Promise<Reply> => {
    const { baseUrl, key } = service();
    const reply = await call(baseUrl, { method, path: `/projects/${PROJECT}${path}`, key, body });
    return { ...reply, body: Object(reply.json) as Record<string, unknown> };
  };
  const on = async (method: string, path: string, body?: unknown) =>
    project(method, `/branches/${branch}${path}`, body);
  const uri = async (role: string, database: string, more: Readonly<Record<string, string>> = {}) => {
    const query = new URLSearchParams({
      role_name: role,
      database_name: database,
      branch_id: branch,
      ...more,
    });
    return project('GET', `/connection_uri?${query.toString()}`);
  };
  const names = async (kind: Kind) => {
    const { body, text } = await on('GET', `/${kind}`);
    const list = body[kind];
    assert(Array.isArray(list), text);
    return list.map(({ name }: { readonly name: string }) => name);
  };
  const primary = async () =>
    until('the primary has settled', async () => {
      const { items } = await service().client.listComputes(PROJECT);
      const found = items.find(({ branch_id, type }) => branch_id === branch && type === 'read_write');
      return found?.pending_state === undefined ? found : undefined;
    });
  return {
    project,
    get: (path: string) => on('GET', path),
    post: (path: string, body?: unknown) => on('POST', path, body),
    patch: (path: string, body: unknown) => on('PATCH', path, body),
    remove: (path: string) => on('DELETE', path),
    createDatabase: (name: string, owner = 'app_owner') =>
      on('POST', '/databases', { database: { name, owner_name: owner } }),
    createRole: (name: string, more: object = {}) => on('POST', '/roles', { role: { name, ...more } }),
    names,
    /** Sends requests, each of which must be rejected with its status and change nothing. The paths begin after the kind. */
    async expectRejections(kind: Kind, rejected: readonly RejectedRequest[]) {
      const before = await names(kind);
      for (const [status, method, path, sent] of rejected) {
        const reply = await on(method, `/${kind}${path}`, sent);
        assert.equal(reply.status, status, `${method} ${path} ${JSON.stringify(sent)}`);
        assert.deepEqual(Object.keys(reply.body).toSorted(), ['code', 'message', 'request_id']);
      }
      assert.deepEqual(await names(kind), before);
    },
    /** The reply to the call for a connection URI. */
    askForUri: uri,
    /** A connection URI. */
    async uri(role = 'app_owner', database = 'app', more: Readonly<Record<string, string>> = {}) {
      const { body, text } = await uri(role, database, more);
      assert(typeof body['uri'] === 'string', text);
      return body['uri'];
    },
    /** Resolves when the branch can go back to now. */
    async waitForHistory() {
      const past = () => on('GET', `/schema?db_name=app&timestamp=${new Date().toISOString()}`);
      await until('the history', async () => (await past()).status === 200);
    },
    async waitForNoConnections() {
      const { id } = await primary();
      await until('no connections', async () => {
        const { body } = await project('GET', `/endpoints/${id}`);
        return Object(body['endpoint']).connections === 0;
      });
    },
    /** Resolves when the branch's primary is idle. */
    async suspend() {
      await project('POST', `/endpoints/${(await primary()).id}/suspend`);
      await primary();
    },
    /** The state of the branch's primary when no change of it is pending. */
    state: async () => (await primary()).current_state,
  };
}

export type BranchApi = ReturnType<typeof branchApi>;

/** Names that need quoting, in SQL and in URLs. */
export const ODD_NAMES = [
  'with space',
  `both 'quotes" and \\`,
  'semi; drop database app; --',
  'größe/日本語/🐘',
  '%s $1 ?x=1#y&z',
  'UPPER',
  'select',
  '__proto__',
  'x'.repeat(63),
  'ü'.repeat(31),
];

/** Runs a statement. The driver itself doesn't decode every character of a database's name. @returns all values */
export async function queryAt(uri: string, sql: string): Promise<unknown[]> {
  const { username, password, hostname, port, pathname } = new URL(uri);
  const [user, secret, database] = [username, password, pathname.slice(1)].map(decodeURIComponent);
  const options = { host: hostname, port: Number(port), user, password: secret, database };
  const client = await connectTo('', options);
  try {
    return (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

export const encoded = encodeURIComponent;
