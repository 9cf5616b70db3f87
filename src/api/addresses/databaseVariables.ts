/** The environment variables by which programs find a database. */
import {
  isDatabaseAddress,
  partNameAfterPrefix,
  CONNECTION_PART_NAMES,
  connectionPartValues,
  findHostPrefixes,
  URL_VARIABLES,
} from './addressVariables.ts';
import { requireDatabaseUrl, URL_SCHEME } from './databaseUrl.ts';

/** Matches the variables that libpq, most clients and images of Postgres read. PGDATA is for servers, so it is left alone. */
const OTHER_VARIABLES = /^(?:PG(?!DATA$)[A-Z]+|POSTGRES(?:QL)?_\w+)$/;

/** The prefixes of variables for the parts of a connection to Postgres. */
const KNOWN_PREFIXES = ['PG', 'PG_', 'POSTGRES_', 'POSTGRESQL_'];
/** Matches Postgres in a value, such as DB_CONNECTION=pgsql and DB_ENGINE=django.db.backends.postgresql. */
const POSTGRES = /(?<![a-z])(?:pg|pgsql|postgres(?:ql)?|postgis)(?![a-z])/i;
const PORT = '5432';
const PARTS: ReadonlySet<string> = new Set(Object.values(CONNECTION_PART_NAMES).flat());

type Parts = ReadonlyMap<string, string | undefined>;

/**
 * Returns the variables that lead programs to this database, and to no other that the environment names.
 * @param url undefined if there is no database
 * @returns undefined for variables to remove, such as PGSERVICE, PGSSLMODE and addresses in other forms
 */
export function databaseVariables(
  url: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): Record<string, string | undefined> {
  const parts: Parts = new Map(url === undefined ? [] : connectionPartValues(requireDatabaseUrl(url)));
  // These are always set, because programs read missing variables from `.env`.
  const always = ['PG', 'POSTGRES_'].flatMap((prefix) =>
    ['HOST', 'PORT', 'USER', 'PASSWORD', 'DATABASE'].map((part) => [`${prefix}${part}`, parts.get(part)]),
  );
  return {
    ...Object.fromEntries(URL_VARIABLES.map((name) => [name, url])),
    ...Object.fromEntries(presentVariables(url, parts, environment)),
    ...(url !== undefined && { ...Object.fromEntries(always), POSTGRES_DB: parts.get('DB') }),
  };
}

/** Returns the variables that the environment already has, with their new values. */
function* presentVariables(
  url: string | undefined,
  parts: Parts,
  environment: NodeJS.ProcessEnv,
): Generator<[name: string, value: string | undefined]> {
  const prefixes = prefixesOfPostgres(environment);
  for (const [name, value = ''] of Object.entries(environment)) {
    const part = prefixes
      .map((prefix) => partNameAfterPrefix(prefix, name))
      .find((each) => PARTS.has(each ?? ''));
    if (part !== undefined) yield [name, parts.get(part)];
    else if (isDatabaseAddress(value)) yield [name, replacementUrl(name, value, url)];
    else if (OTHER_VARIABLES.test(name)) yield [name, undefined];
  }
}

/** @returns the known prefixes, and each other one whose port or another value names Postgres */
function prefixesOfPostgres(environment: NodeJS.ProcessEnv): readonly string[] {
  const entries = Object.entries(environment);
  const hasPostgresVariables = (prefix: string) =>
    entries.some(
      ([name, value = '']) =>
        name.startsWith(prefix) && (name === `${prefix}PORT` ? value === PORT : POSTGRES.test(value)),
    );
  return [...KNOWN_PREFIXES, ...findHostPrefixes(Object.keys(environment)).filter(hasPostgresVariables)];
}

/** Matches URLs whose scheme Django, Ecto or SQLAlchemy needs to find the driver. A new URL gets the same scheme. */
const OTHER_SCHEME = new RegExp(`^\\s*(?!postgres(?:ql)?:)(${URL_SCHEME}(?:\\+\\w+)?)://`, 'i');

function replacementUrl(name: string, value: string, url: string | undefined): string | undefined {
  // Prisma empties the shadow database, and refuses one that is the database itself.
  if (url === undefined || name.includes('SHADOW')) return undefined;
  if (/^\s*postgres(?:ql)?:/i.test(value) || URL_VARIABLES.includes(name)) return url;
  const scheme = OTHER_SCHEME.exec(value)?.[1];
  return scheme && url.replace(/^[^:]+/, scheme);
}

/** The previous values of the variables that each database in use has replaced. The last database is the current one. */
const replacedVariables: NodeJS.ProcessEnv[] = [];

/**
 * Sets the variables of this process.
 * @returns a function that sets them back, unless they have been changed since. Call it only once
 */
export function setDatabaseVariables(url: string): () => void {
  const variables = databaseVariables(url);
  const previous = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
  setVariables(variables);
  replacedVariables.push(previous);
  return () => {
    const index = replacedVariables.indexOf(previous);
    const later = replacedVariables[index + 1];
    replacedVariables.splice(index, 1);
    // When the next database in use ends, it then sets back what this one has replaced.
    if (later !== undefined) Object.assign(later, previous);
    else if (process.env['DATABASE_URL'] === url) setVariables(previous);
  };
}

function setVariables(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
}
