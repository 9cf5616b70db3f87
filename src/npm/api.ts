/** The calls of this package to the service. Replies aren't checked by schemas, because test suites would wait until these are loaded. */
import {
  branchesPath,
  branchPath,
  computePath,
  connectionUriPath,
  databasesPath,
  operationPath,
  projectPath,
  PROJECTS_PER_PAGE,
  rolePath,
} from '../api/paths.ts';
import { renewPasswords } from '../api/passwords.ts';
import { nextCursor } from '../api/nextCursor.ts';
import { isLoopback } from '../api/addresses/host.ts';
import { originOfBranch, type BranchOrigin } from '../api/records/pointInTime.ts';
import type * as records from '../api/records/records.ts';
import type { Rehearsal } from '../api/records/rehearsal.ts';
import type { BaseUrl } from '../api/transport/baseUrl.ts';
import {
  ApiError,
  codeOf,
  isNotOffered,
  isPasswordUnchangeable,
  isRejected,
  NAME_TAKEN,
  statusOf,
} from '../api/transport/errors.ts';
import { Http, type CallContent, type Method } from '../api/transport/http.ts';
import { localFetch } from '../api/transport/localFetch.ts';
import { pause } from '../base/clock.ts';
import { fieldsOf } from '../base/fieldsOf.ts';
import type { ProcessIdentity } from '../base/processIdentity.ts';
import { TEST_PROJECT } from '../localService/ownFolder.ts';

/** A branch as the API returns it. */
export interface Branch extends records.Branch {
  readonly project_id: string;
  /** The {@link ProcessIdentity} of the process that made the branch, as JSON. */
  readonly maker?: string | undefined;
}

interface Database extends records.Database {
  readonly id: number;
}

interface Creation {
  readonly name: string;
  /** The id of the parent; undefined for the default branch. */
  readonly parent: string | undefined;
  /** The position in the parent's log up to which the branch has its data; undefined for the data as they are now. */
  readonly lsn?: string | undefined;
  readonly maker: ProcessIdentity;
  /** Milliseconds after which the branch expires. Without it, the branch doesn't expire, so that it can have children. */
  readonly lifetime?: number;
}

/** Milliseconds between two requests for the state of an operation, or to a locked branch: of the local service, and of others. */
const POLL = 10;
const HOSTED_POLL = 500;
/** The most milliseconds for a request with its repetitions: more than an overloaded machine needs to start Postgres. */
const LIMIT = 120_000;

/** Calls the service with one key. */
export class ServiceApi {
  readonly #http: Http;

  readonly #poll: number;

  /** @param isHosted whether the service isn't a local one, so that requests can be lost, and their number is limited */
  constructor(baseUrl: BaseUrl, key: string, { isHosted = false } = {}) {
    const limits = { attempt: LIMIT, total: LIMIT };
    this.#poll = isHosted ? HOSTED_POLL : POLL;
    const fetch = isLoopback(new URL(baseUrl).hostname) ? localFetch : globalThis.fetch;
    const retries = isHosted ? 3 : 0;
    this.#http = new Http({ baseUrl, key, fetch, retries, lockedDelay: this.#poll, limits });
  }

  async listProjects(): Promise<records.Project[]> {
    const projects: records.Project[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await this.#call('GET', '/projects', { query: { limit: PROJECTS_PER_PAGE, cursor } });
      projects.push(...(page['projects'] as records.Project[]));
      cursor = nextCursor(page, seen);
      if (cursor !== undefined) seen.add(cursor);
    } while (cursor !== undefined);
    return projects;
  }

  /**
   * Returns the id of the project of this library, which is created unless it exists. Names of projects aren't unique, so several
   * processes may create one at once. All use the oldest, and each of the others deletes its own.
   */
  async findOrCreateOwnProject(): Promise<string> {
    const found = await this.#findOwnProject();
    if (found !== undefined) return found;
    const created = await this.createProject(TEST_PROJECT);
    const oldest = (await this.#findOwnProject()) ?? created;
    // An empty project that remains does no harm.
    if (oldest !== created) await this.#call('DELETE', projectPath(created)).catch(() => undefined);
    return oldest;
  }

  async #findOwnProject(): Promise<string | undefined> {
    const found = (await this.listProjects()).filter(({ name }) => name === TEST_PROJECT);
    const age = ({ created_at, id }: records.Project) => `${created_at} ${id}`;
    return found.toSorted((a, b) => (age(a) < age(b) ? -1 : 1))[0]?.id;
  }

