/**
 * What a statement that writes has done to others and to the data, as a rehearsal would say it. Its own transaction knows: Postgres holds
 * the locks and counts the deleted rows until it ends.
 */
import { OF_USERS } from '../../../rehearsal/catalogQueries.ts';
import { ENGLISH_TEXTS } from '../../../rehearsal/text/terminalReport.ts';

/**
 * Reads the effects of the transaction in which it runs: rows with what, the name of a table, and a lock's mode or a number. What the
 * transaction has created isn't one of them: its attributes are at least as young as the transaction, also those of subtransactions.
 */
export const EFFECTS_QUERY = `
with own(age) as (select pg_catalog.age(pg_catalog.pg_current_xact_id_if_assigned()::pg_catalog.xid)),
tables as (select c.oid, pg_catalog.format('%I.%I', n.nspname, c.relname) as name
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) c.relnamespace
  where c.relkind operator(pg_catalog.=) any('{r,p,m}') and ${OF_USERS})
select 'lock', t.name, l.mode
  from pg_catalog.pg_locks l left join pg_catalog.pg_index i on i.indexrelid operator(pg_catalog.=) l.relation
  join tables t on t.oid operator(pg_catalog.=) coalesce(i.indrelid, l.relation)
  where l.pid operator(pg_catalog.=) pg_catalog.pg_backend_pid() and l.locktype operator(pg_catalog.=) 'relation' and l.granted
  and l.database operator(pg_catalog.=)
    (select oid from pg_catalog.pg_database where datname operator(pg_catalog.=) pg_catalog.current_database())
  and l.mode operator(pg_catalog.=) any('{ShareLock,ShareRowExclusiveLock,ExclusiveLock,AccessExclusiveLock}')
  and not exists (select from pg_catalog.pg_attribute a, own
    where a.attrelid operator(pg_catalog.=) l.relation and pg_catalog.age(a.xmin) operator(pg_catalog.<=) own.age
    and a.attnum operator(pg_catalog.=) case when i.indexrelid is null then -6 else 1 end)
union all select 'columns', t.name, pg_catalog.count(*)::pg_catalog.text
  from tables t join pg_catalog.pg_attribute a on a.attrelid operator(pg_catalog.=) t.oid, own
  where a.attisdropped and pg_catalog.age(a.xmin) operator(pg_catalog.<=) own.age group by t.name
union all select 'rows', t.name, deleted::pg_catalog.text
  from tables t, lateral (select pg_catalog.pg_stat_get_xact_tuples_deleted(t.oid)) s(deleted)
  where deleted operator(pg_catalog.>) 0
order by 1, 2`;

/** The most effects that are described. A statement can lock thousands of partitions. */
const MAX_SENTENCES = 5;

/** @param rows what the query has returned @returns sentences; empty if there are none */
export function effectSentences(rows: readonly (readonly (string | null)[])[]): string[] {
  const of = (what: string) =>
    rows.flatMap(([kind, table, value]) =>
      kind === what ? [{ table: table ?? '', value: value ?? '' }] : [],
    );
  const tables = Map.groupBy(of('lock'), ({ table }) => table);
  const sentences = [
    ...of('columns').map(
      ({ table, value }) =>
        `Loses the values of ${value === '1' ? '1 column' : `${value} columns`} of ${table}. The tool rehearse counts them, before.`,
    ),
    ...of('rows').map(({ table, value }) =>
      ENGLISH_TEXTS.reasonSentence({
        kind: 'loss',
        loss: { database: '', tables: [], name: table, kind: 'rows', fate: 'kept', count: Number(value) },
      }),
    ),
    // How long isn't known, because the time of the statement includes its wait for the lock.
    ...[...tables].map(([table, locks]) =>
      locks.some(({ value }) => value === 'AccessExclusiveLock')
        ? `Blocks all reads and writes of ${table}.`
        : `Blocks all writes of ${table}.`,
    ),
  ];
  const left = sentences.length - MAX_SENTENCES;
  const more = left === 1 ? 'And 1 more such effect.' : `And ${left} more such effects.`;
  return left > 0 ? [...sentences.slice(0, MAX_SENTENCES), more] : sentences;
}
