/**
 * SQL that gives a database a separate operator for each one of Postgres, in a schema that its `search_path` has before
 * `pg_catalog`. A program that uses one without a schema runs a function that fails, so that no use stays unnoticed.
 */
export const SHADOWED_OPERATORS = `
  create schema trap;
  do $do$
  declare found record; created int := 0;
  begin
    for found in
      select oprname, oprleft, oprright, oprresult from pg_catalog.pg_operator
      where oprcode <> 0 and not exists (select from pg_catalog.pg_type
        where oid in (oprleft, oprright, oprresult) and typtype = 'p')
    loop
      created := created + 1;
      execute pg_catalog.format(
        'create function trap.ran_%s(%s) returns %s language plpgsql as $body$ begin raise exception using message = %L; end $body$',
        created,
        pg_catalog.concat_ws(', ', pg_catalog.format_type(nullif(found.oprleft, 0), null), pg_catalog.format_type(found.oprright, null)),
        pg_catalog.format_type(found.oprresult, null), 'a stranger''s operator ' || found.oprname || ' ran');
      execute pg_catalog.format('create operator trap.%s (%srightarg = %s, function = trap.ran_%s)', found.oprname,
        case when found.oprleft <> 0 then pg_catalog.format('leftarg = %s, ', pg_catalog.format_type(found.oprleft, null)) end,
        pg_catalog.format_type(found.oprright, null), created);
    end loop;
  end $do$;
  do $do$ begin
    execute pg_catalog.format('alter database %I set search_path = trap, shop, pg_catalog', pg_catalog.current_database());
  end $do$`;
