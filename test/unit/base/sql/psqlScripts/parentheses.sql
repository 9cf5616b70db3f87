create rule a as on insert to b do also (insert into c values (1); insert into d values (2)); select 1; select ); select 2;
