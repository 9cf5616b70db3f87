/**
 * The public service's calls for branches. The specification doesn't promise them: a service that doesn't offer them, at
 * all or to this key, responds with 403, 404 or 405.
 */
import { fieldsOf } from '../base/fieldsOf.ts';
import { branchesPath, branchPath } from './paths.ts';
import {
  parseList,
  parseListReply,
  parseOperations,
  parseOptionalList,
  parseRecord,
} from './transport/parseResponse.ts';
import { ParsedRehearsal } from './records/parsedRehearsal.ts';
import * as records from './records/records.ts';
import { originOfBranch, type PointInTime } from './records/pointInTime.ts';
import type { BranchPatch, BranchCreation, BranchRestoreBody } from './records/requests.ts';
import { isNotOffered } from './transport/errors.ts';
import type { CallOptions, Http, Method } from './transport/http.ts';

/** The public service's maximum, so that one request lists all branches. */
const MAX_BRANCHES = 10_000;

/** A changed branch, its new computes, and the operations that the change started. */
interface BranchOutcome {
  /** Undefined if the branch was already deleted. */
  readonly branch: records.Branch | undefined;
  readonly computes: readonly records.Compute[];
  readonly operations: readonly records.Operation[];
}

/** The calls for the branches of projects. */
export class BranchCalls {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** @param lastBody the body of the last reply, if any. @returns undefined if nothing has changed */
  async listIfChanged(projectId: string, lastBody: string | undefined, options?: CallOptions) {
    const path = `${branchesPath(projectId)}?limit=${MAX_BRANCHES}`;
    const reply = await this.#http.getIfChanged(path, lastBody, options);
    return reply && parseListReply(reply, 'branches', records.Branch);
  }

  /**
   * Returns the branches of which the local service knows the process that has made them: `maker`, as JSON. Only programs that make
   * branches for a while note it.
   */
  async listWithMakers(projectId: string, options?: CallOptions) {
    const path = branchesPath(projectId);
    const reply = await this.#http.call('GET', path, { query: { limit: MAX_BRANCHES } }, options);
    const annotations = fieldsOf(fieldsOf(reply.json)['annotations']);
    return parseList(reply, 'branches', records.Branch).items.flatMap(({ id, name }) => {
      const { maker } = fieldsOf(fieldsOf(annotations[id])['value']);
      return typeof maker === 'string' ? [{ id, name, maker }] : [];
    });
  }

  /** Returns of which data a branch is a copy; undefined if the service doesn't say it. */
  async getOrigin(projectId: string, id: string, options?: CallOptions) {
    const reply = await this.#http.call('GET', branchPath(projectId, id), {}, options);
    return originOfBranch(fieldsOf(reply.json)['branch']);
  }

  /** Creates a branch. Without `endpoints`, it has no compute. Without `parent_id`, its parent is the default branch. */
  async create(projectId: string, creation: BranchCreation, options?: CallOptions) {
    return this.#change('POST', branchesPath(projectId), creation, options);
  }

  async update(projectId: string, id: string, branch: BranchPatch, options?: CallOptions) {
    return this.#change('PATCH', branchPath(projectId, id), { branch }, options);
  }

  /** Deletes a branch with its computes. @throws {ApiError} of kind `rejected` for a default or root branch or one with children */
  async delete(projectId: string, id: string, options?: CallOptions) {
    return this.#change('DELETE', branchPath(projectId, id), undefined, options);
  }

  async setDefault(projectId: string, id: string, options?: CallOptions) {
    return this.#change('POST', `${branchPath(projectId, id)}/set_as_default`, undefined, options);
  }

  /**
   * Replaces the data of the branch with that of another one, or with its own at an earlier time, and restarts its active
   * computes. With `preserve_under_name`, a new branch with that name keeps the data and history that the branch had until
   * then.
   */
  async restore(projectId: string, id: string, source: BranchRestoreBody, options?: CallOptions) {
    return this.#change('POST', `${branchPath(projectId, id)}/restore`, source, options);
  }

  /**
   * Returns the schema as pg_dump writes it: now, or `at` a time.
   * @throws {ApiError} with status 404 for an unknown database
   */
  async getSchema(
    projectId: string,
    id: string,
    database: string,
    { at, ...options }: CallOptions & { readonly at?: PointInTime | undefined } = {},
  ): Promise<string> {
    const path = `${branchPath(projectId, id)}/schema`;
    const point = at && ('lsn' in at ? { lsn: at.lsn } : at);
    const reply = await this.#http.call('GET', path, { query: { db_name: database, ...point } }, options);
    return parseRecord(reply, undefined, records.Schema).sql;
  }

