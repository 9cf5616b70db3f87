/**
 * Limits what owners can connect to with `dblink` and `postgres_fdw`: to any address, with a password. libpq, which both use, can
 * also read and write files of the machine (keys, `service`, `sslkeylogfile`) and connect to Unix sockets, so the options for that
 * are rejected. Both extensions themselves reject connections for which the other server asks for no password.
 */

/** Matches one host, or several with commas. No host is empty, because that would mean the default socket. */
const HOSTS = String.raw`[A-Za-z0-9_.:%-]+(,[A-Za-z0-9_.:%-]+)*`;
const URI_HOSTS = String.raw`[A-Za-z0-9[][][A-Za-z0-9_.:-]*(,[A-Za-z0-9[][][A-Za-z0-9_.:-]*)*`;

/** Options of libpq that name no file. */
const OPTIONS = [
  'application_name',
  'channel_binding',
  'client_encoding',
  'connect_timeout',
  'fallback_application_name',
  'keepalives',
  'keepalives_count',
  'keepalives_idle',
  'keepalives_interval',
  'load_balance_hosts',
  'max_protocol_version',
  'min_protocol_version',
  'options',
  'require_auth',
  'ssl_max_protocol_version',
  'ssl_min_protocol_version',
  'sslmode',
  'sslnegotiation',
  'sslsni',
  'target_session_attrs',
  'tcp_user_timeout',
].join('|');

/** Options of `postgres_fdw` and `dblink_fdw` themselves, which check who may set them. */
const WRAPPER_OPTIONS = [
  'analyze_sampling',
  'async_capable',
  'batch_size',
  'column_name',
  'extensions',
  'fdw_startup_cost',
  'fdw_tuple_cost',
  'fetch_size',
  'keep_connections',
  'parallel_abort',
  'parallel_commit',
  'password_required',
  'schema_name',
  'table_name',
  'truncatable',
  'updatable',
  'use_remote_estimate',
  'use_scram_passthrough',
].join('|');

const SPACE = String.raw`[ \t\r\n]*`;
const VALUE = String.raw`('([^'\\]|\\.)*'|([^[:space:]'\\]|\\.)+)`;
const PAIR = `((host|hostaddr)${SPACE}=${SPACE}('${HOSTS}'|${HOSTS})|sslrootcert=system|(port|dbname|user|password|${OPTIONS})${SPACE}=${SPACE}${VALUE})`;
/** Without a space between two pairs, libpq reads the second one as a part of the first one's value. */
const CONNECTION_STRING = `^${SPACE}(${PAIR}[ \\t\\r\\n]+)*${PAIR}${SPACE}$`;
/**
 * Matches a parameter of a URI. It has no `@`, because libpq takes an `@` before the first slash as the end of user and password,
 * even if the `@` follows a question mark.
 */
const PARAMETER = `(sslrootcert=system|(${OPTIONS})=[^&=@]*)`;
const URI = String.raw`^postgres(ql)?://([^@/?]*@)?(${URI_HOSTS})?(/[^?]*)?(\?${PARAMETER}(&${PARAMETER})*)?$`;

/** Quotes a text so that it has the same meaning with any `standard_conforming_strings` of the role that creates the extension. */
const dollarQuoted = (text: string): string => `$pattern$${text}$pattern$`;

/**
 * Domains that replace the type `text`. The first one is for arguments that can be connection strings, and checks them. The second
 * one is for SQL, which another function of the same name has in the same place. With `text` there, Postgres would prefer that function.
 */
const DBLINK_DOMAINS = `
CREATE DOMAIN @extschema@.dblink_connection AS pg_catalog.text
  CONSTRAINT only_options_that_name_no_file_or_socket CHECK (
    VALUE OPERATOR(pg_catalog.!~) '=|://'
    OR VALUE OPERATOR(pg_catalog.~) ${dollarQuoted(CONNECTION_STRING)}
    OR VALUE OPERATOR(pg_catalog.~) ${dollarQuoted(URI)});
CREATE DOMAIN @extschema@.dblink_sql AS pg_catalog.text;
`;

const DBLINK_ARGUMENTS: readonly (readonly [old: RegExp, changed: string])[] = [
  [/^CREATE FUNCTION dblink_connect \(text\)/m, 'dblink_connect (@extschema@.dblink_connection)'],
  [/^CREATE FUNCTION dblink_connect \(text, text\)/m, 'dblink_connect (text, @extschema@.dblink_connection)'],
  [/^CREATE FUNCTION dblink \(text, text\)/m, 'dblink (@extschema@.dblink_connection, text)'],
  [
    /^CREATE FUNCTION dblink \(text, text, boolean\)/m,
    'dblink (@extschema@.dblink_connection, text, boolean)',
  ],
  [/^CREATE FUNCTION dblink \(text, boolean\)/m, 'dblink (@extschema@.dblink_sql, boolean)'],
  [/^CREATE FUNCTION dblink_exec \(text, text\)/m, 'dblink_exec (@extschema@.dblink_connection, text)'],
  [
    /^CREATE FUNCTION dblink_exec \(text, text, boolean\)/m,
    'dblink_exec (@extschema@.dblink_connection, text, boolean)',
  ],
  [/^CREATE FUNCTION dblink_exec \(text,boolean\)/m, 'dblink_exec (@extschema@.dblink_sql, boolean)'],
];

/** Restricts the connections in dblink's script. @returns undefined if it isn't the known script */
export function restrictDblink(script: string): string | undefined {
  let text = script;
  for (const [old, changed] of DBLINK_ARGUMENTS) {
    if (!old.test(text)) return undefined;
    text = text.replace(old, `CREATE FUNCTION ${changed}`);
  }
  return DBLINK_DOMAINS + text;
}

/**
 * Returns SQL that lets the owner of the extension create servers. A function checks their options before the extension's own
 * validator does.
 */
export const foreignServerSql = (wrapper: string, validator: string): string => `
CREATE FUNCTION @extschema@.${wrapper}_options(options pg_catalog.text[], catalog pg_catalog.oid)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  option text;
BEGIN
  FOREACH option IN ARRAY options LOOP
    IF option !~ '^(port|dbname|user|password|${OPTIONS}|${WRAPPER_OPTIONS})='
      AND option !~ '^host(addr)?=${HOSTS}$' AND option <> 'sslrootcert=system'
    THEN
      RAISE EXCEPTION 'the option "%" can''t be used on this service', split_part(option, '=', 1)
        USING ERRCODE = 'insufficient_privilege',
          DETAIL = 'It could name a file or socket of the machine.';
    END IF;
  END LOOP;
  PERFORM @extschema@.${validator}(options, catalog);
END $$;
ALTER FOREIGN DATA WRAPPER ${wrapper} VALIDATOR @extschema@.${wrapper}_options;
GRANT USAGE ON FOREIGN DATA WRAPPER ${wrapper} TO @extowner@ WITH GRANT OPTION;
`;
