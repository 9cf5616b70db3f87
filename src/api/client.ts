/**
 * The calls of section 4, typed: they return checked records or throw an {@link ApiError}. Calls to read that the
 * specification doesn't promise return undefined if the service doesn't offer them.
 */
import { fieldsOf } from '../base/fieldsOf.ts';
import { isSameHost, readConnectionUri, type Credentials } from './records/connectionUri.ts';
import { AccountCalls } from './accountCalls.ts';
import { BranchCalls } from './branchCalls.ts';
import { ApiError } from './errors.ts';
import { Http, type CallOptions, type HttpOptions, type Method, type Reply } from './transport/http.ts';
import {
  branchPath,
  computePath,
  computesPath,
  projectPath,
  PROJECTS_PER_PAGE,
  rolePath,
  segment,
} from './paths.ts';
import { isApiKeyId, isOperationId } from './records/ids.ts';
import { projectPages, type ProjectPage } from './projectPages.ts';
import {
  parseList,
  parseOptionalList,
  parseRecord,
  type ListReply,
  type ParsedList,
} from './records/parseResponse.ts';
import * as records from './records/records.ts';
import type { ComputePatch, ComputeCreation, ProjectCreation } from './records/requests.ts';

export type { CallOptions, HttpOptions } from './transport/http.ts';
export type { ProjectPage } from './projectPages.ts';

/** A changed compute, if the reply contains it, and the operations that the change started. */
export interface ComputeOutcome {
  readonly compute: records.Compute | undefined;
  readonly operations: readonly records.Operation[];
}

/** A new project, and the operations that its creation started. */
interface ProjectOutcome {
  readonly project: records.Project;
  readonly operations: readonly records.Operation[];
}

/** The new password is a secret, and valid once the operations have finished. */
export interface ResetPassword {
  readonly password: string;
  readonly operations: readonly records.Operation[];
}

export interface LoginQuery {
  readonly computeId: string;
  readonly branchId: string;
  readonly role: string;
  readonly database: string;
  readonly pooled: boolean;
  /** The expected host of the result. Not sent to the service. */
  readonly host: string;
}

const isWithoutCompute = (json: unknown): boolean =>
  typeof json === 'object' && !Array.isArray(json) && fieldsOf(json)['endpoint'] === undefined;

const readComputes = (reply: Reply): ParsedList<records.Compute> =>
  parseList(reply, 'endpoints', records.Compute);

const readProject = (reply: Reply): ProjectOutcome => ({
  project: parseRecord(reply, 'project', records.Project),
  operations: parseOptionalList(reply, 'operations', records.Operation),
});

export class Client {
  readonly #http: Http;
  readonly branches: BranchCalls;
  readonly account: AccountCalls;

