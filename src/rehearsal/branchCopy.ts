/** Copies of a branch, and connections to them. */
import type Client from 'pg/lib/client.js';
import { withPgClient } from '../base/sql/pgClient.ts';

/** A copy of a branch. It contains a secret: `url` has the password of the owner. */
export interface BranchCopy {
  readonly url: string;
  /** The roles that still have the passwords of the branch that was copied. Missing if that doesn't matter. */
  readonly sharedRoles?: readonly string[];
}

/** Returns the database of the URL, in which the migration begins. */
export const databaseOfCopy = ({ url }: BranchCopy): string =>
  decodeURIComponent(new URL(url).pathname.slice(1));

interface CopySession {
  readonly database: string;
  /** Settings of the session, as `-c name=value`. */
  readonly options: string;
}

/** Runs work in a session of the owner, which the signal ends. */
export async function withCopySession<T>(
  copy: BranchCopy,
  { database, options }: CopySession,
  signal: AbortSignal | undefined,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const url = new URL(copy.url);
  url.pathname = `/${encodeURIComponent(database)}`;
  return await withPgClient({ connectionString: url.href, options }, work, signal);
}
