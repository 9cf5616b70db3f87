/**
 * Reads what a database contains, in numbers that are cheap to compare with those of the template database that it is a copy of. A row
 * keeps the number of the transaction that wrote it, and those after a reset have higher numbers, because none is open while it begins.
 * So a table that has as many rows as before, and none with a higher number, has the same rows. The same is true for the catalogs, of
 * which only objects of users count.
 */
import type { QueryResultRow } from 'pg';
import type Client from 'pg/lib/client.js';
import { settingsQuery } from './copyDatabase.ts';

/** A table or a materialized view. */
export interface ResettableTable {
  /** The name of the table with its schema, quoted if necessary. */
  readonly name: string;
  /** The name of the partitioned table that the table is a part of, or else its own name. */
  readonly root: string;
  /** The quoted names of the columns with commas, without generated ones; null if there is none. */
  readonly columns: string | null;
  readonly hasTriggers: boolean;
  /** Whether row-level security applies to the table's owner, too. */
  readonly isForced: boolean;
  /** Why the rows can't be replaced alone, as the end of a sentence; null if they can. */
  readonly problem: string | null;
}

interface Sequence {
  /** The name of the sequence with its schema, quoted if necessary. */
  readonly name: string;
  /** Whether each session takes several values in advance, which stay valid for the session after `setval`. */
  readonly isCached: boolean;
}

/** The tables and sequences whose rows a reset can replace. */
export interface ResettableLayout {
  readonly tables: readonly ResettableTable[];
  readonly sequences: readonly Sequence[];
  /** Pairs of roots: the first one has a foreign key to the second one. */
  readonly references: readonly (readonly [from: string, to: string])[];
}

/** What a table contains, to compare it. */
export interface TableContents {
  /** The number of rows. */
  readonly rows: string;
  /** The highest number of a transaction that wrote one of the rows; 0 without rows. */
  readonly newest: number;
}

/** A text for the content of each catalog. */
export type CatalogContents = Readonly<Record<string, string>>;

/** What a database contains, in numbers and texts that can be compared. */
export interface DatabaseState {
  readonly tables: readonly TableContents[];
  readonly sequences: readonly string[];
}

/**
 * Objects with lower ids can't be changed (`FirstUnpinnedObjectId`). Postgres's other objects don't change either. But those of the
 * sample, which are made without a server, have ids from here on.
 */
const FIRST_UNPINNED_ID = 12000;
/** The temporary relations and schemas. {@link CATALOG_QUERY} reads them only once. */
const TEMPORARY = `temporary (relations, schemas) as (select array(select oid from pg_class where relpersistence = 't'),
  array(select oid from pg_namespace where nspname ~ '^pg_(toast_)?temp_'))`;
const TEMPORARY_RELATIONS = 'all ((select relations from temporary)::oid[])';
const TEMPORARY_SCHEMAS = 'all ((select schemas from temporary)::oid[])';
const USERS = `c.relnamespace not in (select oid from pg_namespace where nspname ~ '^pg_' or nspname = 'information_schema')`;

/** The most bytes of a table that is reset by its rows. It is faster to copy the files of a larger one. */
const MAX_SIZE = 32 * 1024 * 1024;

/** Reads which tables and sequences a reset can replace. @throws {Error} of Postgres */
export async function readResettableLayout(client: Client): Promise<ResettableLayout> {
  const { rows } = await client.query<{ layout: ResettableLayout }>(`select json_build_object(
    'tables', (select coalesce(json_agg(json_build_object(
        'name', c.oid::regclass::text,
        'root', coalesce(pg_partition_root(c.oid), c.oid)::regclass::text,
        'columns', (select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
          where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''),
        'hasTriggers', exists (select from pg_trigger where not tgisinternal
          and tgrelid in (c.oid, coalesce(pg_partition_root(c.oid), c.oid))),
        'isForced', c.relrowsecurity and c.relforcerowsecurity,
        'problem', case
          when c.relkind = 'm' then 'it is a materialized view'
          when pg_table_size(c.oid) > ${MAX_SIZE} then 'it is large'
          when exists (select from pg_rewrite where ev_class in (c.oid, pg_partition_root(c.oid))) then 'it has rules'
          -- Foreign partitions would be emptied on their server, too.
          when exists (select from pg_partition_tree(pg_partition_root(c.oid)) join pg_foreign_table on ftrelid = relid)
            then 'it has partitions on another server'
          when exists (select from pg_trigger where not tgisinternal and tgenabled <> 'O'
            and tgrelid in (select c.oid union select relid from pg_partition_tree(pg_partition_root(c.oid))))
            then 'it has triggers that are disabled or always enabled'
          when exists (select from pg_partition_tree(pg_partition_root(c.oid)) join pg_trigger on tgrelid = relid
            where level > 0 and not isleaf and not tgisinternal) then 'it has triggers of a partition with partitions' end
      ) order by c.oid), '[]') from pg_class c
      -- A materialized view without data can't be read. Its catalogs show whether it has data.
      where (c.relkind = 'r' or c.relkind = 'm' and c.relispopulated) and c.relpersistence <> 't' and ${USERS}),
    'sequences', (select coalesce(json_agg(json_build_object('name', c.oid::regclass::text, 'isCached', seqcache > 1)
      order by c.oid), '[]') from pg_class c join pg_sequence on seqrelid = c.oid where c.relpersistence <> 't' and ${USERS}),
    'references', (select coalesce(json_agg(distinct jsonb_build_array(
        coalesce(pg_partition_root(conrelid), conrelid)::regclass::text,
        coalesce(pg_partition_root(confrelid), confrelid)::regclass::text)), '[]') from pg_constraint where contype = 'f')
  ) as layout`);
  if (rows[0] === undefined) throw new Error('no layout');
  return rows[0].layout;
}

