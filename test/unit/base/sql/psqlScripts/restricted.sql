\restrict abc
select 1;
\unrestrict abc
select 2;
