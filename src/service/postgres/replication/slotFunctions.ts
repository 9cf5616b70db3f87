/**
 * The functions of SQL for logical slots, which Postgres gives only to roles with REPLICATION. Roles that may replicate get them
 * for the slots of their database. For this, each function is renamed. A new one with its old name runs with the rights of the
 * replicator, and checks the arguments before it calls the renamed one. Postgres itself checks who may execute the new one.
 */
import { REPLICATOR, SUPERUSER } from '../../core/systemNames.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import type { ServerAddress } from '../server/serverAddress.ts';
import { withSuperuser, listConnectableDatabases } from '../server/superuser.ts';
import { PLUGINS } from './replicationCommand.ts';

/** The most slots that users may create, as on the public service. A server has more of them, for our own copies. */
export const MAX_SLOTS = 10;

/** Checks what a caller may do with a slot. `source` is null if the slot is to be created. */
const CHECK = `
create function pg_catalog.service_check_slot(source name, plugin name, is_new bool, failover bool) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $check$
begin
  if session_user = '${SUPERUSER}' then return; end if;
  if pg_is_in_recovery() then
    raise exception using errcode = '0A000', message = 'a read replica serves no replication';
  end if;
  if source is not null and not exists (
    select from pg_replication_slots where slot_name = source and database = current_database()) then
    raise exception using errcode = '42704', message = format('replication slot "%s" does not exist', source);
  end if;
  if plugin <> all ('{${PLUGINS.join()}}') or failover then
    raise exception using errcode = '0A000',
      message = 'only ${PLUGINS.join(' and ')} are there, without failover slots';
  end if;
  if is_new and (select count(*) >= ${MAX_SLOTS} from pg_replication_slots where slot_type = 'logical') then
    raise exception using errcode = '53400', message = 'all replication slots are in use';
  end if;
end $check$;`;

const REPLACE = `
do $replace$
declare
  f record;
begin
  for f in select oid::regprocedure::text as signature, proname as name, 'service_' || proname as renamed,
      pg_get_function_arguments(oid) as arguments, pg_get_function_result(oid) as result,
      proname ~ 'create' as is_first, proname ~ 'create|copy' as is_new,
      array_position(proargnames, 'plugin') as plugin, array_position(proargnames, 'failover') as failover,
      (select string_agg(case when n = pronargs and provariadic > 0 then 'variadic ' else '' end || '$' || n, ', ' order by n)
        from generate_series(1, pronargs) n) as passed
    from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname ~
      '^pg_((create|copy)_logical_replication_slot|(drop_replication|logical)_slot|replication_slot_advance)'
  loop
    execute format('alter function %s rename to %I', f.signature, f.renamed);
    execute format(
      'create function pg_catalog.%I(%s) returns %s language sql security definer set search_path = pg_catalog, pg_temp as %L',
      f.name, f.arguments, f.result,
      format('select service_check_slot(%s, %s, %L, %s); select * from %I(%s)',
        case when f.is_first then 'null' else '$1' end, coalesce('$' || f.plugin, 'null'), f.is_new,
        coalesce('$' || f.failover, 'false'), f.renamed, f.passed));
    execute format('revoke all on function %1$s from public; grant execute on function %1$s to pg_signal_backend;'
      'alter function %1$s owner to ${REPLICATOR}', f.signature);
  end loop;
  -- Otherwise, pg_dump would write these rights.
  insert into pg_init_privs select oid, 'pg_proc'::regclass, 0, 'i', proacl from pg_proc
    where proowner = '${REPLICATOR}'::regrole;
end $replace$;`;

const IS_DONE = `select from pg_catalog.pg_proc where proname operator(pg_catalog.=) 'service_check_slot'
  and pronamespace operator(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace`;

/**
 * Replaces the functions in all databases, and so in those that are created from them.
 * @throws {EngineError} or an error of Postgres
 */
export async function replaceSlotFunctions(deps: ServerDependencies, address: ServerAddress): Promise<void> {
  for (const { name } of await withSuperuser(deps, address, listConnectableDatabases))
    await withSuperuser(
      deps,
      address,
      async (client) => {
        if ((await client.query(IS_DONE)).rowCount === 0) await client.query(CHECK + REPLACE);
      },
      name,
    );
}
