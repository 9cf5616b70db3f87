set standard_conforming_strings = off;
select 'a\';', e'\';', n'\';', $$\$$, "\";
set standard_conforming_strings = on; select 'a\';';
select 'b\';
