/** Finds the database that the command of `--run` gets, and creates it if necessary. */
import { createPgClient } from '../base/sql/pgClient.ts';
import type { ServiceApi } from './api.ts';
import { TEST_PROJECT } from '../localService/ownFolder.ts';

/**
 * Returns the first database of the oldest project's default branch. The project of `hosted-postgres/test` doesn't count, because
 * it stays empty: if it is the only one, another is created. The URL contains the password. It is undefined if computes are
 * simulated, or if the branch has no database. If there are other projects, `note` says for the user which one was taken.
 * @param options `hasPostgres`: whether computes run Postgres, and aren't simulated
 * @returns undefined if there is no project at all, or no default branch
 */
export async function databaseForCommand(
  api: ServiceApi,
  { hasPostgres }: { readonly hasPostgres: boolean },
) {
  const projects = await api.listProjects();
  if (projects.length === 0) return undefined;
  const [first, ...others] = projects.filter(({ name }) => name !== TEST_PROJECT);
  const projectId = first?.id ?? (await api.createProject('local'));
  const branch = (await api.listBranches(projectId)).find((each) => each.default);
  if (branch === undefined) return undefined;
  const url = hasPostgres ? await api.findUrl(branch) : undefined;
  const note =
    others.length === 0
      ? undefined
      : `The database is that of ${branch.name} in ${first?.name} (${projectId}), the oldest of ${others.length + 1} projects`;
  return { projectId, branchId: branch.id, url, note };
}

/** Waits for the reply to a query. While Postgres starts, the service keeps the connection waiting. @throws if Postgres can't start */
export async function waitUntilDatabaseAnswers(url: string): Promise<void> {
  const client = createPgClient({ connectionString: url });
  await client.connect();
  await client.query('select 1');
  await client.end();
}
