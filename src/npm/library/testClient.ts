/** Opens connections that don't keep the process of a test file running while they are idle. */
import type { ClientConfig } from 'pg';
import type Client from 'pg/lib/client.js';
import { createPgClient } from '../../base/sql/pgClient.ts';

/** A client of `pg`, with two methods that are missing in its types. */
export type TestClient = Client & { ref(): void; unref(): void };

export async function openClient(url: string, config: ClientConfig = {}): Promise<TestClient> {
  const client = createPgClient({ ...config, connectionString: url });
  await client.connect();
  return client as TestClient;
}

/**
 * Runs a query on the client, or on a new one if its connection has ended, because a test may have ended all connections.
 * @param connect opens a new client
 */
export async function queryOnOpenClient<T>(
  known: TestClient | undefined,
  connect: () => Promise<TestClient>,
  query: (client: TestClient) => Promise<T>,
): Promise<{ readonly client: TestClient; readonly result: T }> {
  known?.ref();
  const result = known && (await query(known).catch(() => undefined));
  if (known !== undefined && result !== undefined) return { client: known, result };
  const client = await connect();
  return { client, result: await query(client) };
}

export async function closeClient(client: TestClient): Promise<void> {
  client.ref();
  await client.end();
}