  /**
   * Returns what has changed since moments, as far as the service knows. Only the local service offers this call, which
   * doesn't wake a compute and doesn't count as activity.
   * @param since times or positions, each with `<branch id>@` before it if another branch has the history until then
   */
  async listChangesSince(projectId: string, id: string, since: readonly string[], options?: CallOptions) {
    const path = `${branchPath(projectId, id)}/changes`;
    const reply = await this.#http.getIfOffered(path, { since: since.join() }, options);
    return reply && records.parseChanges(fieldsOf(reply.json)['changes']);
  }

  /**
   * Returns whether a branch certainly has the data of a position (LSN). Only the local service offers this call, which doesn't wake a
   * compute and doesn't count as activity.
   */
  async isUnchangedSince(
    projectId: string,
    id: string,
    lsn: string,
    options?: CallOptions,
  ): Promise<boolean> {
    const path = `${branchPath(projectId, id)}/changes`;
    const reply = await this.#http.getIfOffered(path, { unchanged_since: lsn }, options);
    return fieldsOf(reply?.json)['unchanged'] === true;
  }

  /**
   * Returns the last transactions that have changed rows of a table, oldest first, as far as the service knows. Only the
   * local service offers this call, which doesn't wake a compute and doesn't count as activity.
   * @param table the ids of its database, of itself and of its file
   */
  async listTableTransactions(
    projectId: string,
    id: string,
    table: readonly number[],
    options?: CallOptions,
  ) {
    const path = `${branchPath(projectId, id)}/changes`;
    const reply = await this.#http.getIfOffered(path, { table: table.join('/') }, options);
    return reply && records.parseTableTransactions(fieldsOf(reply.json)['transactions']);
  }

  /**
   * Returns the moments before the last changes of the schema, oldest first, as far as the service knows. Only the local
   * service offers this call, which doesn't wake a compute and doesn't count as activity.
   */
  async listSchemaChanges(projectId: string, id: string, options?: CallOptions) {
    const path = `${branchPath(projectId, id)}/changes`;
    const reply = await this.#http.getIfOffered(path, { schema: 'true' }, options);
    return reply && records.parseSchemaChanges(fieldsOf(reply.json)['schema_changes']);
  }

  /**
   * Returns the login of the role that only reads, which contains a secret, and starts the branch's primary compute. Only
   * the local service offers this call.
   */
  async getReader(projectId: string, id: string, options?: CallOptions) {
    const reply = await this.#http.call('POST', `${branchPath(projectId, id)}/reader`, {}, options);
    return parseRecord(reply, 'reader', records.ReaderCredentials);
  }

  /**
   * Lets the service observe what clients do on the branch from now on. Starts the branch's primary compute.
   * @returns false if the service doesn't offer it: only the local one does
   */
  async startRehearsal(projectId: string, id: string, options?: CallOptions): Promise<boolean> {
    const path = `${branchPath(projectId, id)}/rehearsal`;
    return await this.#http.call('POST', path, {}, options).then(
      () => true,
      (error: unknown) => {
        if (isNotOffered(error)) return false;
        throw error;
      },
    );
  }

  /** Returns what the service has seen so far. Only the local service offers this call. */
  async getRehearsal(projectId: string, id: string, options?: CallOptions) {
    const reply = await this.#http.call('GET', `${branchPath(projectId, id)}/rehearsal`, {}, options);
    return parseRecord(reply, 'rehearsal', ParsedRehearsal);
  }

  /** Returns the names of the branch's logical replication slots. Only the local service offers this call. */
  async listReplicationSlots(projectId: string, id: string, options?: CallOptions) {
    const path = `${branchPath(projectId, id)}/replication_slots`;
    const { replication_slots: names } = fieldsOf((await this.#http.getIfOffered(path, {}, options))?.json);
    return Array.isArray(names) ? names.map(String) : [];
  }

  /** Sends a change of a branch. Only the reply to a deletion may be empty. */
  async #change(method: Method, path: string, body?: object, options?: CallOptions): Promise<BranchOutcome> {
    const reply = await this.#http.call(method, path, { body }, options);
    const isEmpty = method === 'DELETE' && reply.json === undefined;
    return {
      branch: isEmpty ? undefined : parseRecord(reply, 'branch', records.Branch),
      computes: parseOptionalList(reply, 'endpoints', records.Compute),
      operations: parseOperations(reply),
    };
  }
}
