select 1e'\';
select 0x1E'\';
select $1e'\';
select 1..2, .5, 1., 1_000, 1e+5, 1e--2;
select 5$a$;$a$;
select 1_0$a$;
