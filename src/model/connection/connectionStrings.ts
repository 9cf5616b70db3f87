/** Connection strings and hosts as users paste them into their programs. */
import { isLoopback } from '../../api/baseUrl.ts';
import type { Compute } from '../../api/records/records.ts';

type Hosted = Pick<Compute, 'host' | 'pooler_host' | 'pooler_enabled'>;

const withoutPort = (host: string): string => host.replace(/:\d+$/, '');

/** Whether the compute runs on this machine. Others always have a pooler, even if `pooler_enabled` is false. */
export const isLocalCompute = ({ host }: Pick<Compute, 'host'>): boolean => isLoopback(withoutPort(host));

/** The host for pooled connections; undefined if the compute has no pooler. */
export function pooledHost(compute: Hosted): string | undefined {
  const isLocal = isLocalCompute(compute);
  if (isLocal && compute.pooler_enabled !== true) return undefined;
  if (typeof compute.pooler_host === 'string') return compute.pooler_host;
  // The public service's rule: the first label of the host with `-pooler` appended.
  return isLocal ? undefined : compute.host.replace(/^[^.:]+/, '$&-pooler');
}

export interface ConnectionStringParts {
  /** As on the record: a host name, with a port unless it is the default one. */
  readonly host: string;
  readonly role: string;
  readonly database: string;
  readonly password?: string | undefined;
  /** Whether the service asks for channel binding. Without it, a server that pretends to be it could ask for the password. */
  readonly channelBinding?: boolean | undefined;
}

/** `postgresql://…`, every part percent-encoded. Requires TLS except on this machine. */
export function connectionString(parts: ConnectionStringParts): string {
  const { host, role, database, password } = parts;
  const login = [role, ...(password === undefined ? [] : [password])].map(encode).join(':');
  const query = securityOf(parts).map(([name, value]) => `${name}=${value}`);
  const search = query.length === 0 ? '' : `?${query.join('&')}`;
  return `postgresql://${login}@${host}/${encode(database)}${search}`;
}

/** The keywords of libpq for TLS. */
export const securityOf = ({
  host,
  channelBinding,
}: Pick<ConnectionStringParts, 'host' | 'channelBinding'>): readonly (readonly [string, string])[] => [
  ...(isLocalCompute({ host }) ? [] : [['sslmode', 'require'] as const]),
  ...(channelBinding === true ? [['channel_binding', 'require'] as const] : []),
];

/** What a connection string of the service gives in addition to what the user chose. */
export const secretsOf = (
  uri: string | undefined,
): Pick<ConnectionStringParts, 'password' | 'channelBinding'> => ({
  password: uri && passwordOf(uri),
  channelBinding: URL.parse(uri ?? '')?.searchParams.get('channel_binding') === 'require',
});

/** The decoded password of a connection string, if it has one. */
export function passwordOf(uri: string): string | undefined {
  const password = URL.parse(uri)?.password ?? '';
  try {
    return decodeURIComponent(password) || undefined;
  } catch {
    // It isn't percent-encoded, against the rules: return it unchanged.
    return password;
  }
}

/** The query that makes clients require TLS; empty for a host of this machine. */
export const tlsQuery = (host: string): string => (isLoopback(withoutPort(host)) ? '' : '?sslmode=require');

/** What is left needs no escaping between double quotes in any shell. A lone surrogate becomes the replacement character. */
const encode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Without the brackets of an IPv6 address. */
export function splitHost(host: string): { readonly name: string; readonly port: number } {
  const [, address, name = host, port = '5432'] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(host) ?? [];
  return { name: address ?? name, port: Number(port) };
}
