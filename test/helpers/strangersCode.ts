/**
 * Ways in which a statement, or a look at a table, runs code that a user has put into a database. The code tries what outlasts a
 * transaction, and ends the statement with an error that says with whose rights it ran, and what it could do.
 */

/** The code. Each name is odd, as in databases of Prisma or EF, so that no search for names would find it. */
export const TRAP = String.raw`
  grant create on schema public to app_owner; create schema "Trap";
  create table "Trap"."Evidence" (at timestamptz default now(), who text, way text);
  create table "Trap"."Victim" (pid int);
  create table "Trap"."Armed" ();
  create function "Trap"."Try it"(what text) returns boolean language plpgsql set search_path = pg_catalog as $$
    begin execute what; return true; exception when others then return false; end $$;
  create function "Trap"."Run!"(way text) returns int language plpgsql set search_path = pg_catalog as $$
    declare done text := ''; pid int;
    begin
      if not exists (select from "Trap"."Armed") then return 1; end if;
      select v.pid into pid from "Trap"."Victim" v;
      if "Trap"."Try it"('set transaction_read_only = off') then done := done || ' unlocked'; end if;
      if "Trap"."Try it"('set role app_owner') and current_user <> session_user then done := done || ' left the role'; end if;
      if "Trap"."Try it"('reset session authorization') and current_user = 'app_owner' then done := done || ' is the owner'; end if;
      if "Trap"."Try it"(format('do $d$ begin if not pg_cancel_backend(%s) then raise exception %L; end if; end $d$', pid, 'no')) then done := done || ' signaled'; end if;
      if "Trap"."Try it"(format('insert into "Trap"."Evidence" (who, way) values (current_user, %L)', way)) then done := done || ' wrote'; end if;
      if "Trap"."Try it"('create temporary table t (i int)') then done := done || ' created'; end if;
      if "Trap"."Try it"('select lo_from_bytea(0, ''x'')') then done := done || ' wrote an object'; end if;
      if "Trap"."Try it"('select pg_read_file(''PG_VERSION'')') then done := done || ' read a file'; end if;
      if "Trap"."Try it"('copy (select 1) to program ''true''') then done := done || ' ran a program'; end if;
      if "Trap"."Try it"('copy (select 1) to ''/tmp/hosted-postgres-evidence''') then done := done || ' wrote a file'; end if;
      if "Trap"."Try it"('select pg_reload_conf()') then done := done || ' reloaded'; end if;
      if "Trap"."Try it"('select pg_create_physical_replication_slot(''trap'')') then done := done || ' slot'; end if;
      if "Trap"."Try it"('lock table "Trap"."Victim" in row exclusive mode') then done := done || ' locked'; end if;
      if "Trap"."Try it"('alter role app_owner superuser') then done := done || ' superuser'; end if;
      if "Trap"."Try it"('set temp_file_limit = -1') then done := done || ' unlimited'; end if;
      raise exception 'ran as % in %, done:%', current_user, way, done;
    end $$;
  create function "Trap"."Run it"() returns int language sql as $$ select "Trap"."Run!"('sql') $$;
  create function "Trap"."Run const"(way text) returns int immutable language plpgsql as $$ begin return "Trap"."Run!"(way); end $$;
  create function "Trap"."Is"(way text) returns boolean immutable language plpgsql as $$ begin return "Trap"."Run!"(way) = 1; end $$;
  create function "Trap"."Is int"(int) returns boolean immutable language plpgsql as $$ begin return "Trap"."Run!"('a number') = 1; end $$;
  create function "Trap"."Compare"(text, text) returns boolean immutable language plpgsql as $$ begin return "Trap"."Run!"('an operator') = 1; end $$;
  create function "Trap"."Next"(int, int) returns int immutable language plpgsql as $$ begin return "Trap"."Run!"('an aggregate'); end $$;
  create function "Trap"."Keep"(int, int) returns int immutable language sql as 'select $1 + $2';
  create function "Trap"."Final"(int) returns int immutable language plpgsql as $$ begin return "Trap"."Run!"('a final function'); end $$;
  create table "Trap"."Rows" (id int primary key, name text);
  insert into "Trap"."Rows" values (1, 'tea'), (2, 'cup'), (3, 'tea'), (4, 'tea');
  create domain "Trap"."Domain" as int check ("Trap"."Is int"(value));
  create domain "Trap"."Over it" as "Trap"."Domain";
  create domain "Trap"."List" as int[] check ("Trap"."Is int"(value[1]));
  create type "Trap"."Pair" as (a int, b "Trap"."Domain");
  create type "Trap"."Nested" as (pairs "Trap"."Pair"[]);
  create type "Trap"."Range" as range (subtype = "Trap"."Domain", multirange_type_name = "Trap"."Ranges");
  create type "Trap"."From" as (a int);
  create type "Trap"."To" as (a int);
  create function "Trap"."Convert"("Trap"."From") returns "Trap"."To" language plpgsql as $$ begin perform "Trap"."Run!"('a cast'); return null; end $$;
  create cast ("Trap"."From" as "Trap"."To") with function "Trap"."Convert" as implicit;
  create function "Trap"."Wants"("Trap"."To") returns int language sql as 'select ($1).a';`;

