/**
 * The service's own connections to a running server. They are a superuser's, so a statement must not run anything that a
 * user created: it qualifies each name and operator, and `search_path` contains only `pg_catalog`.
 */
import Client from 'pg/lib/client.js';
import { asEngineError } from '../../core/computeEngine.ts';
import { SUPERUSER } from '../data/logins.ts';
import { hostAndPort, type ServerAddress } from './serverAddress.ts';

/** The caller ends the connection. @throws {EngineError} with the server's message */
export async function connectAsSuperuser(address: ServerAddress, password: string): Promise<Client> {
  const client = new Client({
    ...hostAndPort(address),
    user: SUPERUSER,
    password,
    database: SUPERUSER,
    application_name: 'service',
    // A start-up option wins over ALTER DATABASE, ALTER ROLE and the configuration files.
    options: '-c search_path=pg_catalog',
    // Given, so that no PG… variable of the environment is used.
    ssl: false,
    client_encoding: 'UTF8',
  });
  // A connection that is lost between two statements fails the next one.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    throw asEngineError(error);
  }
}
