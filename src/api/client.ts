/**
 * The calls of the API, typed: they return checked records or throw an {@link ApiError}. A call that only reads, and that the
 * specification doesn't promise, returns undefined if the service doesn't offer it.
 */
import { fieldsOf } from '../base/fieldsOf.ts';
import { readConnectionUri, type Credentials } from './addresses/connectionUri.ts';
import { isSameHost } from './addresses/host.ts';
import { BranchCalls } from './branchCalls.ts';
import { SnapshotCalls } from './snapshotCalls.ts';
import { ApiError } from './transport/errors.ts';
import { Http, type CallOptions, type HttpOptions, type Method } from './transport/http.ts';
import {
  branchPath,
  computePath,
  computesPath,
  connectionUriPath,
  databasesPath,
  operationPath,
  projectPath,
  PROJECTS_PER_PAGE,
  rolePath,
  pathSegment,
} from './paths.ts';
import { isApiKeyId } from './records/ids.ts';
import { onlyProject, projectPages, type ProjectPage } from './projectPages.ts';
import {
  parseList,
  parseListReply,
  parseOperations,
  parseRecord,
  type ParsedList,
} from './transport/parseResponse.ts';
import * as records from './records/records.ts';
import type { ComputePatch, ComputeCreation, ProjectCreation, ProjectPatch } from './records/requests.ts';

export type { CallOptions, HttpOptions } from './transport/http.ts';
export type { ProjectPage } from './projectPages.ts';

/** A changed compute, if the reply contains it, and the operations that the change started. */
export interface ComputeOutcome {
  readonly compute: records.Compute | undefined;
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
  /** The expected host of the result, which isn't sent to the service. */
  readonly host: string;
}

interface ClientOptions extends HttpOptions {
  /** The only project of a key that can't list projects. */
  readonly projectId?: string | undefined;
}

/** All calls to a service. */
export class Client {
  readonly #http: Http;
  readonly #projectId: string | undefined;
  readonly branches: BranchCalls;
  readonly snapshots: SnapshotCalls;