const R = '"Trap"."Rows"';

/** What the database also has, if anything, and a statement. */
interface Way {
  readonly setup?: string;
  readonly sql: string;
}

const OPERATORS = ['=', '<>', '<', '<=', '>', '>=', '~~', '!~~', '~~*', '@@@']
  .map(
    (name) => `create operator "Trap".${name} (leftarg = text, rightarg = text, function = "Trap"."Compare")`,
  )
  .join('; ');
/** Ways to run a stranger's code, by their names. */
export const WAYS: Readonly<Record<string, Way>> = {
  // Calls.
  call: { sql: `select "Trap"."Run!"('a call')` },
  'quoted name': { sql: `select "Trap"."Run it"()` },
  'unicode name': { sql: `select U&"\\0054rap"."Run!"('unicode')` },
  'named argument': { sql: `select "Trap"."Run!"(way => 'named')` },
  'from clause': { sql: `select * from "Trap"."Run!"('from')` },
  lateral: { sql: `select * from ${R} r, lateral "Trap"."Run!"(r.name) as x` },
  'rows from': { sql: `select * from rows from ("Trap"."Run!"('a'), generate_series(1, 2)) as t` },
  'with ordinality': { sql: `select * from "Trap"."Run!"('o') with ordinality` },
  where: { sql: `select * from ${R} where "Trap"."Is"(name)` },
  having: { sql: `select count(*) from ${R} having "Trap"."Is"('having')` },
  'group by': { sql: `select count(*) from ${R} group by "Trap"."Run!"(name)` },
  'order by': { sql: `select * from ${R} order by "Trap"."Run!"(name)` },
  limit: { sql: `select * from ${R} limit "Trap"."Run!"('limit')` },
  offset: { sql: `select * from ${R} offset "Trap"."Run!"('offset')` },
  values: { sql: `values ("Trap"."Run!"('values'))` },
  window: { sql: `select sum(id) over (partition by "Trap"."Run!"(name)) from ${R}` },
  filter: { sql: `select count(*) filter (where "Trap"."Is"(name)) from ${R}` },
  'join on': { sql: `select * from ${R} a join ${R} b on "Trap"."Is"(a.name)` },
  cte: { sql: `with a as materialized (select "Trap"."Run!"('cte')) select * from a` },
  recursion: {
    sql: `with recursive a(i) as (select 1 union all select "Trap"."Run!"('r') from a where i < 3) select * from a`,
  },
  subselect: { sql: `select (select "Trap"."Run!"(name) from ${R} limit 1)` },
  exists: { sql: `select 1 where exists (select from ${R} where "Trap"."Is"(name))` },
  'tablesample argument': { sql: `select * from ${R} tablesample bernoulli ("Trap"."Run!"('sample'))` },
  'json path argument': { sql: `select jsonb_build_object('a', "Trap"."Run!"('json'))` },
  'array constructor': { sql: `select array(select "Trap"."Run!"(name) from ${R})` },
  coalesce: { sql: `select coalesce(null, "Trap"."Run!"('coalesce'))` },
  explain: { sql: `explain analyze select "Trap"."Run!"('explain')` },
  'explain only plans': { sql: `explain select "Trap"."Run const"('planned')` },
  'attribute notation': {
    setup: `create function public."Price"(${R}) returns int language plpgsql as $$ begin return "Trap"."Run!"('attribute'); end $$`,
    sql: `select r."Price" from ${R} r`,
  },
  'parenthesized attribute': { sql: `select (r)."Price" from ${R} r` },
  variadic: {
    setup: `create function "Trap"."Any"(variadic text[]) returns int language plpgsql as $$ begin return "Trap"."Run!"('variadic'); end $$`,
    sql: `select "Trap"."Any"('a', 'b')`,
  },
  polymorphic: {
    setup: `create function "Trap"."Poly"(anyelement) returns anyelement language plpgsql as $$ begin perform "Trap"."Run!"('poly'); return $1; end $$`,
    sql: `select "Trap"."Poly"(1)`,
  },
  'default argument': {
    setup: `create function "Trap"."Defaulted"(a int default "Trap"."Run!"('default')) returns int language sql as 'select $1'`,
    sql: `select "Trap"."Defaulted"()`,
  },
  'body by text': {
    setup: `create function "Trap"."By text"() returns int language plpgsql as $$ declare i int; begin execute 'select "Tr' || 'ap"."Run!"(''text'')' into i; return i; end $$`,
    sql: `select "Trap"."By text"()`,
  },
  'body with an operator': {
    setup: `create operator "Trap".@!@ (leftarg = text, rightarg = text, function = "Trap"."Compare");
      create function "Trap"."By operator"() returns boolean language sql as $$ select 'a' operator("Trap".@!@) 'b' $$`,
    sql: `select "Trap"."By operator"()`,
  },
  'body with a domain': {
    setup: `create function "Trap"."By domain"() returns int language plpgsql as $$ declare x "Trap"."Domain" := 1; begin return x; end $$`,
    sql: `select "Trap"."By domain"()`,
  },
  'atomic body': {
    setup: `create function "Trap"."Atomic"() returns int begin atomic select "Trap"."Run!"('atomic'); end`,
    sql: `select "Trap"."Atomic"()`,
  },
  'set returning': {
    setup: `create function "Trap"."Set"() returns setof int language plpgsql as $$ begin return query execute 'select "Trap"."Run!"(''set'')'; end $$`,
    sql: `select "Trap"."Set"()`,
  },
  'search path of a function': {
    setup: `create function "Trap".lower(text) returns text language plpgsql as $$ begin perform "Trap"."Run!"('lower'); return $1; end $$;
      create function "Trap"."With path"() returns text language sql set search_path = "Trap", pg_catalog as $$ select lower('A'::text) $$`,
    sql: `select "Trap"."With path"()`,
  },
  // Aggregates.
  aggregate: {
    setup: `create aggregate "Trap"."Sum"(int) (sfunc = "Trap"."Next", stype = int, initcond = '0')`,
    sql: `select "Trap"."Sum"(id) from ${R}`,
  },
  'final function': {
    setup: `create aggregate "Trap"."Last"(int) (sfunc = "Trap"."Keep", stype = int, initcond = '0', finalfunc = "Trap"."Final")`,
    sql: `select "Trap"."Last"(id) from ${R}`,
  },
  'moving aggregate': {
    setup: `create aggregate "Trap"."Move"(int) (sfunc = "Trap"."Keep", stype = int, initcond = '0', msfunc = "Trap"."Keep", mstype = int, minitcond = '0', minvfunc = "Trap"."Next", mfinalfunc = "Trap"."Final")`,
    sql: `select "Trap"."Move"(id) over (order by id rows 1 preceding) from ${R}`,
  },
  // Operators.
  'infix operator': { setup: OPERATORS, sql: `select 'a'::text operator("Trap".@@@) 'b'::text` },
  'prefix operator': {
    setup: `create operator "Trap".!! (rightarg = int, function = "Trap"."Is int")`,
    sql: `select operator("Trap".!!) 1`,
  },
  'operator with any': { sql: `select 'a'::text operator("Trap".=) any (array['b'])` },
  // Types.
  'domain cast': { sql: `select 1::"Trap"."Domain"` },
  'domain of a domain': { sql: `select '1'::"Trap"."Over it"` },
  'domain of a list': { sql: `select '{1}'::"Trap"."List"` },
  'list of a domain': { sql: `select '{1,2}'::"Trap"."Domain"[]` },
  'composite of a domain': { sql: `select row(1, 2)::"Trap"."Pair"` },
  'composite as a text': { sql: `select '(1,2)'::"Trap"."Pair"` },
  'nested composite': { sql: `select '("{""(1,2)""}")'::"Trap"."Nested"` },
  'range of a domain': { sql: `select '[1,2]'::"Trap"."Range"` },
  'multirange of a domain': { sql: `select '{[1,2]}'::"Trap"."Ranges"` },
  'cast expression': { sql: `select cast(id as "Trap"."Domain") from ${R}` },
  'cast of users': { sql: `select row(1)::"Trap"."From"::"Trap"."To"` },
  'implicit cast': { sql: `select "Trap"."Wants"(row(1)::"Trap"."From")` },
  'json to a record': { sql: `select * from jsonb_to_record('{"a": 1}') as x (a "Trap"."Domain")` },
  'json populates': { sql: `select jsonb_populate_record(null::"Trap"."Pair", '{"a": 1, "b": 2}')` },
  'json populates a set': {
    sql: `select * from json_populate_recordset(null::"Trap"."Pair", '[{"a": 1, "b": 2}]')`,
  },
  'xml table': {
    sql: `select * from xmltable('/a' passing xml '<a>1</a>' columns x "Trap"."Domain" path '.')`,
  },
  'json table': {
    sql: `select * from json_table('[1]', '$[*]' columns (x "Trap"."Domain" path '$' error on error))`,
  },
  'json value': { sql: `select json_value('1', '$' returning "Trap"."Domain" error on error)` },
  'input error info': { sql: `select pg_input_error_info('1', '"Trap"."Domain"')` },
  'input is valid': { sql: `select pg_input_is_valid('1', '"Trap"."Domain"')` },
  // Texts that are SQL.
  'query to xml': { sql: `select query_to_xml('select "Trap"."Run!"(''xml'')', true, false, '')` },
  'text search statistics': {
    sql: `select * from ts_stat('select to_tsvector("Trap"."Run!"(''x'')::text)')`,
  },
  'text search rewrite': {
    sql: `select ts_rewrite('a'::tsquery, 'select ''a''::tsquery, (''b'' || "Trap"."Run!"(''x''))::tsquery')`,
  },
  // A look at a relation.
  view: {
    setup: `create view "Trap"."View" as select "Trap"."Run!"('view')`,
    sql: 'select * from "Trap"."View"',
  },
  'view condition': {
    setup: `create view "Trap"."Filtered" as select * from ${R} where "Trap"."Is"(name)`,
    sql: 'select * from "Trap"."Filtered"',
  },
  'view of a view': {
    setup: `create view "Trap"."Second" as select * from "Trap"."View"`,
    sql: 'select * from "Trap"."Second"',
  },
  'barrier view': {
    setup: `create view "Trap"."Barrier" with (security_barrier) as select *, "Trap"."Run!"(name) from ${R}`,
    sql: 'select * from "Trap"."Barrier"',
  },
  'invoker view': {
    setup: `create view "Trap"."Invoker" with (security_invoker) as select *, "Trap"."Run!"(name) from ${R}`,
    sql: 'select * from "Trap"."Invoker"',
  },
  'view with a domain': {
    setup: `create view "Trap"."Typed" as select id::"Trap"."Domain" from ${R}`,
    sql: 'select * from "Trap"."Typed"',
  },
  'view to xml': { sql: `select table_to_xml('"Trap"."View"', true, false, '')` },
  'schema to xml': { sql: `select schema_to_xml('Trap', true, false, '')` },
  'policy of a stranger': {
    setup: `create table "Trap"."Secured" (id int); insert into "Trap"."Secured" values (1);
      alter table "Trap"."Secured" enable row level security; alter table "Trap"."Secured" force row level security;
      create policy p on "Trap"."Secured" using ("Trap"."Is int"(id))`,
    sql: 'select * from "Trap"."Secured"',
  },
  // What only the planner runs.
  'index predicate': {
    setup: `create table "Trap"."Indexed" (id int); create index on "Trap"."Indexed" (id) where "Trap"."Is"('index');`,
    sql: 'select * from "Trap"."Indexed"',
  },
  'index expression': {
    setup: `create table "Trap"."Computed" (id int); create index on "Trap"."Computed" ((id + "Trap"."Run const"('index')))`,
    sql: 'select * from "Trap"."Computed"',
  },
  statistics: {
    setup: `create table "Trap"."Measured" (id int); create statistics "Trap"."Measures" on id, (id + "Trap"."Run const"('statistics')) from "Trap"."Measured"`,
    sql: 'select * from "Trap"."Measured"',
  },
  'check of a child': {
    setup: `create table "Trap"."Parent" (id int); create table "Trap"."Child" (check (id > "Trap"."Run const"('check'))) inherits ("Trap"."Parent")`,
    sql: 'select * from "Trap"."Parent" where id = 1',
  },
  'partition key': {
    setup: `create table "Trap"."Parted" (id int) partition by list ((id + "Trap"."Run const"('key')));
      create table "Trap"."Part" partition of "Trap"."Parted" for values in (2)`,
    sql: 'select * from "Trap"."Parted"',
  },
  'statistics of an operator': {
    setup: `create operator "Trap".=== (leftarg = text, rightarg = text, function = "Trap"."Compare", restrict = eqsel); analyze ${R}`,
    sql: `explain select * from ${R} where name operator("Trap".===) 'tea'`,
  },
};

