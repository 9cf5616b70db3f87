select 'x;''y\', E'it\'s; \\', e'a''\';', E'1
;2', U&'\0041;', B'0;', X'1;', n'a;', N'b\';
select "a;""b", U&"a;", "it's";
select b'0''1', ae'\';
