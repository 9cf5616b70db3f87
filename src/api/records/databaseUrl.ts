/** The URL of a database, in a form that users have in their files. */
import { isLoopback } from '../transport/baseUrl.ts';
import { splitHost } from '../../model/connection/connectionStrings.ts';

export interface DatabaseUrl {
  readonly role: string;
  readonly database: string;
  /** In lower case, with a port unless it is the default one. */
  readonly host: string;
}

/**
 * Groups: the scheme, the role, the password, the host, the database, the rest. The schemes are those of Postgres, PostGIS and
 * Ecto. The rest may end with an escaped line break, as in `"postgres://…\n"`.
 */
const URL_PARTS =
  /^(\s*(?:postgres(?:ql)?|postgis|pgsql|ecto)(?:\+\w+)?:\/\/)([^:@/?#\s\\$'"`]+)(?::([^@/?#\s]*))?@([^@/?#,\s\\$'"`]+)\/([^?#\s\\$'"`]+)((?:[?#]\S*|(?:\\[nr])*)\s*)$/i;

/** Parameters that some clients prefer to the same part of the URL, and that would keep them on another server. */
const OVERRIDES =
  /[?&](?:host|hostaddr|port|user|password|dbname|service|options=[^&]*(?:endpoint|project))(?:=|%3D)/i;

interface Parts extends DatabaseUrl {
  /** As in the text. */
  readonly texts: {
    readonly scheme: string;
    readonly role: string;
    readonly password: string | undefined;
    readonly host: string;
    readonly database: string;
    readonly rest: string;
  };
}

function partsOf(text: string): Parts | undefined {
  const match = URL_PARTS.exec(text);
  if (match === null) return undefined;
  const [, scheme = '', role = '', password, host = '', database = '', rest = ''] = match;
  if (OVERRIDES.test(rest)) return undefined;
  const texts = { scheme, role, password, host, database, rest };
  try {
    const decoded = { role: decodeURIComponent(role), database: decodeURIComponent(database) };
    return { ...decoded, host: hostKey(host), texts };
  } catch {
    return undefined; // Not percent-encoded.
  }
}

/** @returns undefined if it isn't the URL of one database on one host, or if its parameters name another one */
export function parseDatabaseUrl(value: string): DatabaseUrl | undefined {
  const parts = partsOf(value);
  return parts && { role: parts.role, database: parts.database, host: parts.host };
}

/**
 * Replaces the role, password, host and database by those of another URL, and keeps everything else, such as parameters. The
 * parameters for TLS belong to the host if one of the two is on this machine.
 * @returns undefined if either isn't the URL of one database
 */
export function withTarget(text: string, url: string): string | undefined {
  const [old, target] = [partsOf(text), partsOf(url)];
  if (old === undefined || target === undefined) return undefined;
  const { role, password, host, database } = target.texts;
  const isSameRole = old.role === target.role;
  const login = [isSameRole ? old.texts.role : role, ...(password === undefined ? [] : [password])].join(':');
  const place = [
    old.host === target.host ? old.texts.host : host,
    old.database === target.database ? old.texts.database : database,
  ].join('/');
  const isMoved = isOnThisMachine(old.host) !== isOnThisMachine(target.host);
  const rest = isMoved ? withSecurity(old.texts.rest, target.texts.rest) : old.texts.rest;
  return `${old.texts.scheme}${login}@${place}${rest}`;
}

const isOnThisMachine = (host: string): boolean => isLoopback(splitHost(host).name);

const SECURITY = /(?<=[?&])(?:sslmode|channel_binding)=[^&#\s\\]*(?:&|(?=[#\s\\]|$))/gi;

/** Replaces the parameters for TLS. */
function withSecurity(rest: string, targetRest: string): string {
  const kept = rest.replace(SECURITY, '').replace(/[?&](?=$|[#\s\\])/, '');
  const added = [...targetRest.matchAll(SECURITY)].map(([text]) => text.replace('&', ''));
  if (added.length === 0) return kept;
  return `?${added.join('&')}${kept.startsWith('?') ? `&${kept.slice(1)}` : kept}`;
}

/** The same for all spellings of a host. */
export const hostKey = (host: string): string =>
  host
    .toLowerCase()
    .replace(/:5432$/, '')
    .replace(/^localhost(?=:|$)/, '127.0.0.1');
