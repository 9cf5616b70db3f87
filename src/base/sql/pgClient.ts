/** Creates clients of Postgres, which no other code does. */
import Client from 'pg/lib/client.js';
import type { ClientConfig } from 'pg';
import { createDirectSocket } from '../nodeHttp.ts';

/**
 * Returns a client that isn't connected yet and depends on nothing but `config`: `pg` would replace what is missing, false or
 * empty by PGOPTIONS, PGSSLMODE and other variables, which the user has set for another server. `pg` reads them in the
 * constructor. A connection that is lost fails the next statement, and isn't reported otherwise.
 */
export function createPgClient(config: ClientConfig): Client {
  const hidden = Object.fromEntries(Object.entries(process.env).filter(([name]) => /^PG/i.test(name)));
  for (const name of Object.keys(hidden)) delete process.env[name];
  try {
    const client = new Client({ stream: createDirectSocket, ...config });
    client.on('error', () => undefined);
    const reported = new Map<string, string>();
    client.connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) =>
      reported.set(parameterName, parameterValue),
    );
    parameters.set(client, reported);
    return client;
  } finally {
    Object.assign(process.env, hidden);
  }
}

/** Connects a client for the work. @param signal closes its connection */
export async function withPgClient<T>(
  config: ClientConfig,
  work: (client: Client) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  const client = createPgClient(config);
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

/** A setting that a server reports when a session begins, and whenever it changes (manual, "Asynchronous Operations"). */
export interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

const parameters = new WeakMap<Client, ReadonlyMap<string, string>>();

/** Returns a parameter that the server has reported, such as `standard_conforming_strings`; undefined before the session has begun */
export const reportedParameter = (client: Client, name: string): string | undefined =>
  parameters.get(client)?.get(name);
