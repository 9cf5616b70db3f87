/**
 * What a server contains, by SQL alone: the definitions in all databases (each row of the catalogs, as a recovery keeps even their
 * numbers), the rows of all tables, sequences, roles and prepared transactions. It knows nothing of the write-ahead log.
 */
import type pg from 'pg';
import { connectTo } from '../clients.ts';

/** A line for each thing, so that a difference names it. */
export type Content = readonly string[];

/** What autovacuum may write at any time. */
const OMITTED = [
  'relpages',
  'reltuples',
  'relallvisible',
  'relallfrozen',
  'relfrozenxid',
  'relminmxid',
  'relhasindex',
  'relhasrules',
  'relhassubclass',
  'relhastriggers',
  'datfrozenxid',
  'datminmxid',
];

/** The first number of an object that is no part of a new database. */
const FIRST_USER_ID = 16_384;

/** The catalogs that the role may read, and the column with the object's number or its table's, unless all rows matter. */
const CATALOGS = `
  select c.relname as name, (
    select a.attname from pg_attribute a where a.attrelid = c.oid and a.atttypid = 'oid'::regtype and a.attnum > 0
      and c.relname not in ('pg_database', 'pg_namespace')
      order by a.attname in ('oid', 'indexrelid', 'objid') desc, a.attnum limit 1) as id
  from pg_class c
  where c.relnamespace = 'pg_catalog'::regnamespace and c.relkind = 'r' and c.relname !~ '^pg_statistic'
    and has_table_privilege(c.oid, 'select')
  order by 1`;

const TABLES = `
  select format('%I.%I', n.nspname, c.relname) as name, c.relkind as kind
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'm', 'S') and c.relpersistence = 'p' and n.nspname !~ '^pg_'
    and n.nspname <> 'information_schema' and (c.relkind <> 'm' or c.relispopulated)
  order by 1`;

const DATABASES = `select datname as name, datconnlimit as connections from pg_database
  where datname not in ('template0', 'template1', 'postgres') order by 1`;

/** Reads the content of a server through one of its databases. */
export async function contentOf(uri: string): Promise<Content> {
  const own = await connectTo(uri);
  try {
    const { rows } = await own.query<{ name: string; connections: number }>(DATABASES);
    const prepared = await own.query<{ gid: string }>('select gid from pg_prepared_xacts order by gid');
    const lines = prepared.rows.map(({ gid }) => `prepared transaction ${gid}`);
    for (const { name, connections } of rows) {
      // Postgres names a database like that if its removal or creation was interrupted.
      if (connections === -2) lines.push(`${name} is invalid`);
      else lines.push(...(await contentOfDatabase(uri, name)));
    }
    return lines;
  } finally {
    await own.end();
  }
}

async function contentOfDatabase(uri: string, database: string): Promise<Content> {
  const client = await connectTo(uri.replace(/\/\w+$/, `/${database}`));
  try {
    const catalogs = await client.query<{ name: string; id: string | null }>(CATALOGS);
    const tables = await client.query<{ name: string; kind: string }>(TABLES);
    const parts = [
      ...catalogs.rows.map(({ name, id }) => catalogPart(name, id)),
      ...tables.rows.map(({ name, kind }) => (kind === 'S' ? sequencePart(name) : rowsPart(name))),
    ];
    return (await linesOf(client, parts)).map((line) => `${database}: ${line}`);
  } finally {
    await client.end();
  }
}

async function linesOf(client: pg.Client, parts: readonly string[]): Promise<Content> {
  const { rows } = await client.query<{ line: string }>(parts.join('\nunion all '));
  return rows.map(({ line }) => line);
}

const hashOf = (name: string, from: string) =>
  `select '${name.replaceAll("'", "''")} ' || count(*) || ' ' || coalesce(md5(string_agg(r, ';' order by r)), '') as line from (${from})`;

const catalogPart = (name: string, id: string | null) =>
  hashOf(
    name,
    `select (to_jsonb("the row") - '{${OMITTED.join(',')}}'::text[])::text as r from pg_catalog.${name} as "the row"
      ${id === null ? '' : `where ${id} >= ${FIRST_USER_ID}`}`,
  );

const rowsPart = (name: string) => hashOf(name, `select "the row"::text as r from ${name} as "the row"`);

/** Postgres logs values of a sequence in advance, so after a recovery it continues after those. */
const sequencePart = (name: string) =>
  hashOf(
    name,
    `select (last_value + log_cnt * (select seqincrement from pg_sequence where seqrelid = '${name.replaceAll("'", "''")}'::regclass))
      || ' ' || is_called as r from ${name}`,
  );

/** The lines that are only on one side. */
export function differences(actual: Content, expected: Content): string[] {
  const [has, wants] = [new Set(actual), new Set(expected)];
  return [
    ...actual.filter((line) => !wants.has(line)).map((line) => `+ ${line}`),
    ...expected.filter((line) => !has.has(line)).map((line) => `- ${line}`),
  ];
}
