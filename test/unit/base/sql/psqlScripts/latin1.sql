SET client_encoding = 'LATIN1';
insert into t values ('д;я');select дц$ь$;$ь$;
