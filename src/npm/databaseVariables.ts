/** The environment variables by which programs find a database. */
import { requireDatabaseUrl, URL_VARIABLES } from '../api/addresses/databaseUrl.ts';

/** What libpq, most clients, and images of Postgres read. PGDATA is for servers. */
const OTHERS = /^(?:PG(?!DATA$)[A-Z]+|POSTGRES(?:QL)?_\w+)$/;

/** A URL of Postgres, also one that names a driver, as in `postgresql+psycopg` and `jdbc:postgresql`. */
const URL_OF_POSTGRES = /^(?:[a-z0-9]+[:+])?postgres(?:ql)?(?:\+[a-z0-9]+)?:\/\//i;

/**
 * Returns the variables that lead programs to this database, and to no other that the environment names.
 * @param url undefined if there is no database
 * @returns undefined for variables to remove, such as PGSERVICE, PGSSLMODE and URLs in other forms
 */
export function databaseVariables(
  url: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): Record<string, string | undefined> {
  const present = Object.entries(environment).flatMap(([name, value = '']) => {
    if (OTHERS.test(name)) return [[name, undefined] as const];
    if (!URL_OF_POSTGRES.test(value)) return [];
    // Prisma empties the shadow database, and refuses one that is the database itself.
    const isReplaced = /^postgres(?:ql)?:/i.test(value) && !name.includes('SHADOW');
    return [[name, isReplaced ? url : undefined] as const];
  });
  return {
    ...Object.fromEntries(present),
    // Always set, because programs read what is missing from `.env`.
    ...Object.fromEntries(URL_VARIABLES.map((name) => [name, url])),
    ...(url !== undefined && partVariables(url)),
  };
}

function partVariables(url: string): Record<string, string | undefined> {
  const { server, role: USER, password: PASSWORD, database: DATABASE } = requireDatabaseUrl(url);
  const values = { HOST: server.name, PORT: String(server.port), USER, PASSWORD, DATABASE };
  const named = Object.entries(values).flatMap(([name, value]) =>
    [`PG${name}`, `POSTGRES_${name}`].map((each) => [each, value] as const),
  );
  return { ...Object.fromEntries(named), POSTGRES_DB: DATABASE };
}

/** The variables that each database in use has replaced. */
const replaced: NodeJS.ProcessEnv[] = [];

/** Sets the variables of this process. @returns a function that sets them back, unless they were changed since */
export function useDatabase(url: string): () => void {
  const variables = databaseVariables(url);
  const previous = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
  assign(variables);
  replaced.push(previous);
  return () => {
    const index = replaced.indexOf(previous);
    const later = replaced[index + 1];
    replaced.splice(index, 1);
    // A database that is used since then sets back what this one has replaced.
    if (later !== undefined) Object.assign(later, previous);
    else if (process.env['DATABASE_URL'] === url) assign(previous);
  };
}

function assign(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
}
