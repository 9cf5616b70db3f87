select 1; select $a$ ;
$b$;