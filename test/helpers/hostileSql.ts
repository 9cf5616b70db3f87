/** SQL that agents must not get through. */
import { quoteText } from '../../src/base/sql/quote.ts';

/** Everything that a statement could change and that would outlive it. */
export const STATE = `select pg_catalog.json_build_array(
  (select json_agg(p order by id) from shop.products p), (select last_value from shop.products_id_seq),
  (select json_agg(c.relname::text || c.relkind::text order by c.oid) from pg_class c where c.oid > 16384),
  (select json_agg(r order by r.oid) from pg_roles r), (select json_agg(s) from pg_db_role_setting s),
  (select json_agg(m order by oid) from pg_auth_members m), (select json_agg(datname order by oid) from pg_database),
  (select count(*) from pg_largeobject_metadata), (select count(*) from pg_replication_slots),
  (select count(*) from pg_prepared_xacts), (select json_agg(n.nspname order by oid) from pg_namespace n),
  (select json_agg(e.extname) from pg_extension e), (select count(*) from pg_stat_activity where application_name = 'the user'))::text`;

/** What the statements are about. */
export const SETUP = `
  create schema shop;
  create table shop.products (id serial primary key, name text not null, price numeric(10,2));
  insert into shop.products (name, price) values ('tea', 2.5), ('cup', 7);
  create table shop.secured (id int); alter table shop.secured enable row level security;
  insert into shop.secured values (1);
  create function shop.add(name text) returns int language sql as
    $$ insert into shop.products (name) values ($1) returning id $$;
  create function shop.run(text) returns text language plpgsql as $$ begin execute $1; return 'done'; end $$;
  create function shop.drop_all() returns int language plpgsql security definer as
    $$ begin drop schema shop cascade; return 1; end $$;
  create procedure shop.finish(inout n int) language plpgsql as
    $$ begin commit; insert into shop.products (name) values ('finished'); commit; end $$;
  create index products_brin on shop.products using brin (id);
  create function shop.run_stable(text) returns text stable language plpgsql as
    $$ declare found text; begin execute $1 into found; return found; end $$;
  create function shop.pass_on(text) returns text stable language sql as $$ select shop.run_stable($1) $$;
  create function shop.end_session(int) returns boolean stable language sql as $$ select pg_terminate_backend($1) $$;
  create view shop.kick as select shop.end_session(pid) from pg_stat_activity where application_name = 'the user';
  create operator @! (rightarg = int, function = shop.end_session);
  create domain shop.alive as int check (shop.end_session(value));
  create table shop.sessions (pid shop.alive);
  create type shop.machine as (sessions shop.sessions[]);
  create function shop.end_next(boolean, int) returns boolean immutable language sql as
    $$ select shop.end_session($2) $$;
  create aggregate shop.kick_all(int) (sfunc = shop.end_next, stype = boolean);
  create function shop.price(shop.products) returns numeric language sql as $$ select 1.0 $$;
  create function shop.label(shop.products) returns text language plpgsql as $$ begin return 'x'; end $$;
  create view shop.labels as select shop.label(p), random() from shop.products p;
  create temporary table ignored (id int)`;

