create table a (
  id int); -- it's'
select 1;
copy t from stdin;
1
\.
select '
;
';

select 2 -- c;;select 3;
