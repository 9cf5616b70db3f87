/** Statements that only read, such as agents run daily. They are about the tables of `SETUP` in `hostileSql.ts`, and these. */

export const MORE_TABLES = `
  create type shop.mood as enum ('calm', 'busy');
  create table shop.customers (id bigint generated always as identity primary key, email text unique not null check (email ~ '@'),
    mood shop.mood default 'calm', "nextval" int, tags text[] default '{}', data jsonb, born date, created timestamptz default now());
  insert into shop.customers (email, tags, data, born) select 'c' || n || '@example.com', array['a', 'b'], jsonb_build_object('n', n, 'list', array[n, 2]), date '2000-01-01' + n
    from generate_series(1, 50) n;
  create table shop.orders (id uuid primary key default gen_random_uuid(), customer_id bigint references shop.customers on delete cascade,
    product_id int references shop.products, quantity int check (quantity > 0), placed timestamptz default now());
  insert into shop.orders (customer_id, product_id, quantity, placed)
    select 1 + n % 50, 1 + n % 2, 1 + n % 5, timestamptz '2026-01-01' + n * interval '1 hour' from generate_series(1, 200) n;
  create index orders_placed on shop.orders (placed);
  create view shop.totals as select customer_id, count(*) as n, sum(quantity) as quantity from shop.orders group by 1;
  create materialized view shop.daily as select date_trunc('day', placed) as day, count(*) from shop.orders group by 1;
  create table shop.events (at timestamptz not null, kind text) partition by range (at);
  create table shop.events_2026 partition of shop.events for values from ('2026-01-01') to ('2027-01-01');
  create function shop.discount(price numeric) returns numeric language sql as 'select price * 0.9';
  create function shop.describe(id int) returns text language plpgsql as $$ begin /* execute nothing */ return 'product ' || id; end $$;
  create domain shop.percent as int check (value between 0 and 100);
  create table shop.rates (rate shop.percent); insert into shop.rates values (5);
  create sequence shop.invoice; select nextval('shop.invoice');
  create schema private; create table private.notes (id int, note text); insert into private.notes values (1, 'a');
  select lo_from_bytea(12345, 'object')`;

const about = (table: string, order: string): readonly string[] => [
  `select * from ${table}`,
  `table ${table}`,
  `select count(*) from ${table}`,
  `select * from ${table} order by ${order} desc limit 5 offset 1`,
  `select distinct ${order} from ${table} order by 1`,
  `explain select * from ${table}`,
  `explain (analyze, buffers, format json) select * from ${table} where ${order} is not null`,
  `select row_to_json(t) from ${table} t order by ${order} limit 3`,
  `select pg_total_relation_size('${table}'), pg_size_pretty(pg_table_size('${table}'))`,
  `select has_table_privilege('${table}', 'select')`,
  `select a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)
    from pg_attribute a left join pg_attrdef d on (d.adrelid, d.adnum) = (a.attrelid, a.attnum) where a.attrelid = '${table}'::regclass and a.attnum > 0 order by a.attnum`,
  `select conname, contype, pg_get_constraintdef(oid) from pg_constraint where conrelid = '${table}'::regclass order by 1`,
  `select indexname, indexdef from pg_indexes where (schemaname || '.' || tablename) = '${table}' order by 1`,
  `select column_name, data_type, is_nullable from information_schema.columns where table_schema || '.' || table_name = '${table}' order by ordinal_position`,
];

