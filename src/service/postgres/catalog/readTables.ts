/** The tables of a database as the public service describes them in JSON. */
import type Client from 'pg/lib/client.js';
import type { SchemaTable } from '../../core/computeEngine.ts';

const COLUMNS = `
  select pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', a.attname,
      'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
      'nullable', not a.attnotnull,
      'generated', a.attgenerated operator(pg_catalog.<>) ''
    ) order by a.attnum)
  from pg_catalog.pg_attribute as a
  where a.attrelid operator(pg_catalog.=) c.oid and a.attnum operator(pg_catalog.>) 0 and not a.attisdropped`;

const columnNames = (table: string, numbers: string) => `
  (select pg_catalog.json_agg(a.attname order by key.position)
   from pg_catalog.unnest(${numbers}) with ordinality as key (attnum, position)
   join pg_catalog.pg_attribute as a
     on a.attrelid operator(pg_catalog.=) ${table} and a.attnum operator(pg_catalog.=) key.attnum)`;

const CONSTRAINTS = `
  select pg_catalog.json_agg(pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
      'type', kind.type,
      'name', k.conname,
      'columns', ${columnNames('k.conrelid', 'k.conkey')},
      'referenced_table', (
        select pg_catalog.json_build_object(
          'schema', fn.nspname, 'table', f.relname, 'columns', ${columnNames('f.oid', 'k.confkey')})
        from pg_catalog.pg_class as f
        join pg_catalog.pg_namespace as fn on fn.oid operator(pg_catalog.=) f.relnamespace
        where f.oid operator(pg_catalog.=) k.confrelid)
    )) order by k.conname)
  from pg_catalog.pg_constraint as k
  join (values ('p', 'primary_key'), ('u', 'unique'), ('f', 'foreign_key')) as kind (letter, type)
    on kind.letter operator(pg_catalog.=) k.contype::pg_catalog.text
  where k.conrelid operator(pg_catalog.=) c.oid`;

/** Selects the tables, without those of extensions, as pg_dump does. */
const TABLES = `
  select n.nspname as schema, c.relname as name,
    coalesce((${COLUMNS}), '[]') as columns, coalesce((${CONSTRAINTS}), '[]') as constraints
  from pg_catalog.pg_class as c
  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
  where c.relkind operator(pg_catalog.=) any ('{r,p}'::pg_catalog."char"[])
    and n.nspname operator(pg_catalog.<>) 'information_schema' and n.nspname operator(pg_catalog.!~) '^pg_'
    and not exists (
      select from pg_catalog.pg_depend as d
      where d.classid operator(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
        and d.objid operator(pg_catalog.=) c.oid and d.deptype operator(pg_catalog.=) 'e')
  order by n.nspname, c.relname`;

export const readTables = async (client: Client): Promise<readonly SchemaTable[]> =>
  (await client.query<SchemaTable>(TABLES)).rows;
