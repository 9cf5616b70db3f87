/**
 * Tries on the copy whether others can still read views and write tables after a migration. Postgres protects what it knows to depend
 * on a column or table, but it doesn't read the bodies of functions. So everything that calls functions of users is tried, and rolled
 * back.
 */
import type Client from 'pg/lib/client.js';
import { fieldsOf } from '../base/fieldsOf.ts';
import { limitConcurrency } from '../base/limitConcurrency.ts';
import type { Rehearsal } from '../api/records/rehearsal.ts';
import { withCopySession, type BranchCopy } from './branchCopy.ts';

/** The most milliseconds for one trial, and for all trials on the copy that was migrated. */
const [LONGEST_TRIAL, ALL_TRIALS] = [2000, 10_000];
/** In how many databases something is tried at a time. */
const DATABASES_AT_A_TIME = 4;
/** The SQLSTATE of a statement that was canceled. */
const QUERY_CANCELED = '57014';
/** Stands for the error of a statement that took too long, or was not tried, because the time for all was over. */
const CANCELED = 'canceled';

/** A table or view that can't be used as before the migration. */
export interface BrokenRelation {
  readonly database: string;
  /** The name of the table or view with its schema, quoted if necessary. */
  readonly name: string;
  readonly does: 'reads' | 'refreshes' | 'updates' | 'deletes or inserts';
  /** The error of Postgres, with the function that was called. */
  readonly error: string;
}

/** What the trials after the migration have found. */
export interface TrialReport {
  readonly broken: readonly BrokenRelation[];
  /** The tables and views whose trials took too long. */
  readonly tooSlow: readonly string[];
  /**
   * The extensions because of which nothing was tried in their database: they may reach outside of it, where nothing is rolled
   * back.
   */
  readonly outside: readonly string[];
}

/** A view (`v`), materialized view (`m`), table (`r`) or partitioned table (`p`). */
interface Caller {
  readonly id: number;
  readonly name: string;
  readonly kind: 'v' | 'm' | 'r' | 'p';
  /** The columns that an insert may set. */
  readonly columns: readonly string[];
  /** The columns that an update may set. */
  readonly changeable: readonly string[];
}

interface Trial extends Pick<BrokenRelation, 'database' | 'does'> {
  readonly caller: Caller;
  readonly sql: string;
}

/**
 * Finds the tables and views that call a function of a user: in a trigger, rule, constraint, default, generated column, policy or
 * index. With `$1` and `$2`, it finds the relation with this id and those with this name instead.
 */
const CALLERS = `
with calls as (
  select d.classid, d.objid from pg_proc p join pg_depend d on d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid
  where p.pronamespace <> all ('{pg_catalog,information_schema}'::regnamespace[])
), callers as (
  select tgrelid as id from calls join pg_trigger t on (classid, objid) = ('pg_trigger'::regclass, t.oid) where tgparentid = 0
  union all select ev_class from calls join pg_rewrite t on (classid, objid) = ('pg_rewrite'::regclass, t.oid)
  union all select conrelid from calls join pg_constraint t on (classid, objid) = ('pg_constraint'::regclass, t.oid)
  union all select adrelid from calls join pg_attrdef t on (classid, objid) = ('pg_attrdef'::regclass, t.oid)
  union all select polrelid from calls join pg_policy t on (classid, objid) = ('pg_policy'::regclass, t.oid)
  union all select indrelid from calls join pg_index t on (classid, objid) = ('pg_class'::regclass, t.indexrelid)
)
select c.oid::int8::float8 as id, c.relkind as kind, format('%I.%I', n.nspname, c.relname) as name,
  array(select quote_ident(attname) from pg_attribute
    where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
  array(select quote_ident(attname) from pg_attribute
    where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' and attidentity <> 'a') as changeable
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('v', 'm', 'r', 'p') and not starts_with(n.nspname, 'pg_temp')
and case when $1::float8 is not null then c.oid::int8 = $1 or format('%I.%I', n.nspname, c.relname) = $2
  else c.oid in (select id from callers) end
order by c.oid::int8 = $1 desc, name`;

/**
 * Finds what a function could use to reach outside of the database, under any name: foreign data wrappers, of which dblink has
 * one, too, and extensions that Postgres doesn't mark as trusted. The first condition leaves out what initdb has made, so that
 * Postgres reads the files of all extensions only if there are others.
 */
const OUTSIDE = `
select coalesce(e.extname, w.fdwname) as name from pg_foreign_data_wrapper w
left join pg_depend d on d.classid = 'pg_foreign_data_wrapper'::regclass and d.objid = w.oid and d.deptype = 'e'
left join pg_extension e on e.oid = d.refobjid
union
select e.extname from pg_extension e
left join pg_available_extension_versions v on v.name = e.extname and v.version = e.extversion
where e.oid >= 16384 and not coalesce(v.trusted, false)`;

/** What was tried after the migration. */
export interface TrialsAfterMigration {
  readonly failures: readonly FailedTrial[];
  readonly tooSlow: readonly string[];
  readonly outside: readonly string[];
}
type FailedTrial = Trial & Pick<BrokenRelation, 'error'>;

export const EMPTY_TRIAL_REPORT: TrialReport = { broken: [], tooSlow: [], outside: [] };
export const NO_TRIALS: TrialsAfterMigration = { failures: [], tooSlow: [], outside: [] };

