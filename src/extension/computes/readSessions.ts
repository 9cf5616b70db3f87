/** Asks a compute for its sessions. That counts as a use of it at the public service. */
import { parsePostgresSessions, type PostgresSession } from '../../api/records/records.ts';
import { ACTIVITY_APPLICATION, SESSIONS_QUERY, withCommands } from '../../api/rules/sessions.ts';
import { withSession, type BranchLogin, type SessionOptions } from '../connection/sqlSession.ts';

/** Seconds that connecting and the statement may take together. */
const LIMIT_SECONDS = 3;

const READING: SessionOptions = {
  application: ACTIVITY_APPLICATION,
  begin: 'BEGIN READ ONLY',
  timeoutSeconds: LIMIT_SECONDS,
};

/** @throws {Error} from Postgres or the network */
export const readSessions = async (
  login: BranchLogin,
  signal: AbortSignal,
): Promise<readonly PostgresSession[]> =>
  await withSession(
    login,
    READING,
    AbortSignal.any([signal, AbortSignal.timeout(LIMIT_SECONDS * 1000)]),
    async (client) => {
      const { rows } = await client.query<{ sessions: unknown }>(SESSIONS_QUERY);
      return parsePostgresSessions(withCommands(rows[0]?.sessions));
    },
  );
