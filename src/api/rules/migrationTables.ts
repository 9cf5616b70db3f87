/**
 * The tables in which migration tools note what they have applied. Their names are settings of the tools, and several tools
 * use the same name, so a table is recognized by its columns and their types.
 */

export interface MigrationTableKind {
  /** Columns that the table must have, each with its type. */
  readonly columns: readonly string[];
  /** Whether the table must have no other columns. */
  readonly isAll?: boolean;
  /** Whether only this tool has columns with these names. A table of another program may look like one of the other kinds. */
  readonly isCertain?: boolean;
  /** An expression of the columns that says which migration a row is about. Without it, a row isn't one migration. */
  readonly migration?: string;
  /** An expression that is true for rows that are about a migration. Without it, every row is. */
  readonly isMigration?: string;
  /** An expression that is true for migrations that were applied. Without it, every migration was. */
  readonly isApplied?: string;
  /** Whether the tool notes a migration before it applies it. Other tools note it in the same transaction, or afterwards. */
  readonly isNotedFirst?: boolean;
}

const KINDS: readonly MigrationTableKind[] = [
  {
    // Prisma
    columns: ['migration_name varchar', 'finished_at timestamptz', 'rolled_back_at timestamptz'],
    migration: 'migration_name',
    isApplied: 'finished_at IS NOT NULL AND rolled_back_at IS NULL',
    isCertain: true,
    isNotedFirst: true,
  },
  // Knex
  {
    columns: ['name varchar', 'batch int4', 'migration_time timestamptz'],
    migration: 'name',
    isCertain: true,
  },
  // Drizzle
  { columns: ['hash text', 'created_at int8'], migration: 'hash' },
  // TypeORM
  { columns: ['name varchar', 'timestamp int8'], migration: '"timestamp"' },
  // node-pg-migrate and db-migrate have this table.
  { columns: ['name varchar', 'run_on timestamp'], migration: 'name' },
  // Kysely
  { columns: ['name varchar', 'timestamp varchar'], migration: 'name' },
  // MikroORM
  { columns: ['name varchar', 'executed_at timestamptz'], migration: 'name' },
  // graphile-migrate
  { columns: ['hash text', 'previous_hash text', 'filename text'], migration: 'filename', isCertain: true },
  // postgres-migrations
  {
    columns: ['id int4', 'name varchar', 'hash varchar', 'executed_at timestamp'],
    migration: `id || '_' || name`,
    // The program notes the creation of this table as its first migration.
    isMigration: 'id > 0',
  },
  // sqlx
  { columns: ['version int8', 'description text', 'success bool'], migration: 'version' },
  // Rails and dbmate have this table.
  { columns: ['version varchar'], isAll: true, migration: 'version' },
  // Supabase
  { columns: ['version text', 'statements _text', 'name text'], migration: 'version' },
  // The next two are those of Ecto and Diesel.
  { columns: ['version int8', 'inserted_at timestamp'], migration: 'version' },
  { columns: ['version varchar', 'run_on timestamp'], migration: 'version' },
  // The following tables are those of Django, Alembic, Entity Framework, Flyway and golang-migrate.
  { columns: ['app varchar', 'name varchar', 'applied timestamptz'] },
  { columns: ['version_num varchar'], isAll: true, isCertain: true },
  { columns: ['MigrationId varchar', 'ProductVersion varchar'], isAll: true, isCertain: true },
  { columns: ['installed_rank int4', 'script varchar', 'checksum int4'], isCertain: true },
  { columns: ['version int8', 'dirty bool'], isAll: true },
];

const MAX_COLUMNS = 10;

/** Returns SQL that gives an id of Postgres as a number of JavaScript. */
export const asNumber = (id: string) => `${id}::pg_catalog.int8::pg_catalog.float8`;

/**
 * Finds the tables of the connected database that may belong to a migration tool. Even a superuser can run it safely,
 * because every name in it is qualified.
 */
export const MIGRATION_TABLES_QUERY = `
  select ${asNumber('c.oid')} as id, ${asNumber('pg_catalog.pg_relation_filenode(c.oid)')} as file,
    pg_catalog.format('%I.%I', n.nspname, c.relname) as quoted,
    pg_catalog.array_agg(pg_catalog.concat(a.attname, ' ', t.typname)) as columns
  from pg_catalog.pg_class as c
  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
  join pg_catalog.pg_attribute as a on a.attrelid operator(pg_catalog.=) c.oid
  join pg_catalog.pg_type as t on t.oid operator(pg_catalog.=) a.atttypid
  where c.relkind operator(pg_catalog.=) 'r' and a.attnum operator(pg_catalog.>) 0 and not a.attisdropped
    and n.nspname operator(pg_catalog.<>) 'information_schema' and n.nspname operator(pg_catalog.!~) '^pg_'
  group by c.oid, n.nspname, c.relname
  having pg_catalog.count(*) operator(pg_catalog.<=) ${MAX_COLUMNS}`;

export interface TableWithColumns {
  readonly id: number;
  readonly file: number;
  /** The quoted name with that of its schema. */
  readonly quoted: string;
  readonly columns: readonly string[];
}

/** Returns the kind of a migration tool's table; undefined if the columns aren't those of such a table. */
export const migrationTableKind = ({ columns }: TableWithColumns): MigrationTableKind | undefined =>
  KINDS.find(
    ({ columns: known, isAll = false }) =>
      known.every((column) => columns.includes(column)) && (!isAll || columns.length === known.length),
  );
