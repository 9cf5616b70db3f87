select :a, :'a;', :"a;", :'a', :"b", a[1:b], c::d, e:::f;
select :a$b$;$b$;
select ':a', $$:a$$;