/** For each catalog, the column with the id of an object. The id shows whether the object is the user's or Postgres's own. */
const CATALOGS: Readonly<Record<string, string>> = {
  pg_aggregate: 'aggfnoid',
  pg_attrdef: 'adrelid',
  pg_attribute: 'attrelid',
  pg_cast: 'oid',
  pg_collation: 'oid',
  pg_constraint: 'oid',
  pg_conversion: 'oid',
  pg_default_acl: 'oid',
  pg_description: 'objoid',
  pg_enum: 'oid',
  pg_extension: 'oid',
  pg_foreign_data_wrapper: 'oid',
  pg_foreign_server: 'oid',
  pg_foreign_table: 'ftrelid',
  pg_index: 'indexrelid',
  pg_inherits: 'inhrelid',
  pg_language: 'oid',
  pg_opclass: 'oid',
  pg_operator: 'oid',
  pg_opfamily: 'oid',
  pg_partitioned_table: 'partrelid',
  pg_policy: 'oid',
  pg_proc: 'oid',
  pg_publication: 'oid',
  pg_publication_rel: 'oid',
  pg_range: 'rngtypid',
  pg_rewrite: 'ev_class',
  pg_seclabel: 'objoid',
  pg_statistic_ext: 'stxrelid',
  pg_transform: 'oid',
  pg_ts_config: 'oid',
  pg_ts_config_map: 'mapcfg',
  pg_ts_dict: 'oid',
  pg_ts_parser: 'oid',
  pg_ts_template: 'oid',
  pg_type: 'oid',
};

/** Conditions by catalog that exclude temporary objects, which are the test's own. */
const NOT_TEMPORARY: Readonly<Record<string, string>> = {
  pg_constraint: `connamespace <> ${TEMPORARY_SCHEMAS}`,
  pg_type: `typnamespace <> ${TEMPORARY_SCHEMAS}`,
  pg_proc: `pronamespace <> ${TEMPORARY_SCHEMAS}`,
  ...Object.fromEntries(
    Object.entries(CATALOGS)
      .filter(([, key]) => /relid$|ev_class/.test(key))
      .map(([catalog, key]) => [catalog, `${key} <> ${TEMPORARY_RELATIONS}`]),
  ),
};

const NEWEST = 'coalesce(max(xmin::text::int8), 0)';

/**
 * Queries for catalogs that are compared by what they contain. Rows of pg_class, pg_trigger and pg_sequence are also written when
 * a table is emptied, its triggers are disabled for a moment, or a sequence restarts. The others can't be compared in the usual
 * way, either.
 */
const CONTENT_QUERIES: Readonly<Record<string, string>> = {
  pg_class: `select md5(string_agg(concat_ws('|', oid, relname, relnamespace, relowner, relkind, relpersistence, relnatts,
      relchecks, relrowsecurity, relforcerowsecurity, reloptions, relacl, relispartition, pg_get_expr(relpartbound, oid),
      reltablespace, relreplident, relam, relispopulated), ';' order by oid)) from pg_class
    where oid >= ${FIRST_UNPINNED_ID} and relpersistence <> 't' and relkind <> 't' and relnamespace <> ${TEMPORARY_SCHEMAS}`,
  pg_trigger: `select md5(string_agg(t.*::text, ';' order by oid)) from pg_trigger t
    where oid >= ${FIRST_UNPINNED_ID} and tgrelid <> ${TEMPORARY_RELATIONS}`,
  pg_sequence: `select md5(string_agg(t.*::text, ';' order by seqrelid)) from pg_sequence t
    where seqrelid >= ${FIRST_UNPINNED_ID} and seqrelid <> ${TEMPORARY_RELATIONS}`,
  pg_user_mapping: `select md5(string_agg(t.*::text, ';' order by umid)) from pg_user_mappings t`,
  // With large objects, the value always differs, because their content can't be read.
  pg_largeobject: `select case when exists (select from pg_largeobject_metadata) then clock_timestamp()::text end`,
  pg_namespace: `select md5(string_agg(t.*::text, ';' order by oid)) from pg_namespace t
    where oid <> ${TEMPORARY_SCHEMAS} and nspname !~ '^pg_toast'`,
  settings: `select md5(string_agg(sql, ';' order by sql)) from (${settingsQuery('current_database()', "''")}) as s`,
};

