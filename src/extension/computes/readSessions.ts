/** Asks a compute for its sessions. That counts as a use of it at the public service. */
import { splitHost } from '../../api/addresses/host.ts';
import { parseSessions, type Session } from '../../api/records/records.ts';
import { OWN_APPLICATION, SESSIONS_QUERY } from '../../api/rules/sessions.ts';
import { createPgClient } from '../../base/pgClient.ts';
import { sslModeOf, type ConnectionStringParts } from '../connection/connectionStrings.ts';

/** Milliseconds, for the connection and for the statement. */
const LIMIT = 3000;

/** @throws {Error} from Postgres or the network */
export async function readSessions(login: ConnectionStringParts): Promise<readonly Session[]> {
  const { name: host, port } = splitHost(login.host);
  const client = createPgClient({
    host,
    port,
    user: login.role,
    password: login.password ?? '',
    database: login.database,
    ssl: sslModeOf(login) !== undefined,
    enableChannelBinding: true,
    application_name: OWN_APPLICATION,
    client_encoding: 'UTF8',
    connectionTimeoutMillis: LIMIT,
    query_timeout: LIMIT,
  });
  try {
    await client.connect();
    const { rows } = await client.query<{ sessions: unknown }>(SESSIONS_QUERY);
    return parseSessions(rows[0]?.sessions);
  } finally {
    await client.end().catch(() => undefined);
  }
}
