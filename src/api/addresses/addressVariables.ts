/** Recognizes the variables of an environment or an `.env` file that say where a Postgres database is. */
import type { DatabaseUrl } from './databaseUrl.ts';

/** The environment variables from which Prisma, Drizzle, hosting platforms and the service's command line read a URL. */
export const URL_VARIABLES: readonly string[] = [
  'DATABASE_URL',
  'DATABASE_URL_UNPOOLED',
  'DIRECT_URL',
  'DIRECT_DATABASE_URL',
  'POSTGRES_URL',
  'POSTGRES_PRISMA_URL',
  'POSTGRES_URL_NON_POOLING',
  'POSTGRES_URL_NO_SSL',
];

/** The names of each part of a connection, without the prefix that the parts share, such as `PG` in PGHOST. */
export const CONNECTION_PART_NAMES = {
  host: ['HOST', 'HOSTNAME', 'SERVER'],
  port: ['PORT'],
  user: ['USER', 'USERNAME'],
  password: ['PASSWORD', 'PASS', 'PWD'],
  database: ['DATABASE', 'DBNAME', 'DB', 'NAME'],
} as const;

/** Returns pairs of a part's name, such as `HOST`, and its value, for each name that the part can have. */
export function connectionPartValues({ server, role, password, database }: DatabaseUrl) {
  const values = { host: server.name, port: String(server.port), user: role, password, database };
  return Object.entries(CONNECTION_PART_NAMES).flatMap(([part, names]) =>
    names.map((name) => [name, values[part as keyof typeof values]] as const),
  );
}

/** The suffix with which providers mark a second host that isn't pooled, as in PGHOST_UNPOOLED. */
const UNPOOLED_SUFFIX = /_(?:UNPOOLED|NON_POOLING)$/;

/** Returns the prefixes of variables with a host, such as `DB_` of DB_HOST, which DB_PORT and DB_USER share. */
export function findHostPrefixes(names: readonly string[]): readonly string[] {
  const prefixes = names.flatMap((name) =>
    CONNECTION_PART_NAMES.host.map((host) =>
      name.toUpperCase().endsWith(host) ? name.slice(0, -host.length) : '',
    ),
  );
  return [...new Set(prefixes)].filter((prefix) => prefix !== '');
}

/** The end of the name of a variable that names a file with the value, as in DB_PASSWORD_FILE. */
export const FILE_SUFFIX = '_FILE';

/** Returns what follows the prefix in a variable's name, in upper case, such as `HOST`; undefined for names without the prefix. */
export const partNameAfterPrefix = (prefix: string, name: string): string | undefined =>
  name.startsWith(prefix) ? name.slice(prefix.length).toUpperCase().replace(UNPOOLED_SUFFIX, '') : undefined;
