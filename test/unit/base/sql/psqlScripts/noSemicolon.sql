;; select 1;;
-- c
select 2 -- d