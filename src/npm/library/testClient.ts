/** A connection that doesn't keep the process of a test file running while it is idle. */
import type { ClientConfig } from 'pg';
import type Client from 'pg/lib/client.js';
import { createPgClient } from '../../base/sql/pgClient.ts';

/** A client with two methods that its types lack. */
export type TestClient = Client & { ref(): void; unref(): void };

export async function openClient(url: string, config: ClientConfig = {}): Promise<TestClient> {
  const client = createPgClient({ ...config, connectionString: url });
  await client.connect();
  return client as TestClient;
}

/**
 * Runs a query on the client, or on a new one if its connection has ended, because a test may have ended all connections.
 * @param connect opens the new one
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
