/** One statement that asks what a compute's sessions do. Both the extension and the local service use it. */
import { fieldsOf } from '../../base/fieldsOf.ts';
import { tokensOf } from '../../base/sql/sqlTokens.ts';

/** The application name of sessions that run `SESSIONS_QUERY`, which leaves these sessions out. */
export const ACTIVITY_APPLICATION = 'Hosted Postgres activity';

/** The application name of the sessions that run statements of agents. */
export const AGENT_APPLICATION = 'Hosted Postgres agent';

/**
 * Returns one JSON array in `sessions`: of each session the fields of the record `PostgresSession`, but the beginning of its statement
 * instead of the command. Each name and operator is qualified, so that no
 * function of a user runs.
 */
export const SESSIONS_QUERY = `
SELECT pg_catalog.json_agg(pg_catalog.row_to_json(found)) AS sessions FROM (
  SELECT a.pid::pg_catalog.text AS id, a.backend_type AS type, a.application_name AS application, a.usename AS role,
    a.client_port, a.state, a.wait_event_type OPERATOR(pg_catalog.=) 'Lock' AS is_blocked, s.slot_type AS replication,
    s.slot_name AS slot, CASE WHEN s.active_pid IS NOT NULL AND NOT pg_catalog.pg_is_in_recovery() THEN
      pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), s.confirmed_flush_lsn) END AS lag,
    EXISTS (SELECT FROM pg_catalog.pg_stat_progress_copy c WHERE c.pid OPERATOR(pg_catalog.=) a.pid) AS is_copying,
    pg_catalog.left(a.query, 1000) AS query,
    ${secondsSince('a.backend_start')} AS connected_for, ${secondsSince('a.xact_start')} AS transaction_for,
    ${secondsSince('a.state_change')} AS state_for
  FROM pg_catalog.pg_stat_activity a LEFT JOIN pg_catalog.pg_replication_slots s ON s.active_pid OPERATOR(pg_catalog.=) a.pid
  WHERE a.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()
    AND coalesce(a.application_name, '') OPERATOR(pg_catalog.<>) '${ACTIVITY_APPLICATION}'
    AND a.backend_type OPERATOR(pg_catalog.=) ANY ('{client backend,walsender,autovacuum worker}')
  UNION ALL
  SELECT p.gid, 'prepared transaction', NULL, p.owner, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, ${secondsSince('p.prepared')}, NULL
  FROM pg_catalog.pg_prepared_xacts p
  LIMIT 1000
) found`;

/** Returns the sessions of the result with only the first word of each statement, because the rest may contain values. */
export const withCommands = (sessions: unknown): readonly object[] =>
  (Array.isArray(sessions) ? sessions : []).map((session) => {
    const { query, ...fields } = fieldsOf(session);
    const [first] = tokensOf(typeof query === 'string' ? query : '', 1);
    return { ...fields, command: first?.kind === 'word' ? first.text.toUpperCase() : undefined };
  });

function secondsSince(start: string): string {
  const age = `(pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) ${start})`;
  return `pg_catalog.round(pg_catalog.date_part('epoch', ${age}))`;
}