export const READ_STATEMENTS: readonly string[] = [
  ...about('shop.products', 'id'),
  ...about('shop.customers', 'email'),
  ...about('shop.orders', 'id'),
  ...about('shop.totals', 'customer_id'),
  ...about('shop.daily', 'day'),
  ...about('shop.events', 'at'),
  ...about('private.notes', 'note'),
  ...about('shop.rates', 'rate'),
  ...about('shop.secured', 'id'),
  // Values, and what functions return.
  'select 1',
  "select 'it''s', e'a\\nb', $$text$$, $a$ 'b' $a$, U&'\\0041'",
  "select 'two' 'strings'".replace("' '", "'\n'"),
  'select null::int, true, 1.5e3, 0x1f, 1_000',
  'select now(), current_date, localtimestamp, clock_timestamp() is not null',
  'select version(), current_database(), current_user, session_user',
  'select current_setting($$search_path$$), pg_backend_pid() > 0',
  'show all',
  'show server_version',
  'show timezone',
  'values (1, $$a$$), (2, $$b$$)',
  'select random() < 2, gen_random_uuid() is not null',
  'select pg_sleep(0)',
  'select setseed(0.5), random()',
  "select md5('a'), sha256('a'), encode('a'::bytea, 'base64')",
  "select to_char(now(), 'YYYY') is not null, extract(year from date '2026-01-01'), age(date '2026-01-01', date '2025-01-01')",
  "select '{\"a\": [1, 2]}'::jsonb #> '{a,1}', jsonb_path_query('{\"a\": 1}', '$.a')",
  "select regexp_replace('abc', 'b', 'x'), split_part('a,b', ',', 2), string_to_table('a,b', ',')",
  "select to_tsvector('english', 'cats') @@ to_tsquery('cat'), ts_headline('a cat', to_tsquery('cat'))",
  "select int4range(1, 5) @> 3, '{[1,2]}'::int4multirange",
  "select '10.0.0.1'::inet << '10.0.0.0/8'::cidr, point(1, 2) <-> point(3, 4)",
  "select array_agg(x order by x desc), string_agg(x::text, ',') from generate_series(1, 3) x",
  "select pg_input_is_valid('1', 'int4'), to_regclass('shop.products') is not null",
  'select txid_current_if_assigned(), pg_current_wal_lsn() is not null, pg_is_in_recovery()',
  "select query_to_xml('select 1', true, false, ''), xpath('/a', '<a/>')",
  "select * from ts_stat('select to_tsvector(name) from shop.products') order by 1",
  "select coalesce(obj_description('shop.products'::regclass), 'none'), col_description('shop.products'::regclass, 1)",
  // Users' functions, types and odd names.
  'select shop.discount(price), shop.describe(id) from shop.products',
  'select nextval from shop.customers limit 1',
  'select "nextval", c.nextval from shop.customers c limit 1',
  "select 50::shop.percent, 'busy'::shop.mood, enum_range(null::shop.mood)",
  'select * from shop.labels',
  'select p.price, shop.label(p) from shop.products p',
  "select lo_get(12345), convert_from(lo_get(12345), 'UTF8')",
  'select last_value, is_called from shop.invoice',
  "select pg_sequence_last_value('shop.invoice'::regclass), * from pg_sequences where schemaname = 'shop'",
  // Joins, windows, and the like.
  'select c.email, p.name, o.quantity from shop.orders o join shop.customers c on c.id = o.customer_id join shop.products p on p.id = o.product_id order by 1, 2, 3 limit 10',
  'select c.email from shop.customers c left join shop.orders o on o.customer_id = c.id where o.id is null',
  'select customer_id, sum(quantity) over (partition by customer_id order by placed) from shop.orders limit 5',
  "select date_trunc('day', placed), count(*) filter (where quantity > 2) from shop.orders group by rollup (1) order by 1",
  'select percentile_cont(0.5) within group (order by quantity) from shop.orders',
  'with recursive n(i) as (select 1 union all select i + 1 from n where i < 5) select * from n',
  'with a as materialized (select * from shop.products) select * from a, lateral (select a.id * 2) l',
  'select * from shop.products tablesample system (100) repeatable (1)',
  'select * from shop.products where id = any (array[1, 2]) and name in ($$tea$$, $$cup$$) and name like $$t%$$ and price between 1 and 5',
  'select case name when $$tea$$ then 1 else 2 end, nullif(name, $$tea$$), name is distinct from $$cup$$ from shop.products',
  'select * from shop.products natural join (select 1 as id) one',
  'select email from shop.customers where data @> $${"n": 1}$$ or data ->> $$n$$ = $$2$$ or tags && array[$$a$$] order by 1 limit 3',
  'select jsonb_array_elements(data -> $$list$$) from shop.customers limit 3',
  '(select id from shop.products except select 1) union all (select 3 intersect select 3)',
  'select tableoid::regclass, ctid, xmin from shop.products',
  'explain (generic_plan) select * from shop.products where id = $1',
  'explain (costs off, verbose, settings) select * from shop.orders where placed > now()',
  'select * from rows from (generate_series(1, 2), unnest(array[3, 4])) as t(a, b)',
  'select * from json_to_recordset(\'[{"a": 1}]\') as x(a int)',
  'select (p).name, row(1, 2) = row(1, 2) from shop.products p',
  // The state of the server.
  'select pid, usename, state, left(query, 20), wait_event from pg_stat_activity',
  'select count(*) from pg_locks l join pg_class c on c.oid = l.relation where not granted',
  'select pid, pg_blocking_pids(pid) from pg_stat_activity',
  'select datname, numbackends, xact_commit, deadlocks from pg_stat_database order by 1',
  'select relname, seq_scan, idx_scan, n_live_tup, n_dead_tup, last_vacuum from pg_stat_user_tables order by 1',
  'select indexrelname, idx_scan from pg_stat_user_indexes where idx_scan = 0',
  'select relname, heap_blks_read from pg_statio_user_tables',
  'select name, setting, unit, source from pg_settings order by 1',
  'select * from pg_stat_bgwriter',
  'select * from pg_stat_wal',
  'select count(*) from pg_stat_replication, pg_replication_slots',
  'select * from pg_prepared_xacts',
  'select * from pg_available_extensions where installed_version is not null',
  'select pg_database_size(current_database()), pg_size_pretty(sum(pg_database_size(oid))) from pg_database',
  'select tablename, attname, n_distinct, most_common_vals from pg_stats where schemaname = $$shop$$',
  'select schemaname, relname, pg_relation_size(relid), pg_indexes_size(relid) from pg_stat_user_tables order by 3 desc limit 5',
  'select rolname, rolsuper, rolcanlogin, rolconnlimit from pg_roles order by 1',
  'select r.rolname, m.rolname from pg_auth_members a join pg_roles r on r.oid = roleid join pg_roles m on m.oid = member',
  'select * from pg_user',
  'select setdatabase, setrole::regrole, setconfig from pg_db_role_setting',
  // The schema.
  "select schemaname, tablename, tableowner, rowsecurity from pg_tables where schemaname !~ '^pg_'",
  'select schemaname, viewname, definition from pg_views where schemaname = $$shop$$',
  'select schemaname, matviewname, definition from pg_matviews',
  "select pg_get_viewdef('shop.totals'::regclass, true), pg_get_indexdef('shop.orders_placed'::regclass)",
  "select pg_get_functiondef('shop.describe'::regproc), pg_get_function_arguments('shop.discount'::regproc)",
  "select nspname, obj_description(oid, 'pg_namespace') from pg_namespace order by 1",
  'select t.typname, e.enumlabel from pg_type t join pg_enum e on e.enumtypid = t.oid order by e.enumsortorder',
  'select conrelid::regclass, confrelid::regclass, conkey, confkey from pg_constraint where contype = $$f$$',
  'select tgname, tgrelid::regclass, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal',
  'select * from pg_policies',
  'select * from pg_rules where schemaname = $$shop$$',
  'select inhparent::regclass, inhrelid::regclass, pg_get_expr(c.relpartbound, c.oid) from pg_inherits join pg_class c on c.oid = inhrelid',
  "select * from pg_partition_tree('shop.events')",
  'select extname, extversion from pg_extension',
  'select collname from pg_collation limit 3',
  'select relname, relkind, reltuples from pg_class where relnamespace = $$shop$$::regnamespace order by 1',
  'select grantee, privilege_type from pg_class, aclexplode(relacl) where relname = $$products$$',
  "select * from pg_get_keywords() where catcode = 'R' limit 3",
  'select table_schema, table_name, table_type from information_schema.tables where table_schema = $$shop$$ order by 2',
  'select table_name from information_schema.views where table_schema = $$shop$$ order by 1',
  'select constraint_name, column_name from information_schema.key_column_usage where table_schema = $$shop$$ order by 1, 2',
  'select routine_name, data_type from information_schema.routines where routine_schema = $$shop$$ order by 1',
  'select sequence_name from information_schema.sequences where sequence_schema = $$shop$$ order by 1',
  'select domain_name, data_type from information_schema.domains where domain_schema = $$shop$$',
  'select count(*) from information_schema.table_constraints',
  'select schema_name from information_schema.schemata order by 1',
];

