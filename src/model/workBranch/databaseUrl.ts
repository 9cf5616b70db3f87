/** The connection string in an env file. Only host and password are replaced; role, database and parameters stay. */

export interface DatabaseUrl {
  readonly role: string;
  readonly database: string;
  /** In lower case, with a port unless it is the default one. */
  readonly host: string;
}

/** Groups: everything before the password, the password, the host, the rest. */
const URL_PARTS = /^(postgres(?:ql)?(?:\+\w+)?:\/\/[^:@/?#\s]+)(?::([^@/?#\s]*))?@([^@/?#,\s]+)(\/[^\s]*)$/;

/** @returns undefined if it isn't the URL of one database on one host */
export function parseDatabaseUrl(value: string): DatabaseUrl | undefined {
  const [, login = '', , host = '', rest = ''] = URL_PARTS.exec(value) ?? [];
  const [role, database] = [login.slice(login.lastIndexOf('/') + 1), rest.slice(1).replace(/[?#].*$/, '')];
  try {
    const decoded = { role: decodeURIComponent(role), database: decodeURIComponent(database) };
    return decoded.database === '' ? undefined : { ...decoded, host: hostKey(host) };
  } catch {
    return undefined; // Not percent-encoded, or contains shell variables.
  }
}

/** @param password percent-encoded by the caller */
export const replaceHost = (value: string, host: string, password: string): string =>
  value.replace(
    URL_PARTS,
    (_, login: string, _password, _host, rest: string) => `${login}:${password}@${host}${rest}`,
  );

/** The same for all spellings of a host. */
export const hostKey = (host: string): string =>
  host
    .toLowerCase()
    .replace(/:5432$/, '')
    .replace(/^localhost(?=:|$)/, '127.0.0.1');
