/**
 * Rejects read-only statements that could call a function whose effects a rollback leaves, such as the end of another session, or
 * one that runs a text as SQL. There are many ways to call a function: `f(a)`, `(a).f`, `TREAT (a AS f)`, operators, casts,
 * domains and views. So all names of a statement are looked up in the catalog of its database, and what isn't known to be
 * harmless is rejected.
 */
import type Client from 'pg/lib/client.js';
import { namesIn } from './sqlNames.ts';

/** Volatile functions of Postgres and its extensions that only return something, and pauses, which end with the time limit. */
const HARMLESS = `array_sample array_shuffle bernoulli clock_timestamp current_query currval gen_random_bytes gen_random_uuid
  gen_salt lastval normal_rand pg_blocking_pids pg_buffercache_pages pg_buffercache_summary pg_current_wal_flush_lsn
  pg_current_wal_insert_lsn pg_current_wal_lsn pg_database_size pg_indexes_size pg_is_in_recovery pg_last_wal_receive_lsn
  pg_last_wal_replay_lsn pg_last_xact_replay_timestamp pg_partition_ancestors pg_partition_tree pg_relation_size
  pg_sequence_last_value pg_sleep pg_sleep_for pg_sleep_until pg_stat_statements pg_stat_statements_info pg_table_size
  pg_tablespace_size pg_total_relation_size pg_xact_commit_timestamp random random_normal system system_rows system_time
  timeofday uuid_generate_v1 uuid_generate_v1mc uuid_generate_v4 uuidv4 uuidv7`;

/** Functions that aren't volatile, but run a text as SQL, or take the name of a relation or type as a text. */
const TAKE_TEXT = `connectby crosstab crosstab2 crosstab3 crosstab4 crosstabn database_to_xml database_to_xml_and_xmlschema
  database_to_xmlschema pg_input_error_info pg_input_is_valid schema_to_xml schema_to_xml_and_xmlschema schema_to_xmlschema
  table_to_xml table_to_xml_and_xmlschema table_to_xmlschema xpath_table`;

/**
 * All functions. One is `harmful` if its effects may outlast a rollback, or if it runs a text that the statement may contain.
 * $1: HARMLESS, $2: TAKE_TEXT. Triggers can't be called.
 */
const FUNCTIONS = String.raw`
  SELECT f.oid, proname, prosrc, prosqlbody, pronargs - pronargdefaults AS needed, builtin, volatile,
    proname = ANY ($2::name[]) OR CASE
      WHEN builtin OR lanname IN ('c', 'internal') THEN volatile
      WHEN lanname = 'plpgsql' THEN prosrc ~* '\mexecute\M'
      ELSE lanname <> 'sql' END AS harmful
  FROM pg_catalog.pg_proc f
  JOIN pg_catalog.pg_language l ON l.oid = prolang
  LEFT JOIN pg_catalog.pg_depend e
    ON e.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND e.objid = f.oid AND e.deptype = 'e'
  CROSS JOIN LATERAL (SELECT pronamespace = 'pg_catalog'::pg_catalog.regnamespace) AS b (builtin)
  CROSS JOIN LATERAL (SELECT provolatile = 'v' AND NOT (proname = ANY ($1::name[]) AND (builtin OR e.objid IS NOT NULL))
    AND prorettype NOT IN ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)
  ) AS v (volatile)`;

/**
 * What a statement may call by name, and what may run with it: views, tables with policies, domains, also of columns, operators
 * and casts of users, whose ids begin with 16384. Functions of Postgres count by any name, because of `TREAT`. A column hides a function.
 * $3: all names, $4: those before a parenthesis, $5: those after a dot, $6: symbols.
 */
const FIND_NAMED = `
WITH functions AS NOT MATERIALIZED (${FUNCTIONS}), columns AS (
  SELECT attname, atttypid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute ON attrelid = c.oid WHERE relname = ANY ($3::name[])
)
SELECT 'function' AS kind, oid, CASE WHEN volatile OR harmful THEN proname END AS forbidden FROM functions
  WHERE proname = ANY ($3::name[]) AND (volatile OR harmful OR oid >= 16384) AND (builtin OR proname = ANY ($4::name[])
    OR (proname = ANY ($5::name[]) AND needed <= 1 AND proname NOT IN (SELECT attname FROM columns)))
UNION ALL SELECT 'function', oprcode::oid, NULL FROM pg_catalog.pg_operator
  WHERE oid >= 16384 AND pg_catalog.strpos($6, oprname) > 0
UNION ALL SELECT 'function', castfunc, NULL FROM pg_catalog.pg_cast WHERE oid >= 16384
UNION ALL SELECT 'relation', oid, NULL FROM pg_catalog.pg_class
  WHERE relname = ANY ($3::name[]) AND oid >= 16384 AND relkind <> 'm' AND (relhasrules OR relrowsecurity)
UNION ALL SELECT 'type', oid, NULL FROM pg_catalog.pg_type
  WHERE typname = ANY ($3::name[]) AND oid >= 16384 AND typtype = 'd'
UNION ALL SELECT 'type', oid, NULL FROM columns JOIN pg_catalog.pg_type t ON t.oid = atttypid
  WHERE t.oid >= 16384 AND (typtype IN ('c', 'd') OR typcategory = 'A')`;