/** Commands of psql, each of which runs statements. */
export const PSQL_COMMANDS: readonly string[] = String.raw`
  \l+ \d \d+ \dS \dt+ \dtS \di+ \dv+ \dm+ \ds+ \dE \df \df+ \dfS \da \do \doS \dT+ \dTS \dD+ \dC+ \dc \dO+ \db+ \dn+ \dp \z \ddp
  \du+ \dg \drds \dx \dx+ \dy+ \dA+ \dAc \dAf \dAo \dAp \des+ \deu+ \det+ \dew+ \dF+ \dFd+ \dFp+ \dFt+ \dL+ \dP+ \dRp+ \dRs+
  \dX \dconfig \lo_list+ \dl`
  .trim()
  .split(/\s+/)
  .concat(
    [
      'products',
      'customers',
      'orders',
      'totals',
      'daily',
      'events',
      'events_2026',
      'secured',
      'rates',
      'invoice',
    ].map((name) => String.raw`\d+ shop.${name}`),
    [
      String.raw`\d shop.orders_placed`,
      String.raw`\sf shop.describe`,
      String.raw`\sv shop.totals`,
      String.raw`\dt *.*`,
    ],
    [String.raw`\d+ shop.*`, String.raw`\dconfig *`, String.raw`\dfn+ shop.*`, String.raw`\dT+ shop.mood`],
  );
