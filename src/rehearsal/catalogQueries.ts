/**
 * Queries for the locks and relations that a rehearsal reports. Superusers run them, too, so every name and operator is qualified
 * with `pg_catalog`, and none of a user's can take its place.
 */

/**
 * The condition for objects of users. It is about their schema, because ids don't show it: the objects that a new branch begins with
 * are made without a server, so their ids are as low as Postgres's own. `n` is their `pg_namespace`.
 */
export const OF_USERS = `n.nspname operator(pg_catalog.<>) all ('{pg_catalog,information_schema,pg_toast}'::pg_catalog.name[])
and not pg_catalog.starts_with(n.nspname, 'pg_temp')`;

/**
 * Reads the locks of relations that other sessions can see. A table that the transaction has created isn't one of them, and no other
 * session can wait for it. A locked index counts as a lock of its table, because planning a query of the table locks the index, too.
 * @param pids the processes, as an array in SQL
 */
export const locksQuery = (pids: string): string => `
select l.pid, l.mode, coalesce(i.indrelid, c.oid)::pg_catalog.int8::pg_catalog.float8 as id,
  pg_catalog.format('%I.%I', n.nspname, coalesce(t.relname, c.relname)) as table,
  case when i.indrelid is not null then c.relname end as index
from pg_catalog.pg_locks l
join pg_catalog.pg_class c on c.oid operator(pg_catalog.=) l.relation
join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) c.relnamespace
left join pg_catalog.pg_index i on i.indexrelid operator(pg_catalog.=) c.oid
left join pg_catalog.pg_class t on t.oid operator(pg_catalog.=) i.indrelid
where l.locktype operator(pg_catalog.=) 'relation' and l.granted
and l.pid operator(pg_catalog.=) any(${pids}) and ${OF_USERS}
and l.database operator(pg_catalog.=)
  (select oid from pg_catalog.pg_database where datname operator(pg_catalog.=) pg_catalog.current_database())`;

/**
 * Finds the sessions that copy, drop or rename the current database, which all other sessions must leave for that. Such a session has
 * locked the database as a whole. A session that connects takes a weaker lock. Postgres waits five seconds for the others to leave.
 */
export const EXCLUSIVE_SESSIONS_QUERY = `
select l.pid from pg_catalog.pg_locks l join pg_catalog.pg_database d on d.oid operator(pg_catalog.=) l.objid
where l.locktype operator(pg_catalog.=) 'object' and l.granted
and l.classid operator(pg_catalog.=) 'pg_catalog.pg_database'::pg_catalog.regclass
and l.mode operator(pg_catalog.=) any('{ShareLock,AccessExclusiveLock}')
and d.datname operator(pg_catalog.=) pg_catalog.current_database()`;

/**
 * A column of `relationsQuery`: how many rows sessions that have ended have changed or deleted. If Postgres doesn't count them, the number
 * is random, so that each table counts as changed.
 */
export const WRITES = `case when pg_catalog.current_setting('track_counts')::pg_catalog.bool
  then (pg_catalog.pg_stat_get_tuples_updated(c.oid) operator(pg_catalog.+)
    pg_catalog.pg_stat_get_tuples_deleted(c.oid))::pg_catalog.float8
  else pg_catalog.random() end as writes`;

/** Reads the relations of users. @param more further columns, in SQL with `c` for `pg_class` */
export const relationsQuery = (more: string): string => `
select c.oid::pg_catalog.int8::pg_catalog.float8 as id, c.relkind as kind,
  pg_catalog.format('%I.%I', n.nspname, c.relname) as name, c.relpersistence operator(pg_catalog.=) 'u' as "isUnlogged",
  coalesce(pg_catalog.pg_relation_filenode(c.oid), 0)::pg_catalog.int8::pg_catalog.float8 as file,
  ${more},
  coalesce((
    select pg_catalog.jsonb_object_agg(a.attnum, pg_catalog.jsonb_build_object(
      'name', a.attname, 'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
      'isChecked', exists (
        select from pg_catalog.pg_constraint d where d.contypid operator(pg_catalog.=) a.atttypid)))
    from pg_catalog.pg_attribute a
    where a.attrelid operator(pg_catalog.=) c.oid and a.attnum operator(pg_catalog.>) 0 and not a.attisdropped
    and a.attgenerated operator(pg_catalog.=) ''
  ), '{}') as columns,
  coalesce((
    select pg_catalog.jsonb_object_agg(o.conname, pg_catalog.jsonb_build_object(
      'kind', o.contype, 'isValidated', o.convalidated, 'columns', coalesce(o.conkey, '{}'),
      'refersTo', o.confrelid::pg_catalog.int8))
    from pg_catalog.pg_constraint o where o.conrelid operator(pg_catalog.=) c.oid
  ), '{}') as constraints
from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) c.relnamespace
where c.relkind operator(pg_catalog.=) any('{r,p,m,i,S}') and ${OF_USERS}`;
