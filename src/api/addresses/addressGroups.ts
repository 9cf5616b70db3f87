/**
 * Groups of environment variables that are one address together, such as DB_HOST, DB_USER and DB_PASSWORD. Only the program that reads
 * them knows what they lead to. So a group with a login counts as a database of Postgres unless something says that it isn't one.
 */
import {
  CONNECTION_PART_NAMES,
  FILE_SUFFIX,
  findHostPrefixes,
  partNameAfterPrefix,
  URL_VARIABLES,
} from './addressVariables.ts';
import { isDatabaseAddress, mayBeDatabaseAddress, OTHER_PORTS, POSTGRES } from './addressValues.ts';

/** Names the prefixes of groups that are other services, such as `MAIL_,SEARCH_`. */
export const OTHER_SERVICES_VARIABLE = 'HOSTED_POSTGRES_OTHER_SERVICES';

/** The prefixes of variables for the parts of a connection to Postgres. */
const KNOWN_PREFIXES = ['PG', 'PG_', 'POSTGRES_', 'POSTGRESQL_'];
const PORT = 5432;

/** Matches `host:6543`, and no IPv6 address. */
export const HOST_WITH_PORT = /^[^:]+:(\d+)$/;

const { host, user, password } = CONNECTION_PART_NAMES;
const PARTS: ReadonlySet<string> = new Set(Object.values(CONNECTION_PART_NAMES).flat());
const HOSTS: ReadonlySet<string> = new Set(host);
const PASSWORDS: ReadonlySet<string> = new Set(password);
const LOGINS: ReadonlySet<string> = new Set([...user, ...password]);
/** Matches variables with the name of a database: SHOP_DB, DB_NAME, DB_READER_NAME. What APP_NAME names may be anything. */
const DATABASE_NAME = /(?:DB|DATABASE)(?:_?NAME|_\w+_NAME)?(?:_FILE)?$/i;

export interface AddressGroup {
  readonly prefix: string;
  /** The part of the address by the name of its variable: such as `HOST`, or `HOST_FILE` if the variable names a file with the host. */
  readonly parts: ReadonlyMap<string, string>;
  /** Whether the prefix is libpq's or that of images of Postgres. */
  readonly isKnown: boolean;
  /** Whether something says that the server is Postgres. */
  readonly isCertain: boolean;
}

/** Returns the prefixes and names of variables of which the user has said that they are for other services. */
const otherServices = (environment: NodeJS.ProcessEnv): readonly string[] =>
  (environment[OTHER_SERVICES_VARIABLE] ?? '').split(',').map((each) => each.trim());

/** Finds the groups that are addresses of Postgres, or may be. */
export function findAddressGroups(environment: NodeJS.ProcessEnv): readonly AddressGroup[] {
  const others = otherServices(environment);
  const known = KNOWN_PREFIXES.map((prefix) => ({
    prefix,
    parts: partsAfterPrefix(environment, prefix),
    isKnown: true,
    isCertain: true,
  }));
  const prefixes = findHostPrefixes(Object.keys(environment)).filter(
    (prefix) => !KNOWN_PREFIXES.includes(prefix) && !others.includes(prefix),
  );
  const found = prefixes.flatMap((prefix): AddressGroup[] => {
    const parts = partsWithLogin(environment, prefix);
    const isCertain = namesPostgres(environment, prefix);
    const isWanted = isCertain || (hasLogin(parts) && !isOtherService(environment, parts));
    return isWanted ? [{ prefix, parts, isKnown: false, isCertain }] : [];
  });
  return [...known, ...found];
}

function partsAfterPrefix(environment: NodeJS.ProcessEnv, prefix: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (const name of Object.keys(environment)) {
    const part = partNameAfterPrefix(prefix, name);
    if (part !== undefined && PARTS.has(withoutFileSuffix(part))) parts.set(name, part);
  }
  return parts;
}

/** Adds the login of a shorter prefix with a password: DB_READER_HOST and DB_WRITER_HOST share DB_USER and DB_PASSWORD. */
function partsWithLogin(environment: NodeJS.ProcessEnv, prefix: string): Map<string, string> {
  const own = partsAfterPrefix(environment, prefix);
  for (let shorter = prefix; shorter !== '' && !hasPart(own, PASSWORDS);) {
    shorter = shorter.replace(/[^_]*_?$/, '');
    const parts = shorter === '' ? new Map() : partsAfterPrefix(environment, shorter);
    if (hasPart(parts, PASSWORDS)) return new Map([...parts, ...own]);
  }
  return own;
}

