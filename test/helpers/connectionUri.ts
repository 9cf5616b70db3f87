import assert from 'node:assert/strict';
import type { Client, LoginQuery } from '../../src/api/client.ts';
import { connectionString } from '../../src/extension/connection/connectionStrings.ts';

/** The connection string that Copy Connection String… copies. */
export async function connectionUri(client: Client, projectId: string, login: LoginQuery): Promise<string> {
  const credentials = await client.findCredentials(projectId, login);
  assert(credentials !== undefined, 'no password');
  return connectionString({ ...login, ...credentials });
}
