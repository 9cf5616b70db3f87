/** The only place that creates clients of Postgres. */
import Client from 'pg/lib/client.js';
import type { ClientConfig } from 'pg';
import { directSocket } from '../nodeHttp.ts';

/**
 * Returns a client that isn't connected yet and depends on nothing but `config`: `pg` would replace what is missing, false or
 * empty by PGOPTIONS, PGSSLMODE and other variables, which the user has set for another server. It reads them in the
 * constructor. A connection that is lost fails the next statement, and isn't reported otherwise.
 */
export function createPgClient(config: ClientConfig): Client {
  const hidden = Object.fromEntries(Object.entries(process.env).filter(([name]) => /^PG/i.test(name)));
  for (const name of Object.keys(hidden)) delete process.env[name];
  try {
    const client = new Client({ stream: directSocket, ...config });
    client.on('error', () => undefined);
    return client;
  } finally {
    Object.assign(process.env, hidden);
  }
}