/** Ways in a database whose `search_path` has the names of users before those of Postgres. */
export const SHADOWED_WAYS: Readonly<Record<string, Way>> = {
  'shadowed =': { sql: `select name = 'a'::text from ${R}` },
  in: { sql: `select name in ('a'::text, 'b'::text) from ${R}` },
  case: { sql: `select case name when 'a'::text then 1 end from ${R}` },
  like: { sql: `select name like 'a'::text from ${R}` },
  ilike: { sql: `select name ilike 'a'::text from ${R}` },
  'not like': { sql: `select name not like 'a'::text from ${R}` },
  between: { sql: `select name between 'a'::text and 'b'::text from ${R}` },
  'is distinct from': { sql: `select name is distinct from 'a'::text from ${R}` },
  nullif: { sql: `select nullif(name, 'a'::text) from ${R}` },
  'join using': { sql: `select * from ${R} a join ${R} b using (name)` },
  'natural join': { sql: `select * from ${R} a natural join ${R} b` },
  'any of a query': { sql: `select name = any (select 'a'::text) from ${R}` },
  'not in a query': { sql: `select name not in (select 'a'::text) from ${R}` },
  'shadowed function': { sql: `select lower(name) from ${R}` },
};

/** A statement as it is, and in disguise. Those that can't be part of another one aren't wrapped. */
export function spellingsOf(sql: string): readonly string[] {
  const spaced = `/* read-only */ ${sql.replace(/^(\w+) /, '$1\n\t--;\n/*/**/*/ ')} -- commit`;
  const cased = sql.replace(/^\w+/, (word) => word.toUpperCase());
  if (sql.startsWith('explain')) return [sql, cased, spaced];
  return [sql, cased, spaced, `with "a b" as (${sql}) table "a b"`, `explain analyze ${sql}`];
}
