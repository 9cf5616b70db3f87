/** The sessions of a running server, read past the gateway, so that reading them is no activity. */
import { SESSIONS_QUERY, withCommands } from '../../api/rules/sessions.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { asEngineError } from '../core/computeEngine.ts';
import { REPLICATOR, SUPERUSER } from '../core/systemNames.ts';
import type { Postmaster } from './server/postmaster.ts';
import { askUnlessOver } from './server/serverProcess.ts';
import { withSuperuser, type SuperuserLogin } from './server/superuser.ts';

/**
 * Reads all sessions but those of the service: its own, of PgBouncer's look-ups and of read replicas.
 * @param clientPort returns the port of a client of the gateway, which Postgres doesn't know, by the process id of its session
 * @returns undefined if the server is over by then
 * @throws {EngineError}
 */
export async function readSessions(
  login: SuperuserLogin,
  server: Postmaster,
  clientPort: (pid: number) => number | undefined,
): Promise<readonly object[] | undefined> {
  try {
    const found = await askUnlessOver(server, async () =>
      withSuperuser(login, server.address, async (client) =>
        client.query<{ sessions: unknown }>(SESSIONS_QUERY),
      ),
    );
    if (found === undefined) return undefined;
    const { rows } = found;
    return withCommands(rows[0]?.sessions).flatMap((session) => {
      const { id, role, replication } = fieldsOf(session);
      const shown = { ...session, client_port: clientPort(Number(id)) };
      // This process sends changes to a client.
      if (role === REPLICATOR && replication === 'logical') return { ...shown, role: undefined };
      return role === SUPERUSER || role === REPLICATOR ? [] : shown;
    });
  } catch (error) {
    throw asEngineError(error);
  }
}
