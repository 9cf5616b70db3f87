/** Connection strings and hosts as users paste them into their programs. Pure. */
import { isLoopback } from '../../api/baseUrl.ts';
import type { Compute } from '../../api/records/records.ts';

type Hosted = Pick<Compute, 'host' | 'pooler_host' | 'pooler_enabled'>;

/** The host without a port, whatever is behind it. */
const withoutPort = (host: string): string => host.replace(/:\d+$/, '');

/** Where pooled connections go, or undefined when the compute takes none. */
export function pooledHost(compute: Hosted): string | undefined {
  if (compute.pooler_enabled !== true) return undefined;
  if (typeof compute.pooler_host === 'string') return compute.pooler_host;
  // The public service's rule: the first label of the host with `-pooler` appended.
  return isLoopback(withoutPort(compute.host)) ? undefined : compute.host.replace(/^[^.:]+/, '$&-pooler');
}

export interface ConnectionStringParts {
  /** As on the record: a host name, with a port where it is not Postgres's own. */
  readonly host: string;
  readonly role: string;
  readonly database: string;
  readonly password?: string | undefined;
}

/** `postgresql://…`, every part percent-encoded. Anything but this machine is reached over TLS alone. */
export function connectionString({ host, role, database, password }: ConnectionStringParts): string {
  const login = [role, ...(password === undefined ? [] : [password])].map(encode).join(':');
  return `postgresql://${login}@${host}/${encode(database)}${tlsQuery(host)}`;
}

/** The password in a connection string, as a person would type it; undefined where there is none. */
export function passwordOf(uri: string): string | undefined {
  const password = URL.parse(uri)?.password ?? '';
  try {
    return decodeURIComponent(password) || undefined;
  } catch {
    // Not encoded, against the rules: then it is meant as it stands.
    return password;
  }
}

/** The query that makes clients insist on TLS; empty for a host of this machine. */
export const tlsQuery = (host: string): string => (isLoopback(withoutPort(host)) ? '' : '?sslmode=require');

/** Half a surrogate pair, which no encoding has, becomes the replacement character. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed());