  constructor(options: HttpOptions) {
    this.#http = new Http(options);
    this.branches = new BranchCalls(this.#http);
    this.account = new AccountCalls(this.#http);
  }

  /**
   * Lists the account's keys (section 4.1).
   * @throws {ApiError} of kind `rejected` with 403 for an organization's key, which has no access to account routes
   */
  async listApiKeys(options?: CallOptions): Promise<ParsedList<records.ApiKey>> {
    const reply = await this.#http.call('GET', '/api_keys', {}, options);
    return parseList(reply, undefined, records.ApiKey);
  }

  /** Creates a key (section 4.1). No other call returns its value. */
  async createApiKey(name: string, options?: CallOptions): Promise<records.CreatedApiKey> {
    const reply = await this.#http.call('POST', '/api_keys', { body: { key_name: name } }, options);
    return parseRecord(reply, undefined, records.CreatedApiKey);
  }

  /** Revokes a key at once and irreversibly (sections 4.1 and 3.3). */
  async revokeApiKey(id: number, options?: CallOptions): Promise<records.RevokedApiKey> {
    const path = `/api_keys/${segment(id, isApiKeyId(id), 'an API key id')}`;
    const reply = await this.#http.call('DELETE', path, {}, options);
    return parseRecord(reply, undefined, records.RevokedApiKey);
  }

  /** Lists projects (section 4.2). Requests each page when the caller iterates to it. @param organizationId sent as `org_id` */
  projectPages(organizationId?: string, options?: CallOptions): AsyncGenerator<ProjectPage, void> {
    return projectPages((cursor) => {
      const query = { limit: PROJECTS_PER_PAGE, cursor, org_id: organizationId };
      return this.#http.call('GET', '/projects', { query }, options);
    });
  }

  /** Creates a project with a default branch, a compute, a role and a database. Not promised by the specification. */
  async createProject(project: ProjectCreation, options?: CallOptions): Promise<ProjectOutcome> {
    return readProject(await this.#http.call('POST', '/projects', { body: { project } }, options));
  }

  /** Deletes a project with its branches and their data. Not promised by the specification. */
  async deleteProject(id: string, options?: CallOptions): Promise<void> {
    await this.#http.call('DELETE', projectPath(id), {}, options);
  }

  /** Lists the computes of a project (section 4.3). */
  async listComputes(projectId: string, options?: CallOptions): Promise<ParsedList<records.Compute>> {
    const reply = await this.#http.call('GET', computesPath(projectId), {}, options);
    return readComputes(reply);
  }

  /**
   * Like `listComputes`, but returns undefined if nothing has changed. Comparing the text of two replies takes much less
   * time than parsing and checking a large list again.
   * @param lastBody the body of the last reply, if any
   */
  async listComputesIfChanged(
    projectId: string,
    lastBody: string | undefined,
    options?: CallOptions,
  ): Promise<ListReply<records.Compute> | undefined> {
    const changed = await this.#http.getIfChanged(computesPath(projectId), lastBody, options);
    return changed && { list: readComputes(changed.reply), body: changed.body };
  }

  /** Creates a compute (section 4.3). @throws {ApiError} of kind `rejected` if the branch already has a read-write compute */
  async createCompute(
    projectId: string,
    endpoint: ComputeCreation,
    options?: CallOptions,
  ): Promise<ComputeOutcome> {
    return this.#change('POST', computesPath(projectId), { endpoint }, options);
  }

  /** Changes only the attributes in `endpoint` (section 4.3). */
  async updateCompute(
    projectId: string,
    id: string,
    endpoint: ComputePatch,
    options?: CallOptions,
  ): Promise<ComputeOutcome> {
    return this.#change('PATCH', computePath(projectId, id), { endpoint }, options);
  }

  /** Deletes a compute permanently (sections 4.3 and 3.4). Returns no compute if it was already deleted. */
  async deleteCompute(projectId: string, id: string, options?: CallOptions): Promise<ComputeOutcome> {
    return this.#change('DELETE', computePath(projectId, id), undefined, options);
  }

  /** Restarts a compute, which drops its connections (section 4.3). The reply isn't specified, so the outcome may be empty. */
  async restartCompute(projectId: string, id: string, options?: CallOptions): Promise<ComputeOutcome> {
    return this.#change('POST', `${computePath(projectId, id)}/restart`, undefined, options);
  }

  /**
   * Starts a compute. Not promised by the specification.
   * @throws {ApiError} of kind `rejected` with 404 or 405 if the service doesn't offer the call
   */
  async startCompute(projectId: string, id: string, options?: CallOptions): Promise<ComputeOutcome> {
    return this.#change('POST', `${computePath(projectId, id)}/start`, undefined, options);
  }

  /** Suspends a compute, which drops its connections. Not promised by the specification: see `startCompute`. */
  async suspendCompute(projectId: string, id: string, options?: CallOptions): Promise<ComputeOutcome> {
    return this.#change('POST', `${computePath(projectId, id)}/suspend`, undefined, options);
  }

  /**
   * Not promised by the specification.
   * @returns undefined if the service doesn't offer the call or has no such compute
   */
  async findCompute(
    projectId: string,
    id: string,
    options?: CallOptions,
  ): Promise<records.Compute | undefined> {
    const path = computePath(projectId, id);
    const reply = await this.#http.getIfOffered(path, {}, options);
    return reply && parseRecord(reply, 'endpoint', records.Compute);
  }

  /**
   * Not promised by the specification.
   * @returns undefined if the service doesn't offer the call or has no such operation
   */
  async findOperation(
    projectId: string,
    id: string,
    options?: CallOptions,
  ): Promise<records.Operation | undefined> {
    const path = `${projectPath(projectId)}/operations/${segment(id, isOperationId(id), 'an operation id')}`;
    const reply = await this.#http.getIfOffered(path, {}, options);
    return reply && parseRecord(reply, 'operation', records.Operation);
  }

  /**
   * Not promised by the specification. The result contains a password.
   * @returns undefined if the service doesn't offer the call
   * @throws {ApiError} also for a URI that leads to another host
   */
  async findCredentials(
    projectId: string,
    login: LoginQuery,
    options?: CallOptions,
  ): Promise<Credentials | undefined> {
    const path = `${projectPath(projectId)}/connection_uri`;
    const query = {
      endpoint_id: login.computeId,
      branch_id: login.branchId,
      role_name: login.role,
      database_name: login.database,
      pooled: login.pooled,
    };
    const reply = await this.#http.getIfOffered(path, query, options);
    if (reply === undefined) return undefined;
    const { uri } = parseRecord(reply, undefined, records.ConnectionUri);
    const found = readConnectionUri(uri);
    if (found !== undefined && isSameHost(found.host, login.host)) return found.credentials;
    const { status } = reply;
    const fault = { kind: 'unexpectedReply', status, reason: 'host', detail: found?.host } as const;
    throw new ApiError(`${reply.requestLine} returned another host`, fault, { mayHaveExecuted: false });
  }

  /** Not promised by the specification. @returns undefined if the service doesn't offer the call */
  async listDatabases(
    projectId: string,
    branchId: string,
    options?: CallOptions,
  ): Promise<readonly records.Database[] | undefined> {
    const path = `${branchPath(projectId, branchId)}/databases`;
    const reply = await this.#http.getIfOffered(path, {}, options);
    return reply && parseList(reply, 'databases', records.Database).items;
  }

  /** Not promised by the specification. @returns undefined if the service doesn't offer the call */
  async listRoles(
    projectId: string,
    branchId: string,
    options?: CallOptions,
  ): Promise<readonly records.Role[] | undefined> {
    const path = `${branchPath(projectId, branchId)}/roles`;
    const reply = await this.#http.getIfOffered(path, {}, options);
    return reply && parseList(reply, 'roles', records.Role).items;
  }

  /** Gives a role a new password and drops its connections. Not promised by the specification. */
  async resetPassword(
    projectId: string,
    branchId: string,
    role: string,
    options?: CallOptions,
  ): Promise<ResetPassword> {
    const path = `${rolePath(projectId, branchId, role)}/reset_password`;
    const reply = await this.#http.call('POST', path, {}, options);
    const { password } = parseRecord(reply, 'role', records.ResetRole);
    return { password, operations: parseOptionalList(reply, 'operations', records.Operation) };
  }

  async #change(method: Method, path: string, body?: object, options?: CallOptions): Promise<ComputeOutcome> {
    const reply = await this.#http.call(method, path, body === undefined ? {} : { body }, options);
    const isEmpty = reply.json === undefined || (method === 'POST' && isWithoutCompute(reply.json));
    if (isEmpty && body === undefined) return { compute: undefined, operations: [] };
    const compute = parseRecord(reply, 'endpoint', records.Compute);
    return { compute, operations: parseOptionalList(reply, 'operations', records.Operation) };
  }
}
