/**
 * The calls of section 4, typed: base address and key in, checked records out, {@link ApiError} when not. Calls
 * that the specification does not promise answer undefined where the service does not offer them.
 */
import { ApiError } from './errors.ts';
import { Http, type CallOptions, type HttpOptions, type Method, type Reply } from './http.ts';
import { isApiKeyId, isComputeId, isId, isOperationId } from './ids.ts';
import { readEach, readOne, type Listed } from './reading.ts';
import * as records from './records.ts';
import type { ComputeChange, ComputeCreation } from './requests.ts';

export type { CallOptions, HttpOptions } from './http.ts';

/** A changed compute and what the service does about it. The compute is undefined when it was already gone (204). */
export interface ComputeOutcome {
  readonly compute: records.Compute | undefined;
  readonly operations: readonly records.Operation[];
}

/** One page of the project list, in the service's order. */
export interface ProjectPage extends Listed<records.Project> {
  /** Ids the service knows but has no details of just now. */
  readonly unavailable: readonly string[];
}

export interface ConnectionUriQuery {
  readonly computeId: string;
  readonly branchId: string;
  readonly role: string;
  readonly database: string;
  readonly pooled: boolean;
}

/** Projects per page: the public service's maximum. */
export const PROJECTS_PER_PAGE = 400;

const segment = (value: string | number, isGood: boolean, what: string): string => {
  if (isGood) return String(value);
  throw new ApiError(`${JSON.stringify(value)} is not ${what}`, { kind: 'invalidRequest' });
};
const projectPath = (id: string) => `/projects/${segment(id, isId(id), 'a project id')}`;
const computesPath = (projectId: string) => `${projectPath(projectId)}/endpoints`;
const computePath = (projectId: string, id: string) =>
  `${computesPath(projectId)}/${segment(id, isComputeId(id), 'a compute id')}`;

export class Client {
  readonly #http: Http;

  constructor(options: HttpOptions) {
    this.#http = new Http(options);
  }

  /** Section 4.1. @throws {ApiError} refused with 403 for an organisation's key, which may not see account routes. */
  async listApiKeys(options?: CallOptions): Promise<Listed<records.ApiKey>> {
    const reply = await this.#http.call('get', '/api_keys', {}, options);
    return readEach('GET /api_keys', reply, undefined, records.ApiKey);
  }

  /** Section 4.1. The key's value is in this result only. */
  async createApiKey(name: string, options?: CallOptions): Promise<records.CreatedApiKey> {
    const reply = await this.#http.call('post', '/api_keys', { body: { key_name: name } }, options);
    return readOne('POST /api_keys', reply, undefined, records.CreatedApiKey);
  }

  /** Section 4.1. Immediate and irreversible (section 3.3). */
  async revokeApiKey(id: number, options?: CallOptions): Promise<records.RevokedApiKey> {
    const path = `/api_keys/${segment(id, isApiKeyId(id), 'an API key id')}`;
    const reply = await this.#http.call('delete', path, {}, options);
    return readOne('DELETE /api_keys/{key_id}', reply, undefined, records.RevokedApiKey);
  }

  /** Section 4.2, all pages: each is given as it arrives. @param organizationId sent as `org_id` */
  async *projectPages(organizationId?: string, options?: CallOptions): AsyncGenerator<ProjectPage, void> {
    const seen = new Set<string>();
    for (let cursor: string | undefined; ;) {
      const query = { limit: PROJECTS_PER_PAGE, cursor, org_id: organizationId };
      const reply = await this.#http.call('get', '/projects', { query }, options);
      const page = readEach('GET /projects', reply, 'projects', records.Project);
      const unavailable = unavailableIds(reply);
      yield { ...page, unavailable };
      const next = nextCursor(reply);
      // The last page may carry a cursor too: a short page or a cursor seen before is the end.
      const count = page.items.length + page.unreadable.length + unavailable.length;
      if (next === undefined || seen.has(next) || count < PROJECTS_PER_PAGE) return;
      seen.add(next);
      cursor = next;
    }
  }

