/** Checks connection URIs from the service, because they are put into users' files and terminals. */
import { decodeIfPossible } from './databaseUrl.ts';

/** What a connection URI adds to what the user chose. The password makes it a secret. */
export interface Credentials {
  readonly password: string;
  /** Undefined if the service doesn't ask for TLS. */
  readonly sslMode?: SslMode | undefined;
  /** Whether the service requires channel binding. Without it, a server that impersonates the service could get the password. */
  readonly channelBinding?: boolean | undefined;
}

const SSL_MODES = ['require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];

/**
 * The groups of a match are the password, the host and the query. No part before the path may contain another `@`, `/` or `?`, because
 * clients disagree on where such a part ends.
 */
const URI = /^postgres(?:ql)?:\/\/[^:@/?]+:([^:@/?]+)@([^@/?]+)\/[^/?]*(?:\?([^?]*))?$/;

/**
 * Reads what is needed to build a connection string. Other parameters are dropped, because some can make a client read and
 * write files or connect to another host.
 * @returns undefined if it isn't a URI with a password, or if the password has a control character
 */
export function readConnectionUri(
  uri: string,
): { readonly host: string; readonly credentials: Credentials } | undefined {
  const [, encoded = '', host = '', query] = URI.exec(uri) ?? [];
  const password = decodeIfPossible(encoded);
  // Pasted into a terminal, a password with a line break would run its rest as a command.
  if (password === '' || /\p{Cc}/u.test(password)) return undefined;
  const parameters = new URLSearchParams(query);
  const sslMode = SSL_MODES.find((mode) => mode === parameters.get('sslmode'));
  const channelBinding = parameters.get('channel_binding') === 'require';
  return { host, credentials: { password, sslMode, channelBinding } };
}

export const isConnectionUri = (value: unknown): value is string =>
  typeof value === 'string' && readConnectionUri(value) !== undefined;
