/** Connection strings and hosts as users paste them into their programs. */
import { isLocalCompute } from '../../api/addresses/host.ts';
import type { Credentials } from '../../api/addresses/connectionUri.ts';
import { databaseUrl } from '../../api/addresses/databaseUrl.ts';
import { isLocalHost } from '../../api/addresses/host.ts';

/** What connection strings contain instead of a password that isn't known. */
export const PASSWORD_PLACEHOLDER = 'PASSWORD';

export interface ConnectionStringParts extends Omit<Credentials, 'password'> {
  /** The host as in the compute's record, with a port unless it is the default one. */
  readonly host: string;
  readonly role: string;
  readonly database: string;
  readonly password?: string | undefined;
}

/** Returns a URL such as `postgresql://…`, with every part percent-encoded. */
export function connectionString(parts: ConnectionStringParts): string {
  const query = tlsKeywords(parts).map(([name, value]) => `${name}=${value}`);
  const search = query.length === 0 ? '' : `?${query.join('&')}`;
  return `${databaseUrl(parts)}${search}`;
}

/** Returns the SSL mode that the service asks for. By default TLS is required, except on this machine. */
export const requiredSslMode = ({
  host,
  sslMode,
}: Pick<ConnectionStringParts, 'host' | 'sslMode'>): Credentials['sslMode'] =>
  sslMode ?? (isLocalCompute({ host }) ? undefined : 'require');

/** Returns the keywords of libpq for TLS. */
export const tlsKeywords = (parts: ConnectionStringParts): [name: string, value: string][] =>
  definedFields({
    sslmode: requiredSslMode(parts),
    channel_binding: parts.channelBinding === true ? 'require' : undefined,
  });

/** Returns the fields that have a value. */
export const definedFields = (
  fields: Readonly<Record<string, string | undefined>>,
): [name: string, value: string][] =>
  Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));

/** Returns the query that makes clients require TLS; empty for a host of this machine. */
export const tlsQuery = (host: string): string => (isLocalHost(host) ? '' : '?sslmode=require');
