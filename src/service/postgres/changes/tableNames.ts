/** The names of the tables of a database, and their files. */
import type Client from 'pg/lib/client.js';
import { asNumber } from '../../../api/rules/migrationTables.ts';
import { askUnlessOver } from '../server/serverProcess.ts';
import { ignoreDropped, listConnectableDatabases, withSuperuser } from '../server/superuser.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { isRewrittenCatalog } from '../wal/catalogChanges.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';

interface TableName {
  readonly schema: string;
  readonly name: string;
}

interface NamedTable extends TableName {
  readonly schemaId: number;
  /** The partitioned table for a partition, and otherwise the table itself. */
  readonly whole: TableName;
  readonly isPartition: boolean;
  /** Whether the relation is a materialized view. */
  readonly isView: boolean;
}

/** The tables of one database, and their files. */
export interface TableNames {
  readonly database: string;
  /** The tables by object id. */
  readonly tables: ReadonlyMap<number, NamedTable>;
  /** The object id of each table, by the number of its current file. */
  readonly files: ReadonlyMap<number, number>;
  readonly schemas: ReadonlyMap<number, string>;
}

const CATALOGS = `
  select ${asNumber('oid')} as id, ${asNumber('pg_catalog.pg_relation_filenode(oid)')} as file
  from pg_catalog.pg_class
  where relnamespace operator(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace`;

const SCHEMAS = `select ${asNumber('oid')} as id, nspname as name from pg_catalog.pg_namespace`;

/** Selects the tables of users. */
const TABLES = `
  select ${asNumber('c.oid')} as id, ${asNumber('c.relfilenode')} as file, ${asNumber('n.oid')} as schema_id,
    n.nspname as schema, c.relname as name,
    wn.nspname as whole_schema, w.relname as whole_name,
    w.oid operator(pg_catalog.<>) c.oid as is_partition, c.relkind operator(pg_catalog.=) 'm' as is_view
  from pg_catalog.pg_class as c
  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
  join pg_catalog.pg_class as w on w.oid operator(pg_catalog.=)
    coalesce(pg_catalog.pg_partition_root(c.oid)::pg_catalog.oid, c.oid)
  join pg_catalog.pg_namespace as wn on wn.oid operator(pg_catalog.=) w.relnamespace
  where c.relkind operator(pg_catalog.=) any ('{r,p,m}'::pg_catalog."char"[])
    and n.nspname operator(pg_catalog.<>) 'information_schema' and n.nspname operator(pg_catalog.!~) '^pg_'`;

interface NamedId {
  readonly id: number;
  readonly name: string;
}

type TableRow = Record<'schema' | 'name' | 'whole_schema' | 'whole_name', string> &
  Record<'id' | 'file' | 'schema_id', number> &
  Record<'is_partition' | 'is_view', boolean>;

/**
 * @param ids the databases to read; by default, all
 * @returns those that still exist; undefined if the server is over by then, or if the catalogs of a database have been rewritten, so
 *   that changes of its tables weren't seen
 * @throws {EngineError}
 */
export async function readTableNames(
  deps: ServerDependencies,
  server: Postmaster,
  ids?: ReadonlySet<number>,
): Promise<ReadonlyMap<number, TableNames> | undefined> {
  return askUnlessOver(server, async () => readNames(deps, server, ids));
}

async function readNames(deps: ServerDependencies, { address }: Postmaster, ids?: ReadonlySet<number>) {
  const databases = await withSuperuser(deps, address, listConnectableDatabases);
  const found = new Map<number, TableNames>();
  for (const { id, name } of databases.filter((each) => ids?.has(each.id) ?? true)) {
    const names = await withSuperuser(
      deps,
      address,
      async (client) => readNamesOfDatabase(client, name),
      name,
    ).catch(ignoreDropped);
    if (names === 'rewritten') return undefined;
    if (names !== undefined) found.set(id, names);
  }
  return found;
}

async function readNamesOfDatabase(client: Client, database: string): Promise<TableNames | 'rewritten'> {
  const catalogs = await client.query<{ id: number; file: number }>(CATALOGS);
  if (catalogs.rows.some(({ id, file }) => isRewrittenCatalog(id, file))) return 'rewritten';
  const schemas = await client.query<NamedId>(SCHEMAS);
  const { rows } = await client.query<TableRow>(TABLES);
  return {
    database,
    schemas: new Map(schemas.rows.map(({ id, name }) => [id, name])),
    files: new Map(rows.map(({ id, file }) => [file, id])),
    tables: new Map(
      rows.map(({ id, schema_id: schemaId, schema, name, ...row }) => [
        id,
        {
          schemaId,
          schema,
          name,
          isPartition: row.is_partition,
          isView: row.is_view,
          whole: { schema: row.whole_schema, name: row.whole_name },
        },
      ]),
    ),
  };
}
