/** Connection URIs of computes. They contain a password, so they are secrets. */

/** The parts of a connection URI. */
export interface Login {
  readonly role: string;
  readonly password: string;
  readonly database: string;
}

export function connectionUriOf({ role, password, database }: Login, host: string): string {
  const user = `${encodeURIComponent(role)}:${encodeURIComponent(password)}`;
  return `postgresql://${user}@${host}/${encodeURIComponent(database)}`;
}
