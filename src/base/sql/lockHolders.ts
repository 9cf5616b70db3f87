/** Finds the transactions with the locks of tables for which a statement has waited too long. */
import type Client from 'pg/lib/client.js';
import { quoteText } from './quote.ts';

/** The SQLSTATE of a statement that has waited longer than `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Reads the transactions that hold an exclusive lock of a user's table, which also keeps others from reading the table. A prepared
 * transaction has no process. Its locks have the same virtual id as the lock of its transaction.
 */
const HOLDERS = `
  select pg_catalog.format('%I.%I', n.nspname, c.relname) as table, holder.*
  from pg_catalog.pg_locks as l
  join pg_catalog.pg_database as d on d.oid operator(pg_catalog.=) l.database
  join pg_catalog.pg_class as c on c.oid operator(pg_catalog.=) l.relation
  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
  cross join lateral (
    select null as gid, pid, usename::pg_catalog.text as role, application_name as application, state, xact_start as start
    from pg_catalog.pg_stat_activity as a where a.pid operator(pg_catalog.=) l.pid
    union all select p.gid, null, p.owner::pg_catalog.text, null, null, p.prepared
    from pg_catalog.pg_locks as own
    join pg_catalog.pg_prepared_xacts as p on p.transaction operator(pg_catalog.=) own.transactionid
    where own.virtualtransaction operator(pg_catalog.=) l.virtualtransaction and l.pid is null
  ) as holder (gid, pid, role, application, state, start)
  where l.granted and l.mode operator(pg_catalog.=) 'AccessExclusiveLock'
    and d.datname operator(pg_catalog.=) pg_catalog.current_database()
    and c.relkind operator(pg_catalog.=) any ('{r,p,v,m,f}'::pg_catalog."char"[])
    and n.nspname operator(pg_catalog.!~) '^pg_'`;

const OLDEST = `
  select pg_catalog.current_database() as database, pg_catalog.min("table") as "table", gid, pid, role, application, state,
    pg_catalog.to_char(start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') as since
  from (${HOLDERS}) as found group by gid, pid, role, application, state, start order by start limit 3`;

type Holder = Readonly<
  Record<'database' | 'table' | 'role', string> &
    Record<'gid' | 'application' | 'state' | 'since', string | null> & { pid: number | null }
>;

/** Returns sentences that name the oldest holders and what helps; undefined if no table is locked any more. */
export async function lockAdvice(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<Holder>(OLDEST);
  return rows.length === 0 ? undefined : rows.map(holderAdvice).join(' ');
}

function holderAdvice(holder: Holder): string {
  const { table, gid, role, pid, database } = holder;
  const since = holder.since === null ? '' : `, since ${holder.since}`;
  if (gid !== null) {
    const quoted = quoteText(gid);
    return `${table} is locked by the prepared transaction ${quoted} of ${role}${since}. End it with COMMIT PREPARED ${quoted} or ROLLBACK PREPARED ${quoted} in the database ${database}.`;
  }
  const known = [holder.application ? `"${holder.application}"` : '', holder.state ?? ''].filter(
    (part) => part !== '',
  );
  const details = known.length === 0 ? '' : ` (${known.join(', ')})`;
  return `${table} is locked by a session of ${role}${details}${since}. End its transaction there, or the session with SELECT pg_terminate_backend(${pid}).`;
}