  /** Section 4.3. */
  async listComputes(projectId: string, options?: CallOptions): Promise<Listed<records.Compute>> {
    const reply = await this.#http.call('get', computesPath(projectId), {}, options);
    return readEach('GET /projects/{project_id}/endpoints', reply, 'endpoints', records.Compute);
  }

  /** Section 4.3. @throws {ApiError} refused when the branch already has a primary. */
  createCompute(
    projectId: string,
    endpoint: ComputeCreation,
    options?: CallOptions,
  ): Promise<ComputeOutcome> {
    return this.#change('post', computesPath(projectId), { endpoint }, options);
  }

  /** Section 4.3; only what is in `endpoint` changes. */
  updateCompute(
    projectId: string,
    id: string,
    endpoint: ComputeChange,
    options?: CallOptions,
  ): Promise<ComputeOutcome> {
    return this.#change('patch', computePath(projectId, id), { endpoint }, options);
  }

  /** Section 4.3; permanent (section 3.4). */
  deleteCompute(projectId: string, id: string, options?: CallOptions): Promise<ComputeOutcome> {
    return this.#change('delete', computePath(projectId, id), undefined, options);
  }

  /** Section 4.3; existing connections are interrupted. */
  restartCompute(projectId: string, id: string, options?: CallOptions): Promise<ComputeOutcome> {
    return this.#change('post', `${computePath(projectId, id)}/restart`, undefined, options);
  }

  /** Not promised by the specification. @returns undefined where the service does not offer the call or knows no such operation */
  async findOperation(
    projectId: string,
    id: string,
    options?: CallOptions,
  ): Promise<records.Operation | undefined> {
    const path = `${projectPath(projectId)}/operations/${segment(id, isOperationId(id), 'an operation id')}`;
    const reply = await this.#ifOffered(() => this.#http.call('get', path, {}, options));
    return reply && readOne('GET …/operations/{operation_id}', reply, 'operation', records.Operation);
  }

  /** Not promised by the specification; the result holds a password and is a secret. @returns undefined where it is not offered */
  async findConnectionUri(
    projectId: string,
    wanted: ConnectionUriQuery,
    options?: CallOptions,
  ): Promise<string | undefined> {
    const path = `${projectPath(projectId)}/connection_uri`;
    const query = {
      endpoint_id: wanted.computeId,
      branch_id: wanted.branchId,
      role_name: wanted.role,
      database_name: wanted.database,
      pooled: wanted.pooled,
    };
    const reply = await this.#ifOffered(() => this.#http.call('get', path, { query }, options));
    return reply && readOne('GET …/connection_uri', reply, undefined, records.ConnectionUri).uri;
  }

  async #change(method: Method, path: string, body: unknown, options?: CallOptions): Promise<ComputeOutcome> {
    const reply = await this.#http.call(method, path, body === undefined ? {} : { body }, options);
    if (reply.json === undefined) return { compute: undefined, operations: [] };
    const what = `${method.toUpperCase()} ${path}`;
    const operations = hasOperations(reply)
      ? readEach(what, reply, 'operations', records.Operation).items
      : [];
    return { compute: readOne(what, reply, 'endpoint', records.Compute), operations };
  }

  async #ifOffered(call: () => Promise<Reply>): Promise<Reply | undefined> {
    try {
      return await call();
    } catch (error) {
      const fault = error instanceof ApiError ? error.fault : undefined;
      if (fault?.kind === 'refused' && (fault.status === 404 || fault.status === 405)) return undefined;
      throw error;
    }
  }
}

const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const hasOperations = (reply: Reply): boolean => Array.isArray(asObject(reply.json)['operations']);

const nextCursor = (reply: Reply): string | undefined => {
  const cursor = asObject(asObject(reply.json)['pagination'])['cursor'];
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
};

const unavailableIds = (reply: Reply): readonly string[] => {
  const ids = asObject(reply.json)['unavailable_project_ids'];
  return Array.isArray(ids) ? ids.filter(isId) : [];
};
