/** The calls of the service that this package needs. Plain requests, because suites wait until this is loaded. */
import type { ProcessIdentity } from '../base/processIdentity.ts';
import { localFetch } from '../api/transport/localFetch.ts';
import { fieldsOf } from '../base/fieldsOf.ts';
import { TEST_PROJECT } from '../localService/ownFolder.ts';

interface Project {
  readonly id: string;
  readonly name: string;
}

export interface Branch {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly default: boolean;
  readonly created_at: string;
  /** The {@link ProcessIdentity} of the process that made it, as JSON. */
  readonly maker?: string | undefined;
}

interface Database {
  readonly id: number;
  readonly name: string;
  readonly owner_name: string;
}

interface Creation {
  readonly name: string;
  /** Undefined: the default branch. */
  readonly parent: string | undefined;
  readonly maker: ProcessIdentity;
  /** Milliseconds; undefined: without expiry, which branches with children can't have. */
  readonly lifetime?: number;
}

/** Milliseconds between two requests for the state of an operation. */
const POLL = 10;
/** Milliseconds. Longer than an overloaded machine takes to start Postgres. */
const LOCKED_LIMIT = 120_000;

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, POLL));

export class Api {
  readonly baseUrl: string;
  readonly key: string;

  constructor(baseUrl: string, key: string) {
    this.baseUrl = baseUrl;
    this.key = key;
  }

  async projects(): Promise<Project[]> {
    const { projects } = await this.#call('GET', '/projects?limit=400');
    return projects as Project[];
  }

  /** @returns the id of the project of this library, which is created unless it exists */
  async ownProject(): Promise<string> {
    const found = (await this.projects()).filter(({ name }) => name === TEST_PROJECT);
    const [first] = found.map(({ id }) => id).toSorted();
    return first ?? this.createProject(TEST_PROJECT);
  }

  /** @returns its id when its compute runs */
  async createProject(name: string): Promise<string> {
    const { project, operations } = await this.#call('POST', '/projects', { project: { name } });
    const { id } = project as Project;
    await this.#finish(id, operations as Operation[]);
    return id;
  }

  /** The newest first. */
  async branches(projectId: string): Promise<Branch[]> {
    const reply = await this.#call('GET', `/projects/${projectId}/branches?sort_by=created_at`);
    const annotations = fieldsOf(reply.annotations);
    return (reply.branches as Branch[]).map((branch) => {
      const { maker } = fieldsOf(fieldsOf(annotations[branch.id])['value']);
      return { ...branch, maker: typeof maker === 'string' ? maker : undefined };
    });
  }

  /** @returns the branch when its compute runs; undefined if the name is taken */
  async createBranch(
    projectId: string,
    { name, parent, maker, lifetime }: Creation,
  ): Promise<(Branch & { readonly url: string }) | undefined> {
    const reply = await this.#call(
      'POST',
      `/projects/${projectId}/branches`,
      {
        branch: {
          name,
          parent_id: parent,
          expires_at: lifetime === undefined ? undefined : new Date(Date.now() + lifetime).toISOString(),
        },
        endpoints: [{ type: 'read_write' }],
        annotation_value: { maker: JSON.stringify(maker) },
      },
      [409],
    );
    if (reply.status === 409) {
      if (/already exists/.test(String(reply.message))) return undefined;
      throw new Error(String(reply.message));
    }
    await this.#finish(projectId, reply.operations as Operation[]);
    const branch = reply.branch as Branch;
    // The user's own was there before the template.
    const [database] = (reply.databases as Database[]).toSorted((a, b) => a.id - b.id);
    return { ...branch, url: await this.#urlOf(branch, database) };
  }

  /** @returns the URL of the first database, with its password; undefined if the branch has none */
  async url(branch: Branch): Promise<string | undefined> {
    const target = `/projects/${branch.project_id}/branches/${branch.id}/databases`;
    const [database] = (await this.#call('GET', target)).databases as Database[];
    return database && this.#urlOf(branch, database);
  }

  async #urlOf({ project_id, id }: Branch, database: Database | undefined): Promise<string> {
    const query = new URLSearchParams({
      branch_id: id,
      database_name: database?.name ?? '',
      role_name: database?.owner_name ?? '',
    });
    const { uri } = await this.#call('GET', `/projects/${project_id}/connection_uri?${query.toString()}`);
    return String(uri);
  }

  async rename({ project_id, id }: Branch, name: string): Promise<void> {
    await this.#call('PATCH', `/projects/${project_id}/branches/${id}`, { branch: { name } });
  }

  /** Does nothing if it was deleted. Its data follows. */
  async delete({ project_id, id }: Branch): Promise<void> {
    await this.#call('DELETE', `/projects/${project_id}/branches/${id}`);
  }

  async deleteComputes({ project_id, id }: Branch): Promise<void> {
    const { endpoints } = await this.#call('GET', `/projects/${project_id}/branches/${id}/endpoints`);
    for (const compute of endpoints as { id: string }[]) {
      const reply = await this.#call('DELETE', `/projects/${project_id}/endpoints/${compute.id}`);
      await this.#finish(project_id, reply.operations as Operation[]);
    }
  }

  async #finish(projectId: string, operations: readonly Operation[]): Promise<void> {
    for (const { id, action } of operations) {
      for (;;) {
        const reply = await this.#call('GET', `/projects/${projectId}/operations/${id}`);
        const { status, error } = reply.operation as Operation;
        if (status === 'finished') break;
        if (status !== 'scheduling' && status !== 'running') throw new Error(`${action}: ${error ?? status}`);
        await pause();
      }
    }
  }

  /** Repeats the request while the branch is locked. @throws {Error} with the service's message, unless the status is allowed */
  async #call(
    method: string,
    path: string,
    body?: object,
    allowed: readonly number[] = [],
  ): Promise<Readonly<Record<string, unknown>>> {
    const deadline = performance.now() + LOCKED_LIMIT;
    for (;;) {
      const response = await localFetch(this.baseUrl + path, {
        method,
        headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const { status } = response;
      const text = await response.text();
      const reply = text === '' ? {} : fieldsOf(JSON.parse(text));
      if (response.ok || allowed.includes(status)) return { ...reply, status };
      if (status !== 423 || performance.now() > deadline)
        throw new Error(`${method} ${path}: ${status} ${String(reply['message'])}`);
      await pause();
    }
  }
}

interface Operation {
  readonly id: string;
  readonly action: string;
  readonly status: string;
  readonly error?: string;
}
