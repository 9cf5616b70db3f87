-- Paste a host or a connection string here.
select now(), current_database(), pg_is_in_recovery();