/** Tries the tables and views whose use calls functions of users, in the databases that existed before the migration. */
export async function tryCallersAfterMigration(
  { before, after }: Rehearsal,
  branch: BranchCopy,
  signal: AbortSignal | undefined,
): Promise<TrialsAfterMigration> {
  const [existed, exists] = [before, after].map((all) => new Set(all.map(({ database }) => database)));
  const databases = [...(exists ?? [])].filter((each) => existed?.has(each));
  const deadline = performance.now() + ALL_TRIALS;
  const atATime = limitConcurrency(DATABASES_AT_A_TIME);
  const trying = databases.map(async (database) =>
    atATime(async () =>
      withTrialSession(branch, database, signal, async (client, outside) =>
        outside.length > 0 ? { ...NO_TRIALS, outside } : tryCallers(client, database, deadline),
      ),
    ),
  );
  const found = await Promise.all(trying);
  return {
    failures: found.flatMap(({ failures }) => failures),
    tooSlow: [...new Set(found.flatMap(({ tooSlow }) => tooSlow))],
    outside: [...new Set(found.flatMap(({ outside }) => outside))],
  };
}

async function tryCallers(client: Client, database: string, deadline: number): Promise<TrialsAfterMigration> {
  const [failures, tooSlow]: [FailedTrial[], string[]] = [[], []];
  for (const trial of (await readCallers(client)).flatMap((caller) => trialsOfCaller(database, caller))) {
    const error = performance.now() > deadline ? CANCELED : await tryStatement(client, trial);
    if (error === CANCELED) tooSlow.push(trial.caller.name);
    else if (error !== undefined) failures.push({ ...trial, error });
  }
  return { failures, tooSlow, outside: [] };
}

/** Reports the failed trials that succeed on the data from before the migration, or take too long there: one for each table or view. */
export async function reportBrokenRelations(
  { failures, tooSlow, outside }: TrialsAfterMigration,
  original: BranchCopy,
  signal: AbortSignal | undefined,
): Promise<TrialReport> {
  const broken = new Map<string, BrokenRelation>();
  /** The names of those that take too long on the data from before, by the same keys. */
  const slowBefore = new Map<string, string>();
  for (const { database, caller, does, error } of failures) {
    const key = JSON.stringify([database, caller.id]);
    if (broken.has(key) || slowBefore.has(key)) continue;
    await withTrialSession(original, database, signal, async (client, extensions) => {
      const [before] = extensions.length > 0 ? [] : await readCallers(client, caller);
      const same = before && trialsOfCaller(database, before).find((trial) => trial.does === does);
      if (same === undefined) return;
      const errorBefore = await tryStatement(client, same);
      if (errorBefore === undefined) broken.set(key, { database, name: caller.name, does, error });
      if (errorBefore === CANCELED) slowBefore.set(key, caller.name);
    });
  }
  return {
    broken: [...broken.values()],
    tooSlow: [...new Set([...tooSlow, ...slowBefore.values()])],
    outside,
  };
}

/** Runs work in a session with a time limit. @param work also receives the extensions that may reach outside of the database */
const withTrialSession = async <T>(
  copy: BranchCopy,
  database: string,
  signal: AbortSignal | undefined,
  work: (client: Client, extensions: readonly string[]) => Promise<T>,
): Promise<T> =>
  withCopySession(
    copy,
    { database, options: `-c statement_timeout=${LONGEST_TRIAL}` },
    signal,
    async (client) => {
      const { rows } = await client.query<{ name: string }>(OUTSIDE);
      return await work(
        client,
        rows.map(({ name }) => name),
      );
    },
  );

/** Reads what calls functions of users. @param same the only caller to find, by its id or else its name */
async function readCallers(client: Client, same?: Caller): Promise<Caller[]> {
  const { rows } = await client.query<Caller>(CALLERS, [same?.id ?? null, same?.name ?? null]);
  return rows;
}

/** Returns the trials of a table or view. A row of a table is changed to what it is, and replaced by itself. */
function trialsOfCaller(database: string, caller: Caller): Trial[] {
  const { name, kind, columns, changeable } = caller;
  const trial = (does: Trial['does'], sql: string): Trial => ({ database, caller, does, sql });
  if (kind === 'v') return [trial('reads', `select * from ${name} limit 1`)];
  if (kind === 'm') return [trial('refreshes', `refresh materialized view ${name}`)];
  const row = `where (tableoid, ctid) = (select tableoid, ctid from ${name} limit 1)`;
  const all = columns.join(', ');
  const same = changeable.map((column) => `${column} = ${column}`).join(', ');
  const replacement = `with gone as (delete from ${name} ${row} returning *)
    insert into ${name} (${all}) overriding system value select ${all} from gone`;
  return [
    ...(same === '' ? [] : [trial('updates', `update ${name} set ${same} ${row}`)]),
    ...(all === '' ? [] : [trial('deletes or inserts', replacement)]),
  ];
}

/** Runs a trial and rolls it back. @returns the error of Postgres, if there is one; {@link CANCELED} if it took too long */
async function tryStatement(client: Client, { sql }: Trial): Promise<string | undefined> {
  await client.query('begin');
  try {
    await client.query(sql);
    await client.query('set constraints all immediate');
    return undefined;
  } catch (error) {
    const { code, message, where } = fieldsOf(error);
    // An error without a code is not from Postgres: the connection has ended.
    if (typeof code !== 'string' || typeof message !== 'string') throw error;
    if (code === QUERY_CANCELED) return CANCELED;
    // The last line is about the outermost function.
    const context = typeof where === 'string' ? `; ${where.split('\n').at(-1)}` : '';
    return message + context;
  } finally {
    await client.query('rollback');
  }
}
