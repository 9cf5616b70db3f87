/** The forms of hosts and connection URIs. The service's answers go into users' files and terminals, so they are checked. */

const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** A host name or an address (IPv6 in brackets), with or without a port. */
export const isHost = (value: unknown): value is string => typeof value === 'string' && HOST.test(value);

/** The characters of a URI (RFC 3986), all of them on one line. */
const CHARACTERS = /^[\w.~:/?@!$&'()*+,;=%[\]-]+$/;
/** A password with a line break would run the rest as commands when it is pasted into a terminal. */
const ENCODED_CONTROL = /%(?:[01][0-9a-f]|7f)/i;
/** Groups: the host and the query. Clients read a URI with a second `@`, `/` or `?` in different ways. */
const URI = /^postgres(?:ql)?:\/\/[^:@/?]+:[^:@/?]+@([^@/?]+)\/[^@/?]*(?:\?([^?]*))?$/;

/** A connection URI with a password in it: a secret. */
export const isConnectionUri = (value: unknown): value is string =>
  typeof value === 'string' && CHARACTERS.test(value) && !ENCODED_CONTROL.test(value) && URI.test(value);

/** libpq and the drivers let these override the host before the path. */
const HOST_PARAMETERS = new Set(['host', 'hostaddr', 'port', 'service', 'servicefile']);

/** @returns the host that a checked URI names, or its query if that may lead to another one */
export function hostOfUri(uri: string): string {
  const [, host = '', query = ''] = URI.exec(uri) ?? [];
  const names = [...new URLSearchParams(query).keys()];
  return names.some((name) => HOST_PARAMETERS.has(name.toLowerCase())) ? `?${query}` : host;
}

/** Whether two hosts are the same: letter case and Postgres's own port make no difference. */
export const isSameHost = (one: string, other: string): boolean => normalized(one) === normalized(other);

const normalized = (host: string): string => host.toLowerCase().replace(/:5432$/, '');
