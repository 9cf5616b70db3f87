/** Connection strings and hosts as users paste them into their programs. */
import { isLoopback } from '../../api/transport/baseUrl.ts';
import type { Credentials } from '../../api/records/connectionUri.ts';
import type { Compute } from '../../api/records/records.ts';

type Hosted = Pick<Compute, 'host' | 'pooler_host' | 'pooler_enabled'>;

const withoutPort = (host: string): string => host.replace(/:\d+$/, '');

/** Whether the compute runs on this machine. Hosted ones always have a pooler, even if `pooler_enabled` is false. */
export const isLocalCompute = ({ host }: Pick<Compute, 'host'>): boolean => isLoopback(withoutPort(host));

/** The host for pooled connections; undefined if the compute has no pooler. */
export function pooledHost(compute: Hosted): string | undefined {
  const isLocal = isLocalCompute(compute);
  if (isLocal && compute.pooler_enabled !== true) return undefined;
  if (typeof compute.pooler_host === 'string') return compute.pooler_host;
  // The public service's rule: the first label of the host with `-pooler` appended.
  return isLocal ? undefined : compute.host.replace(/^[^.:]+/, '$&-pooler');
}

export interface ConnectionStringParts extends Omit<Credentials, 'password'> {
  /** The host as in the compute's record, with a port unless it is the default one. */
  readonly host: string;
  readonly role: string;
  readonly database: string;
  readonly password?: string | undefined;
}

/** `postgresql://…`, every part percent-encoded. */
export function connectionString(parts: ConnectionStringParts): string {
  const { host, role, database, password } = parts;
  const login = [role, ...(password === undefined ? [] : [password])].map(encode).join(':');
  const query = securityOf(parts).map(([name, value]) => `${name}=${value}`);
  const search = query.length === 0 ? '' : `?${query.join('&')}`;
  return `postgresql://${login}@${host}/${encode(database)}${search}`;
}

/** The SSL mode that the service asks for. By default TLS is required, except on this machine. */
export const sslModeOf = ({
  host,
  sslMode,
}: Pick<ConnectionStringParts, 'host' | 'sslMode'>): Credentials['sslMode'] =>
  sslMode ?? (isLocalCompute({ host }) ? undefined : 'require');

/** The keywords of libpq for TLS. */
export const securityOf = (parts: ConnectionStringParts): [name: string, value: string][] =>
  definedFields({
    sslmode: sslModeOf(parts),
    channel_binding: parts.channelBinding === true ? 'require' : undefined,
  });

/** The fields that have a value. */
export const definedFields = (
  fields: Readonly<Record<string, string | undefined>>,
): [name: string, value: string][] =>
  Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));

/** The query that makes clients require TLS; empty for a host of this machine. */
export const tlsQuery = (host: string): string => (isLoopback(withoutPort(host)) ? '' : '?sslmode=require');

/**
 * Percent-encodes text so that it needs no escaping between double quotes in any shell. A lone surrogate becomes the
 * replacement character.
 */
export const encode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Splits a host from its port, and removes the brackets of an IPv6 address. */
export function splitHost(host: string): { readonly name: string; readonly port: number } {
  const [, address, name = host, port = '5432'] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(host) ?? [];
  return { name: address ?? name, port: Number(port) };
}
