/** The database that the command of `--run` gets. */
import Client from 'pg/lib/client.js';
import { TEST_PROJECT } from './ownFolder.ts';

export interface Database {
  readonly projectId: string;
  readonly branchId: string;
  /** Contains the password. Undefined if the branch has no database. */
  readonly url: string | undefined;
}

interface Api {
  readonly baseUrl: string;
  readonly key: string;
}

/**
 * Returns the first database of the first project's default branch; undefined if there is no project. The project of
 * `hosted-postgres/test` stays empty, so another one is created beside it.
 */
export async function findDatabase(api: Api): Promise<Database | undefined> {
  const { projects } = await read<{ projects: { id: string; name: string }[] }>(api, '/projects');
  if (projects.length === 0) return undefined;
  const projectId = projects.find(({ name }) => name !== TEST_PROJECT)?.id ?? (await createProject(api));
  const { branches } = await read<{ branches: { id: string; default: boolean }[] }>(
    api,
    `/projects/${projectId}/branches`,
  );
  const branchId = (branches.find((branch) => branch.default) ?? branches[0])?.id;
  if (branchId === undefined) return undefined;
  const { databases } = await read<{ databases: { name: string; owner_name: string }[] }>(
    api,
    `/projects/${projectId}/branches/${branchId}/databases`,
  );
  const [database] = databases;
  if (database === undefined) return { projectId, branchId, url: undefined };
  const login = new URLSearchParams({
    branch_id: branchId,
    database_name: database.name,
    role_name: database.owner_name,
  });
  const { uri } = await read<{ uri: string }>(
    api,
    `/projects/${projectId}/connection_uri?${login.toString()}`,
  );
  return { projectId, branchId, url: uri };
}

async function createProject(api: Api): Promise<string> {
  const { project } = await read<{ project: { id: string } }>(api, '/projects', {
    project: { name: 'local' },
  });
  return project.id;
}

/** @param posted undefined for a GET */
async function read<T>({ baseUrl, key }: Api, target: string, posted?: object): Promise<T> {
  const response = await fetch(baseUrl + target, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(posted !== undefined && { method: 'POST', body: JSON.stringify(posted) }),
  });
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`${target}: ${JSON.stringify(body)}`);
  // The service is the one in this package.
  return body as T;
}

/** The service keeps the connection waiting while Postgres starts. @throws when it can't start */
export async function waitForAnswer(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('select 1');
  await client.end();
}
