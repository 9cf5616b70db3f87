/** The environment variables by which programs find a database. */
import {
  describeAssumedVariables,
  findAddressGroups,
  HOST_WITH_PORT,
  isAssumedAddress,
} from './addressGroups.ts';
import { isDatabaseAddress } from './addressValues.ts';
import { connectionPartValues, FILE_SUFFIX, URL_VARIABLES } from './addressVariables.ts';
import { requireDatabaseUrl, URL_SCHEME } from './databaseUrl.ts';

/**
 * Matches the variables that libpq, most clients and images of Postgres read, and all others with the prefix of the images, because what
 * leads to a database can't be seen in its name.
 */
const OTHER_VARIABLES = /^(?:PG[A-Z]+|(?:POSTGRES(?:QL)?|postgres(?:ql)?)_\w+)$/;
/** Matches those of them that lead to no database: they are for a server, and for the image that it runs from. */
const SERVER_VARIABLES =
  /^(?:PGDATA|POSTGRES(?:QL)?_(?:VERSION|IMAGE|TAG|IMAGE_TAG|HOST_AUTH_METHOD|INITDB_ARGS|INITDB_WALDIR))$/i;
/** The variables that name a file with a URL. */
const FILES: ReadonlySet<string> = new Set(URL_VARIABLES.map((name) => name + FILE_SUFFIX));

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
  const groups = findAddressGroups(environment);
  // Programs would take the default port instead, where another server may be.
  for (const { prefix } of groups.filter(({ isKnown }) => !isKnown))
    yield [`${prefix}${/[a-z]/.test(prefix) ? 'port' : 'PORT'}`, parts.get('PORT')];
  const names = new Map(groups.flatMap((group) => [...group.parts]));
  for (const [name, value = ''] of Object.entries(environment)) {
    const part = names.get(name);
    if (part !== undefined) yield [name, partValue(parts, part, value)];
    else if (isDatabaseAddress(value) || isAssumedAddress(environment, name))
      yield [name, replacementUrl(name, value, url)];
    else if (FILES.has(name) || (OTHER_VARIABLES.test(name) && !SERVER_VARIABLES.test(name)))
      yield [name, undefined];
  }
}

/** Returns the value of a part; undefined for the name of a file with the part, such as that of DB_PASSWORD_FILE. */
function partValue(parts: Parts, part: string, before: string): string | undefined {
  const value = parts.get(part);
  const isHost = value !== undefined && value === parts.get('HOST');
  return isHost && HOST_WITH_PORT.test(before) ? `${value}:${parts.get('PORT')}` : value;
}

/** Matches URLs whose scheme Django, Ecto or SQLAlchemy needs to find the driver. A new URL gets the same scheme. */
const OTHER_SCHEME = new RegExp(`^[\\s"'\`]*(?!postgres(?:ql)?:)(${URL_SCHEME}(?:\\+\\w+)?)://`, 'i');

function replacementUrl(name: string, value: string, url: string | undefined): string | undefined {
  // Prisma empties the shadow database, and refuses one that is the database itself.
  if (url === undefined || name.includes('SHADOW')) return undefined;
  if (/^[\s"'`]*postgres(?:ql)?:/i.test(value) || URL_VARIABLES.includes(name)) return url;
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
  warnOnce(describeAssumedVariables());
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

let hasWarned = false;

function warnOnce(message: string | undefined): void {
  if (message === undefined || hasWarned) return;
  hasWarned = true;
  process.emitWarning(message);
}

function setVariables(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
}