/** The statements by what they try. Each is rejected by the role that reads. */
export const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  'leaving the transaction': [
    'commit',
    'commit and chain',
    'end',
    'rollback',
    'abort',
    'begin',
    'savepoint a',
    "prepare transaction 'left'",
    'set transaction read write',
    'set session characteristics as transaction read write',
    'set transaction_read_only = off',
    'set default_transaction_read_only to off',
    'reset transaction_read_only',
    'reset all',
    'discard all',
    "select set_config('transaction_read_only', 'off', true), shop.add('x')",
    `select U&"set\\005fconfig"('transaction_read_only', 'off', false)`,
    "select shop.run('set transaction_read_only = off')",
    "select shop.run('commit')",
    "select shop.run('set transaction read write'), shop.add('x')",
    'call shop.finish(1)',
    'do $$ begin commit; insert into shop.products (name) values (1); end $$',
    'do $$ begin set local transaction_read_only = off; drop schema shop cascade; end $$',
    `do $$ begin begin set transaction read write; exception when others then end; perform shop.add('x'); end $$`,
  ],
  'several statements': [
    'commit; drop schema shop cascade',
    'select 1; select 2',
    'select 1;; drop table shop.products',
    "select '\\'; drop table shop.products; --'; select 1",
    'rollback; begin; delete from shop.products; commit',
  ],
  'statements that write': [
    "insert into shop.products (name) values ('x') returning id",
    'update shop.products set price = 0 returning *',
    'delete from shop.products returning *',
    'with gone as (delete from shop.products returning *) select * from gone',
    'merge into shop.products p using (values (1)) v (i) on p.id = v.i when matched then delete returning p.id',
    'truncate shop.products',
    'select * into shop.copy from shop.products',
    'create table shop.copy as select 1',
    'create temporary table t (id int)',
    'explain analyze insert into shop.products (name) values (1)',
    'select * from shop.products for update',
    "select shop.add('x')",
    "select * from shop.add('x')",
    'select shop.drop_all()',
    "select shop.run('drop schema shop cascade')",
    "select nextval('shop.products_id_seq')",
    "select setval('shop.products_id_seq', 100)",
    "select lo_creat(-1), lo_from_bytea(0, 'x')",
    'refresh materialized view shop.none',
    "comment on schema shop is 'x'",
    'lock table shop.products in access exclusive mode',
    'cluster shop.products using products_pkey',
    'reindex table shop.products',
    'analyze',
    'vacuum',
    'checkpoint',
    "notify shop, 'x'",
    'listen shop',
    'declare c cursor for select 1',
    'prepare p as delete from shop.products',
    "load 'auto_explain'",
  ],
  'roles and rights': [
    'set role postgres',
    'set role pg_write_all_data',
    'reset role',
    'set session authorization postgres',
    'reset session authorization',
    'create role intruder superuser',
    'alter role app_owner superuser',
    "alter role app_owner password 'known'",
    "alter role app_owner set search_path = 'x'",
    'alter database app owner to pg_monitor',
    'grant all on all tables in schema shop to public',
    'drop owned by app_owner cascade',
    'alter system set work_mem = 1',
    'create extension hstore',
    "select set_config('role', 'postgres', false)",
  ],
  'files and programs': [
    "copy shop.products to program 'touch /tmp/touched'",
    "copy shop.products from program 'id'",
    "copy (select 1) to '/tmp/written'",
    'copy shop.products to stdout',
    'copy shop.products from stdin',
    "select lo_import('/etc/passwd')",
    "select lo_export(1, '/tmp/written')",
    "select pg_read_file('/etc/passwd')",
    "select pg_ls_dir('/')",
  ],
  'effects outside the transaction': [
    'select pg_terminate_backend(pid) from pg_stat_activity',
    'select "pg_cancel_backend" (pid) from pg_stat_activity',
    'select pg_cancel_backend/* /* */ */(pid) from pg_stat_activity',
    'select pg_cancel_backend -- \n (pid) from pg_stat_activity',
    'select PG_TERMINATE_BACKEND(pid) from pg_stat_activity',
    `select U&"pg\\005fterminate_backend"(pid) from pg_stat_activity`,
    `select query_to_xml('select pg_term' || 'inate_backend(pid) from pg_stat_activity', true, false, '')`,
    "select * from ts_stat('select pg_term' || 'inate_backend(1)')",
    "select pg_create_logical_replication_slot('s', 'pgoutput')",
    "select pg_create_physical_replication_slot('s', true)",
    "select pg_drop_replication_slot('s')",
    "select dblink_exec('dbname=app', 'drop schema shop cascade')",
    "select * from dblink('dbname=app', 'select 1') as t (a int)",
    'select (pid).pg_terminate_backend from pg_stat_activity',
    'select (a.pid)."pg_cancel_backend" from pg_stat_activity a',
    'select (a.pid) /* . */ . -- (\n pg_cancel_backend from pg_stat_activity a',
    'select treat(pid as pg_terminate_backend) from pg_stat_activity',
    "select e'\\'' || pg_terminate_backend(pid)::text || '\\' from pg_stat_activity",
    'select $a$ $b$ $a$ || pg_terminate_backend(pid)::text || $b$ $b$ from pg_stat_activity',
    'select * from shop.kick',
    'select @! pid from pg_stat_activity',
    'select pid::shop.alive from pg_stat_activity',
    'select row(pid)::shop.sessions from pg_stat_activity',
    "select ('(\"{(' || pid || ')}\")')::shop.machine from pg_stat_activity",
    "select jsonb_populate_record(null::shop.sessions, jsonb_build_object('pid', pid)) from pg_stat_activity",
    'select shop.run_stable($$ select pg_terminate_backend(pid) from pg_stat_activity $$)',
    'select shop.pass_on($$ select pg_terminate_backend(pid) from pg_stat_activity $$)',
    'select shop.kick_all(pid) from pg_stat_activity',
    "select table_to_xml('shop.kick', true, false, '')",
    "select brin_desummarize_range('shop.products_brin', 0), brin_summarize_new_values('shop.products_brin')",
    "select ('shop.products_brin'::regclass).brin_summarize_new_values",
    'select pg_log_backend_memory_contexts(pid) from pg_stat_activity',
    'select pg_stat_reset()',
    'select pg_reload_conf()',
    'select pg_switch_wal()',
    'select pg_promote()',
  ],
};

/** Statements with effects that end with the session, if any. */
export const ALLOWED = [
  "select pg_catalog . set_config ('role', 'none', true)",
  "select pg_logical_emit_message(false, 'a', 'b')",
  "select e'a'\n'\\' || pg_terminate_backend(pid)::text --' from pg_stat_activity",
  "select pg_input_is_valid('1', 'shop.alive')",
  "select pg_notify('shop', 'x')",
  'select pg_advisory_lock(1), pg_advisory_xact_lock(2)',
  'select pg_export_snapshot()',
  'explain analyze create table shop.copy as select 1',
  'select pg_current_xact_id()',
  "select set_byte('ab', 0, 1)",
];

/** Statements as they are, and in disguise. */
export const DIALECTS: readonly ((sql: string) => string)[] = [
  (sql) => sql,
  (sql) => sql,
  (sql) => sql,
  (sql) => sql.toUpperCase(),
  (sql) => `${sql};`,
  (sql) => `${sql}; commit`,
  (sql) => `commit; ${sql}`,
  (sql) => `select 1; ${sql}; select 2`,
  (sql) => sql.replaceAll(' ', '/**/ --\n\t'),
  (sql) => `/* read-only */ ${sql} -- select 1`,
  (sql) => `explain analyze ${sql}`,
  (sql) => `do $do$ begin ${sql}; commit; end $do$`,
  (sql) => `do $do$ begin execute ${quoteText(sql)}; end $do$`,
  (sql) => `select shop.run(${quoteText(sql)})`,
  (sql) => `select query_to_xml(${quoteText(sql)}, true, false, '')`,
  (sql) => `with a as (${sql}) select * from a`,
  (sql) => `copy (${sql}) to program 'sh'`,
  (sql) => `declare c cursor with hold for ${sql}`,
  (sql) => `create function pg_temp.f() returns void language sql as ${quoteText(sql)}`,
];
