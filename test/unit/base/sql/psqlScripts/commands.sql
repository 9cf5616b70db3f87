\set zz 'a;\'' \\ select 1; \echo it "is;\" `echo` \\ select 2;
select 3 \g
select 4 \gx
select 5
\echo a
, 6;
select 7 \r
select 8 (
\p
); \if true
select 9; \endif
\echo \\ select 10\; select 11\:\:b;
