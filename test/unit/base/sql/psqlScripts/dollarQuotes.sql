select $$;'$$, $a$ $$;$$ $b$;$b$ $a$, $_1$;$_1$, $ü$;$ü$;
create table a$b$ (c int); create table d$b$ (e int);
select $1$a$;$a$, $1a$;
select $a$b$;$a$ $a$ $a;$a$;
