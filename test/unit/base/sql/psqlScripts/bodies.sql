create function one() returns int begin atomic select 1; select case when true then 2 end; end;
create or replace procedure two() language plpgsql as $$ begin perform 1; end $$;
create procedure three() begin atomic ; end; select 1;
create function four(a int default (1), b int) begin atomic select (case a when 1 then 2 end); end; select 2;
create table begin (id int); select 3;
create function$x begin; select 4;