const withoutFileSuffix = (part: string): string =>
  part.endsWith(FILE_SUFFIX) ? part.slice(0, -FILE_SUFFIX.length) : part;

const hasPart = (parts: ReadonlyMap<string, string>, wanted: ReadonlySet<string>): boolean =>
  [...parts.values()].some((part) => wanted.has(withoutFileSuffix(part)));

/** Whether one of the variables has a user, a password or the name of a database. */
const hasLogin = (parts: ReadonlyMap<string, string>): boolean =>
  hasPart(parts, LOGINS) || [...parts.keys()].some((name) => DATABASE_NAME.test(name));

const namesPostgres = (environment: NodeJS.ProcessEnv, prefix: string): boolean =>
  POSTGRES.test(prefix) ||
  Object.entries(environment).some(([name, value = '']) => {
    const part = partNameAfterPrefix(prefix, name);
    if (part === undefined) return false;
    if (part === 'PORT') return Number(value) === PORT;
    // These say nothing about APP_HOST: APP_NAME is the name of the app, and APP_DATABASE_URL may have another host.
    const isAnother =
      (part === 'NAME' && !DATABASE_NAME.test(name)) ||
      (isDatabaseAddress(value) && !hostsOf(environment, prefix).some((each) => value.includes(each)));
    return !isAnother && POSTGRES.test(value);
  });

const hostsOf = (environment: NodeJS.ProcessEnv, prefix: string): readonly string[] =>
  [...partsAfterPrefix(environment, prefix)]
    .filter(([, part]) => HOSTS.has(part))
    .map(([name]) => (environment[name] ?? '').trim())
    .filter((each) => each !== '');

/** Whether a port is another service's, or a host is a URL. */
const isOtherService = (environment: NodeJS.ProcessEnv, parts: ReadonlyMap<string, string>): boolean =>
  [...parts].some(([name, part]) => {
    const value = environment[name] ?? '';
    if (part === 'PORT') return OTHER_PORTS.has(Number(value));
    const [, port] = HOST_WITH_PORT.exec(value) ?? [];
    return HOSTS.has(part) && (value.includes('://') || OTHER_PORTS.has(Number(port)));
  });

/** Whether a variable has an address that may be Postgres's, although it doesn't say so, such as `Server=…;Database=…`. */
export const isAssumedAddress = (environment: NodeJS.ProcessEnv, name: string): boolean =>
  !URL_VARIABLES.includes(name) &&
  !isDatabaseAddress(environment[name] ?? '') &&
  mayBeDatabaseAddress(environment[name] ?? '') &&
  !otherServices(environment).includes(name);

/** Variables that are replaced although nothing says that they lead to Postgres. */
export interface AssumedVariables {
  readonly names: readonly string[];
  /** The value of {@link OTHER_SERVICES_VARIABLE} with which all of them stay. */
  readonly services: string;
}

/** Returns undefined if there are none, or the user has said which are other services. */
export function findAssumedVariables(
  environment: NodeJS.ProcessEnv = process.env,
): AssumedVariables | undefined {
  if (environment[OTHER_SERVICES_VARIABLE]) return undefined;
  const assumed = findAddressGroups(environment).filter(({ isCertain }) => !isCertain);
  const strings = Object.keys(environment).filter((name) => isAssumedAddress(environment, name));
  const services = [...assumed.map(({ prefix }) => prefix), ...strings].join(',');
  if (services === '') return undefined;
  const names = new Set([...assumed.flatMap(({ parts }) => [...parts.keys()]), ...strings]);
  return { names: [...names], services };
}

/** Returns what to say in a terminal about variables that nothing says is Postgres; undefined if there is nothing to say. */
export function describeAssumedVariables(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const found = findAssumedVariables(environment);
  return (
    found &&
    `These variables may lead to a database, so they are replaced: ${found.names.join(', ')}. If they belong to other services, ` +
      `set ${OTHER_SERVICES_VARIABLE}=${found.services}, and they stay. Otherwise, set it to "none", and this isn't said again.`
  );
}
