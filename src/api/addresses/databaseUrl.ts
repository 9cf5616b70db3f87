/**
 * Reads and changes URLs of databases in the forms that users have in their files. URLs from the service are checked more
 * strictly, by `readConnectionUri`.
 */
import { isDeepStrictEqual } from 'node:util';
import { normalizeHost, splitHost } from './host.ts';

/** The parts of a URL, decoded. */
export interface DatabaseUrl {
  readonly role: string;
  /** A secret. */
  readonly password: string | undefined;
  readonly database: string;
  /** The host in its normal form, see `normalizeHost`. */
  readonly host: string;
  /** The host's name and port as in the text, without the brackets of IPv6. */
  readonly server: ReturnType<typeof splitHost>;
}

/** Returns a URL such as `postgresql://…`, with every part percent-encoded. */
export function databaseUrl(
  parts: Pick<DatabaseUrl, 'role' | 'database' | 'host'> & Partial<Pick<DatabaseUrl, 'password'>>,
): string {
  const { role, password, host, database } = parts;
  const login = [role, ...(password === undefined ? [] : [password])].map(percentEncode).join(':');
  return `postgresql://${login}@${host}/${encodeDatabasePath(database)}`;
}

/**
 * Percent-encodes text so that it needs no escaping between double quotes in any shell. A lone surrogate becomes the
 * replacement character.
 */
export const percentEncode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Matches the encoded characters that `pg` doesn't decode in the path of a URL, where they stay as they are. */
const PLAIN_IN_PATH = /%(?:26|3D|2B|2C|3B|3A|40)/g;

/**
 * Percent-encodes the name of a database for the path of a URL, except for the characters that some clients don't decode
 * there.
 */
export const encodeDatabasePath = (database: string): string =>
  percentEncode(database).replace(PLAIN_IN_PATH, decodeURIComponent);

/** A regular expression for the schemes of Postgres, PostGIS, Ecto and others, to be used without regard to case. */
export const URL_SCHEME = '(?:postgres(?:ql)?|postgis|pg?sql|ecto)';

/**
 * The groups of a match are the scheme, the role, the password, the host, the database and the rest. The rest may end with an escaped
 * line break, as in `"postgres://…\
 * "`.
 */
const URL_PARTS = new RegExp(
  [
    `^(\\s*${URL_SCHEME}(?:\\+\\w+)?://)`,
    /([^:@/?#\s\\$'"`]+)(?::([^@/?#\s]*))?@([^@/?#,\s\\$'"`]+)\//.source,
    /([^?#\s\\$'"`]+)((?:[?#]\S*|(?:\\[nr])*)\s*)$/.source,
  ].join(''),
  'i',
);

/** Matches parameters that some clients prefer to the same part of the URL, and by which they would reach another server. */
const OVERRIDES =
  /[?&](?:host|hostaddr|port|user|password|dbname|service|options=[^&]*(?:endpoint|project))(?:=|%3D)/i;

/** The parts as they are in the text, not decoded. */
interface Texts {
  readonly scheme: string;
  readonly role: string;
  readonly password: string | undefined;
  readonly host: string;
  readonly database: string;
  readonly rest: string;
}

function readParts(text: string): { readonly url: DatabaseUrl; readonly texts: Texts } | undefined {
  const match = URL_PARTS.exec(text);
  if (match === null) return undefined;
  const [, scheme = '', role = '', password, host = '', database = '', rest = ''] = match;
  if (OVERRIDES.test(rest)) return undefined;
  const texts = { scheme, role, password, host, database, rest };
  try {
    const decoded = { role: decodeURIComponent(role), database: decodeURIComponent(database) };
    const login = { ...decoded, password: password && decodeIfPossible(password) };
    return { url: { ...login, host: normalizeHost(host), server: splitHost(host) }, texts };
  } catch {
    return undefined; // A part isn't valid percent-encoding.
  }
}

/**
 * Decodes a password. Users and services may not have percent-encoded it, so it is returned as it is if it can't be
 * decoded.
 */
export function decodeIfPossible(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const joinParts = ({ scheme, role, password, host, database, rest }: Texts): string =>
  `${scheme}${password === undefined ? role : `${role}:${password}`}@${host}/${database}${rest}`;

/** Returns the parts of a URL; undefined if the text isn't the URL of one database on one host, or its parameters name another one. */
export const parseDatabaseUrl = (value: string): DatabaseUrl | undefined => readParts(value)?.url;

/** Parses a URL of the local service. @throws {TypeError} if it isn't the URL of one database */
export const requireDatabaseUrl = (value: string): DatabaseUrl => requireParts(value).url;

/** Returns the URL with another database. @throws {TypeError} if it isn't the URL of one database */
export const withDatabase = (value: string, database: string): string =>
  joinParts({ ...requireParts(value).texts, database: encodeDatabasePath(database) });

function requireParts(value: string) {
  const parts = readParts(value);
  if (parts === undefined) throw new TypeError("That isn't the URL of one database");
  return parts;
}

/**
 * Replaces the role, password, host and database by those of another URL, and keeps everything else, such as parameters.
 * The parameters for TLS are replaced too if the host is another one, because what a server offers can't be seen in its name.
 * @returns undefined if either isn't the URL of one database
 */
export function replaceUrlTarget(text: string, url: string): string | undefined {
  const [old, target] = [readParts(text), readParts(url)];
  if (old === undefined || target === undefined) return undefined;
  const textOfPart = (part: 'role' | 'host' | 'database') =>
    (old.url[part] === target.url[part] ? old : target).texts[part];
  const tls = tlsParameters(target.texts.rest);
  const keepsTls =
    old.url.host === target.url.host ||
    isDeepStrictEqual(new Set(tlsParameters(old.texts.rest)), new Set(tls));
  return joinParts({
    scheme: old.texts.scheme,
    role: textOfPart('role'),
    password: target.texts.password,
    host: textOfPart('host'),
    database: textOfPart('database'),
    rest: keepsTls ? old.texts.rest : withTlsParameters(old.texts.rest, tls),
  });
}

/**
 * Matches the parameters for TLS of libpq, JDBC, Prisma and others. They are replaced together, because one can be an error
 * without another, such as `sslnegotiation=direct` without an `sslmode`.
 */
const SECURITY =
  /(?<=[?&])(?:(?:require)?ssl\w*|tls\w*|channel_?binding|uselibpqcompat)=[^&#\s\\]*(?:&|(?=[#\s\\]|$))/gi;

/** Returns the parameters for TLS, as in the text. */
export const tlsParameters = (text: string): string[] =>
  [...text.matchAll(SECURITY)].map(([each]) => each.replace('&', ''));

/** Matches the separator that is left at the end of a query when its parameters are removed. */
const DANGLING = /[?&](?=$|[#\s\\])/;
/** The groups of a match are a URL, its query, and the rest. In a file, white space or a backslash can follow the URL. */
const QUERY = /^([^?#\s\\]*)\??([^#\s\\]*)(.*)$/s;

/** Replaces the parameters for TLS. @param text a URL, or its end */
export function withTlsParameters(text: string, parameters: readonly string[]): string {
  const kept = text.replace(SECURITY, '').replace(DANGLING, '');
  if (parameters.length === 0) return kept;
  const [start = '', query = '', end = ''] = QUERY.exec(kept)?.slice(1) ?? [];
  return `${start}?${[...parameters, ...(query === '' ? [] : [query])].join('&')}${end}`;
}