  /** Returns the project's id, when its compute runs. */
  async createProject(name: string): Promise<string> {
    const { project } = await this.#change('POST', '/projects', { project: { name } });
    return (project as records.Project).id;
  }

  /** Lists the branches of a project. The one that was created or renamed last comes first. */
  async listBranches(projectId: string): Promise<Branch[]> {
    const reply = await this.#call('GET', branchesPath(projectId), { query: { sort_by: 'updated_at' } });
    const annotations = fieldsOf(reply['annotations']);
    return (reply['branches'] as Branch[]).map((branch) => {
      const { maker } = fieldsOf(fieldsOf(annotations[branch.id])['value']);
      return { ...branch, maker: typeof maker === 'string' ? maker : undefined };
    });
  }

  /** Returns the branch when its compute runs; undefined if the name is taken. */
  async createBranch(
    projectId: string,
    { name, parent, lsn, maker, lifetime }: Creation,
  ): Promise<(Branch & { readonly url: string }) | undefined> {
    const expires_at = lifetime === undefined ? undefined : new Date(Date.now() + lifetime).toISOString();
    const body = {
      branch: { name, parent_id: parent, parent_lsn: lsn, expires_at },
      endpoints: [{ type: 'read_write' }],
      annotation_value: { maker: JSON.stringify(maker) },
    };
    const reply = await this.#call('POST', branchesPath(projectId), { body }).catch((error: Error) => {
      if (codeOf(error.cause) === NAME_TAKEN) return undefined;
      throw error;
    });
    if (reply === undefined) return undefined;
    const branch = reply['branch'] as Branch;
    try {
      await this.#untilFinished(reply);
      // The reply has the databases that the parent has now.
      const databases = lsn === undefined ? reply['databases'] : await this.listDatabases(branch);
      return { ...branch, url: await this.#urlOf(branch, oldestDatabase(databases)) };
    } catch (error) {
      // Others may use a branch that doesn't expire.
      if (lifetime !== undefined) await this.delete(branch).catch(() => undefined);
      throw error;
    }
  }

  /** Returns of which data a branch is a copy; undefined if the service doesn't say it. */
  async findOrigin(branch: Branch): Promise<BranchOrigin | undefined> {
    return originOfBranch((await this.#call('GET', pathOfBranch(branch)))['branch']);
  }

  /** Returns whether a branch certainly hasn't changed since a position. Only the local service knows it. */
  async isUnchangedSince(projectId: string, { branchId, lsn }: BranchOrigin): Promise<boolean> {
    const query = { unchanged_since: lsn };
    return (
      (await this.#call('GET', `${branchPath(projectId, branchId)}/changes`, { query }))['unchanged'] === true
    );
  }

  /** Returns the URL of the first database, with its password; undefined if the branch has none. */
  async findUrl(branch: Branch): Promise<string | undefined> {
    const database = oldestDatabase(await this.listDatabases(branch));
    return database && this.#urlOf(branch, database);
  }

  async listDatabases({ project_id, id }: Branch): Promise<Database[]> {
    return (await this.#call('GET', databasesPath(project_id, id)))['databases'] as Database[];
  }

  async #urlOf({ project_id, id }: Branch, database: Database | undefined): Promise<string> {
    const query = {
      branch_id: id,
      database_name: database?.name ?? '',
      role_name: database?.owner_name ?? '',
    };
    return textField(await this.#call('GET', connectionUriPath(project_id), { query }), 'uri');
  }

  /** Gives each role another password than that of the parent. @returns the roles whose password the service doesn't change */
  async renewPasswords(branch: Branch): Promise<readonly string[]> {
    const { roles } = await this.#call('GET', `${pathOfBranch(branch)}/roles`);
    const { kept } = await renewPasswords(roles as records.Role[], async (name) => {
      const path = `${rolePath(branch.project_id, branch.id, name)}/reset_password`;
      return await this.#change('POST', path).then(
        () => true,
        (error: Error) => {
          if (!isPasswordUnchangeable(error.cause)) throw error;
          return false;
        },
      );
    });
    return kept;
  }

  /** Begins a rehearsal on the branch. @returns whether the service offers rehearsals, as only the local one does */
  async startRehearsal(branch: Branch): Promise<boolean> {
    try {
      await this.#call('POST', `${pathOfBranch(branch)}/rehearsal`);
      return true;
    } catch (error) {
      if (error instanceof Error && isNotOffered(error.cause)) return false;
      throw error;
    }
  }

  async readRehearsal(branch: Branch): Promise<Rehearsal> {
    return (await this.#call('GET', `${pathOfBranch(branch)}/rehearsal`))['rehearsal'] as Rehearsal;
  }

  /** Returns the schema of a database as pg_dump writes it. */
  async readSchema(branch: Branch, database: string): Promise<string> {
    const query = { db_name: database };
    return textField(await this.#call('GET', `${pathOfBranch(branch)}/schema`, { query }), 'sql');
  }

  async rename(branch: Branch, name: string): Promise<void> {
    await this.#call('PATCH', pathOfBranch(branch), { body: { branch: { name } } });
  }

  /** Deletes a branch, unless it has been deleted already. Its data is removed later. */
  async delete(branch: Branch): Promise<void> {
    await this.#call('DELETE', pathOfBranch(branch));
  }

  /** Deletes a branch, and waits until its data is removed. */
  async deleteWithData(branch: Branch): Promise<void> {
    await this.#change('DELETE', pathOfBranch(branch));
  }

  async deleteComputes(branch: Branch): Promise<void> {
    const { endpoints } = await this.#call('GET', `${pathOfBranch(branch)}/endpoints`);
    for (const { id } of endpoints as { id: string }[])
      await this.#change('DELETE', computePath(branch.project_id, id));
  }

  /** Sends a change, and waits until its operations have finished. @throws {Error} if one fails */
  async #change(method: Method, path: string, body?: object) {
    const reply = await this.#call(method, path, { body });
    await this.#untilFinished(reply);
    return reply;
  }

  /** Waits until the operations of a reply have finished. @throws {Error} if one fails */
  async #untilFinished(reply: Readonly<Record<string, unknown>>): Promise<void> {
    for (const { id, project_id, action } of (reply['operations'] ?? []) as records.Operation[]) {
      for (;;) {
        const { operation } = await this.#call('GET', operationPath(project_id, id));
        const { status, error } = operation as records.Operation;
        if (status === 'finished') break;
        if (status !== 'scheduling' && status !== 'running') throw new Error(`${action}: ${error ?? status}`);
        await pause(this.#poll);
      }
    }
  }

  /** @throws {Error} with what was called, the status and the service's message */
  async #call(method: Method, path: string, content?: CallContent) {
    try {
      return fieldsOf((await this.#http.call(method, path, content)).json);
    } catch (error) {
      if (!(error instanceof ApiError) || !isRejected(error)) throw error;
      throw new Error(`${method} ${path}: ${statusOf(error)} ${error.message}`, { cause: error });
    }
  }
}

/** Returns the database with the lowest id. That is the user's own, because tests create theirs later. */
const oldestDatabase = (databases: unknown): Database | undefined =>
  (databases as Database[]).toSorted((a, b) => a.id - b.id)[0];

/** Returns a field of a reply. @throws {Error} if the reply doesn't have the field */
function textField(reply: Readonly<Record<string, unknown>>, name: string): string {
  const text = reply[name];
  if (typeof text !== 'string') throw new Error(`The service's reply has no ${name}`);
  return text;
}

const pathOfBranch = ({ project_id, id }: Branch): string => branchPath(project_id, id);
