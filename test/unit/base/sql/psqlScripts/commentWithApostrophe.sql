create table a (id int); -- is 'open' or 'closed'
create table b (id int); -- it's'
--'
select 1;
-- e'
-- $$
-- "
-- /*
select 2;
