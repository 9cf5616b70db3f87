copy a from stdin\; copy b from stdin;
'
\.
"
\.
select 1;
