/** Each is right SQL that a splitter can get wrong. All run in one database, in this order. */
export const SCRIPTS: Readonly<Record<string, string | Buffer>> = {
  'byte order mark': '\uFEFFcreate table item (id int primary key, name text)',
  pg_dump: String.raw`--
-- PostgreSQL database dump
--

\restrict 5kW0zLq
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
COPY public.item (id, name) FROM stdin;
1	a;b
2	it's $$ -- /* "
3	\N
4	\\.
\.


COPY public.item (id, name) FROM stdin;
\.

\unrestrict 5kW0zLq
`,
  // The search path of the dump has ended with it.
  'outside a transaction': `insert into item values (5);
create index concurrently item_name on item (name);
vacuum item`,
  quotes: String.raw`create table "a;b""c" (d text);
insert into "a;b""c" values ('x;''y\'), (E'it\'s; \\'), (e'a''\';'), (E'1
;2'), (U&'\0041;'), ($$;'$$), ($a$ $$;$$ $b$;$b$ $a$), ($ü$;$ü$);
create table a$b$ (c int); create table d$b$ (e int);
insert into item values (6, '😀$$;')`,
  comments: `/* ; /* ' ; */ " ; */ create table -- ; ' /*
"after" (id int); -- no more; '`,
  bodies: `create function one() returns int begin atomic select 1; select case when true then 2 end; end;
create or replace procedure two() language plpgsql as $$ begin perform 1; end $$;
create rule kept as on delete to item do also (insert into item values (7); update item set name = 'b');
create table begin_atomic (id int);;`,
  'line ends':
    'create table lines (\r\n  id int);\r\ncopy lines from stdin;\r\n1\r\n2\r\n\\.\r\nselect 1;\r\n',
  'CSV to the end of the file': `copy item from stdin csv; -- the data follow
8,"two
lines"
`,
  // As converters from MySQL write it.
  'strings with escapes': String.raw`set standard_conforming_strings = off;
set escape_string_warning = off;
insert into item values (9, 'it\'s; \\'), (10, '\\'); -- 'a
insert into item values (11, e'\';');
set standard_conforming_strings = on;
insert into item values (13, 'b\');`,
  'another encoding': Buffer.from(
    "SET client_encoding = 'LATIN1';\ninsert into item values (14, 'ä;ÿ');\ncopy item from stdin;\n15\tö\n\\.\ncreate table \"ü\" ();\n",
    'latin1',
  ),
  'semicolons of psql': 'insert into item values (16, null)\\; insert into item values (17, null)\\;\n;',
  'data of two tables': 'copy item from stdin\\; copy lines from stdin;\n18\t\\N\n\\.\n3\n\\.\n',
  results: `select * from generate_series(1, 3); copy item to stdout; \\restrict a
show server_version`,
};