/** Reads the catalogs. Its name makes it a prepared statement, because planning it takes longer than running it. */
const CATALOG_QUERY = {
  name: 'catalogs',
  text: `with ${TEMPORARY} ${Object.entries({
    ...Object.fromEntries(
      Object.entries(CATALOGS).map(([catalog, key]) => [
        catalog,
        `select concat_ws(' ', count(*), ${NEWEST}) from ${catalog} where ${key} >= ${FIRST_UNPINNED_ID}
          and ${NOT_TEMPORARY[catalog] ?? 'true'}`,
      ]),
    ),
    ...CONTENT_QUERIES,
  })
    .map(([name, query]) => `select '${name}' as name, (${query}) as value`)
    .join(' union all ')}`,
};

/**
 * Returns SQL that reads the state of tables and sequences. It isn't a part of {@link CATALOG_QUERY}, which Postgres would then
 * plan again, too, after each table that was emptied.
 */
const contentsQuery = ({ tables, sequences }: ResettableLayout): string =>
  [
    ...tables.map(
      ({ name }, at) =>
        `select 1 as kind, ${at} as at, count(*)::text as value, ${NEWEST} as newest from only ${name}`,
    ),
    ...sequences.map(
      ({ name }, at) => `select 2, ${at}, concat_ws(' ', last_value, is_called), 0 from ${name}`,
    ),
  ].join('\nunion all ');

interface Row {
  readonly kind: number;
  readonly at: number;
  readonly value: string;
  readonly newest: string;
}

/** Returns a text for each catalog, which changes with its content. @throws {Error} of Postgres */
export async function readCatalogContents(client: Client): Promise<CatalogContents> {
  const { rows } = await client.query<{ name: string; value: string | null }>(CATALOG_QUERY);
  return Object.fromEntries(rows.map(({ name, value }) => [name, value ?? '']));
}

/** @throws {Error} of Postgres, for example if the catalogs have changed */
export async function readDatabaseState(client: Client, layout: ResettableLayout): Promise<DatabaseState> {
  const query = contentsQuery(layout);
  const rows = query === '' ? [] : await queryAll<Row>(client, layout.tables, query);
  const tables: TableContents[] = [];
  const sequences: string[] = [];
  for (const { kind, at, value, newest } of rows)
    if (kind === 1) tables[at] = { rows: value, newest: Number(newest) };
    else sequences[at] = value;
  return { tables, sequences };
}

/** Returns the rows of each table as one text, which is empty without rows. @throws {Error} of Postgres */
export async function readRows(
  client: Client,
  tables: readonly ResettableTable[],
): Promise<Map<string, string>> {
  // If a column is called `t`, `t` would be that column, but `t.*` is still the whole row.
  const texts = tables.map(
    ({ name }) => `(select coalesce(array_agg(t.*)::text, '') from only ${name} as t)`,
  );
  const query = `select array[${texts.join(', ')}]::text[] as all`;
  const [row] = await queryAll<{ all: string[] }>(client, tables, query);
  return new Map(tables.map(({ name }, at) => [name, row?.all[at] ?? '']));
}

/**
 * Returns all rows, also those that row-level security hides from their owner. For these, policies are turned off in a transaction
 * that is rolled back, which locks the table.
 */
async function queryAll<T extends QueryResultRow>(
  client: Client,
  tables: readonly ResettableTable[],
  query: string,
): Promise<readonly T[]> {
  const forced = tables.filter(({ isForced }) => isForced);
  if (forced.length === 0) return (await client.query<T>(query)).rows;
  const result: unknown = await client.query(
    [
      'begin',
      ...forced.map(({ name }) => forcePoliciesStatement(name, { isForced: false })),
      query,
      'rollback',
    ].join(';\n'),
  );
  const results: readonly { readonly rows: readonly T[] }[] = Array.isArray(result) ? result : [];
  return results.at(-2)?.rows ?? [];
}

/** Returns SQL that makes row-level security apply to the owner of a table as well, or no longer. */
export const forcePoliciesStatement = (table: string, { isForced }: { readonly isForced: boolean }): string =>
  `alter table only ${table} ${isForced ? '' : 'no '}force row level security`;