/** The harmful functions that these objects reach by their definitions. $3: kinds, $4: ids. */
const FIND_REACHED = String.raw`
WITH RECURSIVE functions AS MATERIALIZED (${FUNCTIONS}), words AS MATERIALIZED (
  SELECT oid, pg_catalog.lower(word[1])::name AS word
  FROM functions, pg_catalog.regexp_matches(prosrc, '[[:alpha:]_][\w$]*', 'g') AS word WHERE oid >= 16384
), reached AS (
  SELECT * FROM ROWS FROM (pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::oid[])) AS named (kind, oid)
  UNION SELECT next.kind, next.oid FROM reached r CROSS JOIN LATERAL (
    SELECT CASE mark[1] WHEN 'relid' THEN 'relation' WHEN 'resulttype' THEN 'type' ELSE 'function' END, CASE mark[1]
      WHEN 'opno' THEN (SELECT oprcode::oid FROM pg_catalog.pg_operator o WHERE o.oid = mark[2]::oid) ELSE mark[2]::oid END
    FROM (
      SELECT ev_action::text FROM pg_catalog.pg_rewrite WHERE r.kind = 'relation' AND ev_class = r.oid AND ev_type = '1'
      UNION ALL SELECT polqual::text FROM pg_catalog.pg_policy WHERE r.kind = 'relation' AND polrelid = r.oid
      UNION ALL SELECT conbin::text FROM pg_catalog.pg_constraint WHERE r.kind = 'type' AND contypid = r.oid
      UNION ALL SELECT prosqlbody::text FROM functions f WHERE r.kind = 'function' AND f.oid = r.oid
    ) AS trees (tree),
    pg_catalog.regexp_matches(tree, ':(funcid|aggfnoid|winfnoid|opno|relid|resulttype) ([1-9][0-9]*)', 'g') AS mark
    UNION ALL SELECT 'function', f.oid FROM words JOIN functions f ON proname = word
      WHERE r.kind = 'function' AND words.oid = r.oid
    UNION ALL SELECT 'relation', c.oid FROM words JOIN pg_catalog.pg_class c ON relname = word
      WHERE r.kind = 'function' AND words.oid = r.oid
    UNION ALL SELECT 'function', part FROM pg_catalog.pg_aggregate, pg_catalog.unnest(ARRAY[aggtransfn, aggfinalfn,
      aggcombinefn, aggmtransfn, aggminvtransfn, aggmfinalfn]::oid[]) AS part WHERE r.kind = 'function' AND aggfnoid = r.oid
    UNION ALL SELECT 'type', part FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_attribute ON attrelid = typrelid,
      pg_catalog.unnest(ARRAY[typbasetype, typelem, atttypid]) AS part WHERE r.kind = 'type' AND t.oid = r.oid
  ) AS next (kind, oid) WHERE r.oid >= 16384
)
SELECT proname FROM reached JOIN functions USING (oid) WHERE kind = 'function' AND harmful LIMIT 1`;

/** Call it in the transaction of the statement. @throws {Error} for the agent */
export async function requireReadOnly(client: Client, sql: string): Promise<void> {
  const { all, called, dotted, symbols } = namesIn(sql);
  const lists = [HARMLESS.split(/\s+/), TAKE_TEXT.split(/\s+/)];
  const { rows: named } = await client.query<{ kind: string; oid: string; forbidden: string | null }>(
    FIND_NAMED,
    [...lists, all, called, dotted, symbols],
  );
  rejectFunction(named.find(({ forbidden }) => forbidden !== null)?.forbidden);
  if (named.length === 0) return;
  const { rows: reached } = await client.query<{ proname: string }>(FIND_REACHED, [
    ...lists,
    named.map(({ kind }) => kind),
    named.map(({ oid }) => oid),
  ]);
  rejectFunction(reached[0]?.proname);
}

/** The message is for the agent. */
export class ForbiddenFunctionError extends Error {
  override readonly name = 'ForbiddenFunctionError';
  readonly functionName: string;

  constructor(functionName: string) {
    super(
      `The function ${functionName} is not allowed in a read-only statement, because its effects could outlast it.`,
    );
    this.functionName = functionName;
  }
}

function rejectFunction(name: string | null | undefined): void {
  if (typeof name === 'string') throw new ForbiddenFunctionError(name);
}
