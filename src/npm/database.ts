/** Finds or creates the database that the command of `--run` gets. */
import { createPgClient } from '../base/sql/pgClient.ts';
import type { ServiceApi } from './api.ts';
import { TEST_PROJECT } from '../localService/ownFolder.ts';

export type FirstDatabase = Awaited<ReturnType<typeof findOrCreateDatabase>>;

/**
 * Returns the first database of the first project's default branch; undefined if there is no project. The project of
 * `hosted-postgres/test` stays empty, so another one is created. The URL contains the password; it is undefined
 * if the branch has no database.
 * @param options `hasPostgres`: whether computes run Postgres, and aren't simulated
 */
export async function findOrCreateDatabase(
  api: ServiceApi,
  { hasPostgres }: { readonly hasPostgres: boolean },
) {
  const projects = await api.listProjects();
  if (projects.length === 0) return undefined;
  const projectId =
    projects.find(({ name }) => name !== TEST_PROJECT)?.id ?? (await api.createProject('local'));
  const branch = (await api.listBranches(projectId)).find((each) => each.default);
  return (
    branch && { projectId, branchId: branch.id, url: hasPostgres ? await api.findUrl(branch) : undefined }
  );
}

/** Waits for the reply to a query. While Postgres starts, the service keeps the connection waiting. @throws if Postgres can't start */
export async function waitUntilDatabaseAnswers(url: string): Promise<void> {
  const client = createPgClient({ connectionString: url });
  await client.connect();
  await client.query('select 1');
  await client.end();
}
