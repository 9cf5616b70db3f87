/** Copies of a branch, and connections to them. */
import type Client from 'pg/lib/client.js';
import { createPgClient } from '../base/sql/pgClient.ts';

/** Contains a secret: `url` has the password of the owner. */
export interface BranchCopy {
  readonly url: string;
}

/** The database of the URL, in which the migration begins. */
export const databaseOf = ({ url }: BranchCopy): string => decodeURIComponent(new URL(url).pathname.slice(1));

interface CopySession {
  readonly database: string;
  /** Settings of the session, as `-c name=value`. */
  readonly options: string;
}

/** Runs work in a session of the owner, which the signal ends. */
export async function onCopy<T>(
  copy: BranchCopy,
  { database, options }: CopySession,
  signal: AbortSignal | undefined,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const url = new URL(copy.url);
  url.pathname = `/${encodeURIComponent(database)}`;
  const client = createPgClient({ connectionString: url.href, options });
  const onAbort = () => client.connection.stream.destroy(new Error('Canceled.'));
  signal?.addEventListener('abort', onAbort);
  try {
    await client.connect();
    return await work(client);
  } finally {
    signal?.removeEventListener('abort', onAbort);
    await client.end().catch(() => undefined);
  }
}
