/** Checks hosts and connection URIs of the service, because they are put into users' files and terminals. */

const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** A host name or an address (IPv6 in brackets), with or without a port. */
export const isHost = (value: unknown): value is string => typeof value === 'string' && HOST.test(value);

/** The characters of a URI (RFC 3986), without line breaks. */
const CHARACTERS = /^[\w.~:/?@!$&'()*+,;=%[\]-]+$/;
/** If a password with a line break is pasted into a terminal, the rest of it runs as commands. */
const ENCODED_CONTROL = /%(?:[01][0-9a-f]|7f)/i;
/** The groups are the host and the query. A second `@`, `/` or `?` is rejected, because clients disagree on its meaning. */
const URI = /^postgres(?:ql)?:\/\/[^:@/?]+:[^:@/?]+@([^@/?]+)\/[^@/?]*(?:\?([^?]*))?$/;

/** Whether it is a connection URI with a password, which makes it a secret. */
export const isConnectionUri = (value: unknown): value is string =>
  typeof value === 'string' && CHARACTERS.test(value) && !ENCODED_CONTROL.test(value) && URI.test(value);

/** In libpq and the drivers, these override the host of the URI. */
const HOST_PARAMETERS = new Set(['host', 'hostaddr', 'port', 'service', 'servicefile']);

/** @returns the host of a checked URI, or its query if that may lead to another host */
export function hostOfUri(uri: string): string {
  const [, host = '', query = ''] = URI.exec(uri) ?? [];
  const names = [...new URLSearchParams(query).keys()];
  return names.some((name) => HOST_PARAMETERS.has(name.toLowerCase())) ? `?${query}` : host;
}

/** Whether two hosts are the same, regardless of letter case and the default port. */
export const isSameHost = (one: string, other: string): boolean => normalized(one) === normalized(other);

const normalized = (host: string): string => host.toLowerCase().replace(/:5432$/, '');
