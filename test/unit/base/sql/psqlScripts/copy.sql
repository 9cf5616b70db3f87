copy t from stdin;
1	it's; $$ -- /* "
\N	\\.
\.a
\.

select 1;
copy t from stdin; -- the data follow
\.
select 2;
COPY a.b (c, "from") FROM STDIN WITH (FORMAT csv);
;
\.
select 3;
copy (select 1 from stdin) to stdout; select 4;
copy t from stdin
;
1