  constructor({ projectId, ...options }: ClientOptions) {
    this.#http = new Http(options);
    this.#projectId = projectId;
    this.branches = new BranchCalls(this.#http);
    this.snapshots = new SnapshotCalls(this.#http);
  }

  /**
   * Lists the account's keys.
   * @throws {ApiError} of kind `rejected` with 403 for an organization's key, which has no access to account routes
   */
  async listApiKeys(options?: CallOptions): Promise<ParsedList<records.ApiKey>> {
    const reply = await this.#http.call('GET', '/api_keys', {}, options);
    return parseList(reply, undefined, records.ApiKey);
  }

  /** Creates a key. No other call returns its value. */
  async createApiKey(name: string, options?: CallOptions): Promise<records.CreatedApiKey> {
    const reply = await this.#http.call('POST', '/api_keys', { body: { key_name: name } }, options);
    return parseRecord(reply, undefined, records.CreatedApiKey);
  }

  /** Revokes a key at once and irreversibly. */
  async revokeApiKey(id: number, options?: CallOptions): Promise<records.RevokedApiKey> {
    const path = `/api_keys/${pathSegment(id, isApiKeyId(id), 'an API key id')}`;
    const reply = await this.#http.call('DELETE', path, {}, options);
    return parseRecord(reply, undefined, records.RevokedApiKey);
  }

  /** Lists the projects, or the deleted ones. Requests each page when it is iterated to. @param organizationId sent as `org_id` */
  projectPages(
    organizationId?: string,
    options?: CallOptions,
    { recoverable }: { readonly recoverable?: true } = {},
  ): AsyncGenerator<ProjectPage, void> {
    if (this.#projectId !== undefined && recoverable === undefined)
      return onlyProject(this.getProject(this.#projectId, options));
    return projectPages((cursor) => {
      const query = { limit: PROJECTS_PER_PAGE, cursor, recoverable, org_id: organizationId };
      return this.#http.call('GET', '/projects', { query }, options);
    });
  }

  /** Returns a project with fields that a list may lack, such as how long its history is kept. */
  async getProject(id: string, options?: CallOptions): Promise<records.Project> {
    const reply = await this.#http.call('GET', projectPath(id), {}, options);
    return parseRecord(reply, 'project', records.Project);
  }

  async listComputes(projectId: string, options?: CallOptions): Promise<ParsedList<records.Compute>> {
    const reply = await this.#http.call('GET', computesPath(projectId), {}, options);
    return parseList(reply, 'endpoints', records.Compute);
  }

  /**
   * Like `listComputes`, but returns undefined if nothing has changed. Comparing the text of two replies takes much less
   * time than parsing and checking a large list again.
   * @param lastBody the body of the last reply, if any
   */
  async listComputesIfChanged(projectId: string, lastBody: string | undefined, options?: CallOptions) {
    const reply = await this.#http.getIfChanged(computesPath(projectId), lastBody, options);
    return reply && parseListReply(reply, 'endpoints', records.Compute);
  }

  /** Creates a compute. @throws {ApiError} of kind `rejected` if the branch already has a read-write compute */
  async createCompute(projectId: string, endpoint: ComputeCreation, options?: CallOptions) {
    return this.#change('POST', computesPath(projectId), { endpoint }, options);
  }

  /** Changes only the attributes in `endpoint`. */
  async updateCompute(projectId: string, id: string, endpoint: ComputePatch, options?: CallOptions) {
    return this.#change('PATCH', computePath(projectId, id), { endpoint }, options);
  }

  /** Deletes a compute permanently. Returns no compute if it was already deleted. */
  async deleteCompute(projectId: string, id: string, options?: CallOptions) {
    return this.#change('DELETE', computePath(projectId, id), undefined, options);
  }

  /** Restarts a compute, which drops its connections. The reply isn't specified, so the outcome may be empty. */
  async restartCompute(projectId: string, id: string, options?: CallOptions) {
    return this.#change('POST', `${computePath(projectId, id)}/restart`, undefined, options);
  }

  // The specification doesn't promise the calls that follow.

  /** @throws {ApiError} of kind `rejected` with 404 or 405 if the service doesn't offer the call */
  async startCompute(projectId: string, id: string, options?: CallOptions) {
    return this.#change('POST', `${computePath(projectId, id)}/start`, undefined, options);
  }

  /** Suspends a compute, which drops its connections. @throws {ApiError} see `startCompute` */
  async suspendCompute(projectId: string, id: string, options?: CallOptions) {
    return this.#change('POST', `${computePath(projectId, id)}/suspend`, undefined, options);
  }

  /** Creates a project with a default branch, a compute, a role and a database. */
  async createProject(project: ProjectCreation, options?: CallOptions) {
    const reply = await this.#http.call('POST', '/projects', { body: { project } }, options);
    return { project: parseRecord(reply, 'project', records.Project), operations: parseOperations(reply) };
  }

  async updateProject(id: string, project: ProjectPatch, options?: CallOptions) {
    const reply = await this.#http.call('PATCH', projectPath(id), { body: { project } }, options);
    return { project: parseRecord(reply, 'project', records.Project), operations: parseOperations(reply) };
  }

  /** Deletes a project with its branches and their data. */
  async deleteProject(id: string, options?: CallOptions): Promise<void> {
    await this.#http.call('DELETE', projectPath(id), {}, options);
  }

  /** Lists the deleted projects that can be recovered; none if the service keeps none. */
  async listDeletedProjects(organizationId?: string, options?: CallOptions): Promise<records.Project[]> {
    const deleted: records.Project[] = [];
    // A service that doesn't know the parameter lists the projects that aren't deleted.
    for await (const { items } of this.projectPages(organizationId, options, { recoverable: true }))
      deleted.push(...items.filter((project) => project.recoverable_until));
    return deleted;
  }

  /** Recovers a deleted project with its branches and their data. */
  async recoverProject(id: string, options?: CallOptions) {
    const reply = await this.#http.call('POST', `${projectPath(id)}/recover`, {}, options);
    return { project: parseRecord(reply, 'project', records.Project), operations: [] };
  }

  /** Gives a role a new password and drops its connections. */
  async resetPassword(
    projectId: string,
    branchId: string,
    role: string,
    options?: CallOptions,
  ): Promise<ResetPassword> {
    const path = `${rolePath(projectId, branchId, role)}/reset_password`;
    const reply = await this.#http.call('POST', path, {}, options);
    const { password } = parseRecord(reply, 'role', records.ResetRole);
    return { password, operations: parseOperations(reply) };
  }

  // The following calls return undefined if the service doesn't offer the call, or has no such compute, operation or branch.

  async findCompute(projectId: string, id: string, options?: CallOptions) {
    const reply = await this.#http.getIfOffered(computePath(projectId, id), {}, options);
    return reply && parseRecord(reply, 'endpoint', records.Compute);
  }

  async findOperation(projectId: string, id: string, options?: CallOptions) {
    const reply = await this.#http.getIfOffered(operationPath(projectId, id), {}, options);
    return reply && parseRecord(reply, 'operation', records.Operation);
  }

  /** Returns the newest operations of the project. `isComplete` is false if it has older ones. */
  async listOperations(projectId: string, limit: number, options?: CallOptions) {
    const path = `${projectPath(projectId)}/operations`;
    const reply = await this.#http.getIfOffered(path, { limit }, options);
    if (reply === undefined) return undefined;
    const { items } = parseList(reply, 'operations', records.Operation);
    return { operations: items, isComplete: items.length < limit };
  }

  /** Returns sessions and operations of a compute. Only the local service offers this call, which wakes no compute. */
  async findActivity(projectId: string, id: string, options?: CallOptions) {
    const reply = await this.#http.getIfOffered(`${computePath(projectId, id)}/activity`, {}, options);
    if (reply === undefined) return undefined;
    const { sessions } = fieldsOf(reply.json);
    return {
      pooledClients: parseRecord(reply, undefined, records.PooledActivity).pooled_clients,
      sessions: sessions === undefined ? undefined : records.parsePostgresSessions(sessions),
      operations: parseOperations(reply),
    };
  }

  /** Returns the last lines that the compute's server has logged. Only the local service offers this call. */
  async findServerLog(projectId: string, id: string, options?: CallOptions) {
    const reply = await this.#http.getIfOffered(`${computePath(projectId, id)}/log`, {}, options);
    if (reply === undefined) return undefined;
    const { lines } = fieldsOf(reply.json);
    return Array.isArray(lines) ? lines.map(String) : [];
  }

  async listDatabases(projectId: string, branchId: string, options?: CallOptions) {
    const reply = await this.#http.getIfOffered(databasesPath(projectId, branchId), {}, options);
    return reply && parseList(reply, 'databases', records.Database).items;
  }

  async listRoles(projectId: string, branchId: string, options?: CallOptions) {
    const reply = await this.#http.getIfOffered(`${branchPath(projectId, branchId)}/roles`, {}, options);
    return reply && parseList(reply, 'roles', records.Role).items;
  }

  /** Returns the organizations whose projects the key may list. */
  async findOrganizations(options?: CallOptions) {
    const reply = await this.#http.getIfOffered('/users/me/organizations', {}, options);
    return reply && parseList(reply, 'organizations', records.Organization).items;
  }

  /** Returns credentials, which are secret. @throws {ApiError} also if the service's URI leads to another host */
  async findCredentials(
    projectId: string,
    login: LoginQuery,
    options?: CallOptions,
  ): Promise<Credentials | undefined> {
    const query = {
      endpoint_id: login.computeId,
      branch_id: login.branchId,
      role_name: login.role,
      database_name: login.database,
      pooled: login.pooled,
    };
    const reply = await this.#http.getIfOffered(connectionUriPath(projectId), query, options);
    if (reply === undefined) return undefined;
    const { uri } = parseRecord(reply, undefined, records.ConnectionUri);
    const found = readConnectionUri(uri);
    if (found !== undefined && isSameHost(found.host, login.host)) return found.credentials;
    const { status } = reply;
    const fault = { kind: 'unexpectedReply', status, reason: 'host', detail: found?.host } as const;
    throw new ApiError(`${reply.requestLine} returned another host`, fault, { mayHaveExecuted: false });
  }

  /** A request without a body may have a reply without a compute. */
  async #change(method: Method, path: string, body?: object, options?: CallOptions): Promise<ComputeOutcome> {
    const reply = await this.#http.call(method, path, { body }, options);
    const isEmpty = body === undefined && fieldsOf(reply.json)['endpoint'] === undefined;
    const compute = isEmpty ? undefined : parseRecord(reply, 'endpoint', records.Compute);
    return { compute, operations: parseOperations(reply) };
  }
}
