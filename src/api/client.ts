/**
 * The calls of section 4, typed: base address and key in, checked records out, {@link ApiError} when not. Calls
 * that the specification does not promise answer undefined where the service does not offer them.
 */
import { hostOfUri, isSameHost } from './records/connectionUri.ts';
import { ApiError } from './errors.ts';
import type { ReplyBytes } from './transport/replyBytes.ts';
import { Http, type CallOptions, type HttpOptions, type Method, type Reply } from './transport/http.ts';
import { isApiKeyId, isComputeId, isId, isOperationId } from './records/ids.ts';
import { pageReplies, PROJECTS_PER_PAGE, unavailableIds } from './projectPages.ts';
import { property, readEach, readOne, type Listed } from './records/parseResponse.ts';
import * as records from './records/records.ts';
import type { ComputeChange, ComputeCreation } from './records/requests.ts';

export type { CallOptions, HttpOptions } from './transport/http.ts';
export { fetchFor } from './transport/loopbackFetch.ts';
export { PROJECTS_PER_PAGE } from './projectPages.ts';

/** A changed compute and what the service does about it. The compute is undefined where the reply does not tell it. */
export interface ComputeOutcome {
  readonly compute: records.Compute | undefined;
  readonly operations: readonly records.Operation[];
}

/** One page of the project list, in the service's order. */
export interface ProjectPage extends Listed<records.Project> {
  /** Ids the service knows but has no details of just now. */
  readonly unavailable: readonly string[];
}

/** A list, or that it is the same as the last one. */
export type ListedAgain<T> =
  | { readonly isSame: true }
  | { readonly isSame: false; readonly list: Listed<T>; readonly bytes: ReplyBytes };

export interface PagesOptions extends CallOptions {
  /** Asks for each page while the one before it is read and used; for whoever wants them all. */
  readonly ahead?: boolean;
}

export interface ConnectionUriQuery {
  readonly computeId: string;
  readonly branchId: string;
  readonly role: string;
  readonly database: string;
  readonly pooled: boolean;
  /** The host that the URI must lead to; not sent. */
  readonly host: string;
}

const segment = (value: string | number, isGood: boolean, what: string): string => {
  if (isGood) return String(value);
  const shown = JSON.stringify(String(value).slice(0, 60));
  throw new ApiError(`${shown} is not ${what}`, { kind: 'invalidRequest' });
};
const projectPath = (id: string) => `/projects/${segment(id, isId(id), 'a project id')}`;
const computesPath = (projectId: string) => `${projectPath(projectId)}/endpoints`;
const computePath = (projectId: string, id: string) =>
  `${computesPath(projectId)}/${segment(id, isComputeId(id), 'a compute id')}`;

const isWithout = (json: unknown, name: string): boolean =>
  typeof json === 'object' && !Array.isArray(json) && property(json, name) === undefined;

const readComputes = (reply: Reply): Listed<records.Compute> =>
  readEach('GET /projects/{project_id}/endpoints', reply, 'endpoints', records.Compute);

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
  async *projectPages(organizationId?: string, options?: PagesOptions): AsyncGenerator<ProjectPage, void> {
    const ask = (cursor: string | undefined) => {
      const query = { limit: PROJECTS_PER_PAGE, cursor, org_id: organizationId };
      return this.#http.call('get', '/projects', { query }, options);
    };
    for await (const reply of pageReplies(ask, options?.ahead === true)) {
      const page = readEach('GET /projects', reply, 'projects', records.Project);
      yield { ...page, unavailable: unavailableIds(reply) };
    }
  }

  /** Section 4.3. */
  async listComputes(projectId: string, options?: CallOptions): Promise<Listed<records.Compute>> {
    const reply = await this.#http.call('get', computesPath(projectId), {}, options);
    return readComputes(reply);
  }

  /**
   * As `listComputes`, for whoever keeps what it answered. A reply that is byte for byte the last one tells nothing new,
   * so it is neither parsed nor checked.
   * @param last the bytes that came with the list that is kept; undefined when what is kept is no longer that list
   */
  async listComputesIfChanged(
    projectId: string,
    last: ReplyBytes | undefined,
    options?: CallOptions,
  ): Promise<ListedAgain<records.Compute>> {
    const again = await this.#http.callAgain(computesPath(projectId), last, options);
    if (again.isSame) return again;
    const list = readComputes(again.reply);
    return { isSame: false, list, bytes: again.bytes };
  }

  /** Section 4.3. @throws {ApiError} refused when the branch already has a primary. */
  async createCompute(
    projectId: string,
    endpoint: ComputeCreation,
    options?: CallOptions,
  ): Promise<ComputeOutcome> {
    return this.#change('post', computesPath(projectId), { endpoint }, options);
  }

  /** Section 4.3; only what is in `endpoint` changes. */
  async updateCompute(
    projectId: string,
    id: string,
    endpoint: ComputeChange,
    options?: CallOptions,
  ): Promise<ComputeOutcome> {
    return this.#change('patch', computePath(projectId, id), { endpoint }, options);
  }

  /** Section 4.3; permanent (section 3.4). No compute in the outcome when it was already gone. */
  async deleteCompute(projectId: string, id: string, options?: CallOptions): Promise<ComputeOutcome> {
    return this.#change('delete', computePath(projectId, id), undefined, options);
  }

  /** Section 4.3; existing connections are interrupted. What it answers is not specified, so it may be nothing. */
  async restartCompute(projectId: string, id: string, options?: CallOptions): Promise<ComputeOutcome> {
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

  /**
   * Not promised by the specification; the result holds a password and is a secret.
   * @returns undefined if it is not offered @throws {ApiError} also for a URI that leads to another host
   */
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
    if (reply === undefined) return undefined;
    const { uri } = readOne('GET …/connection_uri', reply, undefined, records.ConnectionUri);
    const host = hostOfUri(uri);
    if (isSameHost(host, wanted.host)) return uri;
    throw new ApiError('GET …/connection_uri answered for another host', {
      kind: 'unexpectedReply',
      status: reply.status,
      reason: 'host',
      detail: host,
    });
  }

  async #change(method: Method, path: string, body?: object, options?: CallOptions): Promise<ComputeOutcome> {
    const reply = await this.#http.call(method, path, body === undefined ? {} : { body }, options);
    const isEmpty = reply.json === undefined || (method === 'post' && isWithout(reply.json, 'endpoint'));
    if (isEmpty && body === undefined) return { compute: undefined, operations: [] };
    const what = `${method.toUpperCase()} ${path}`;
    const compute = readOne(what, reply, 'endpoint', records.Compute);
    const hasOperations = Array.isArray(property(reply.json, 'operations'));
    const operations = hasOperations ? readEach(what, reply, 'operations', records.Operation).items : [];
    return { compute, operations };
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
