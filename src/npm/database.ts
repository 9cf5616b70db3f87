/** Finds the database that the command of `--run` gets, and creates it if necessary. */
import { createPgClient } from '../base/sql/pgClient.ts';
import type { ServiceApi } from './api.ts';
import { TEST_PROJECT } from '../localService/ownFolder.ts';

/** What {@link databaseForCommand} returns. */
export type FirstDatabase = Awaited<ReturnType<typeof databaseForCommand>>;

/**
 * Returns the first database of the first project's default branch. The project of `hosted-postgres/test` doesn't count, because
 * it stays empty: if it is the only one, another is created. The URL contains the password. It is undefined if computes are
 * simulated, or if the branch has no database.
 * @param options `hasPostgres`: whether computes run Postgres, and aren't simulated
 * @returns undefined if there is no project at all, or no default branch
 */
export async function databaseForCommand(
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
