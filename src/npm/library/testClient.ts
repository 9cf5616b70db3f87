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

export async function closeClient(client: TestClient): Promise<void> {
  client.ref();
  await client.end();
}
