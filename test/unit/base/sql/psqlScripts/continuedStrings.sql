select E'a'
'b\';
select E'a''b\'c;';
select E'a' -- c;'\';';
select 'a'   
  'b';
select E'a'
'\';';
