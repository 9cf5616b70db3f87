import assert from 'node:assert/strict';
import type pg from 'pg';
import type { ComputeSpec } from '../../../../../src/service/core/computeEngine.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { connectTo } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';

/**
 * Starts a branch with the tables `things` and `others` before the tests of the surrounding `describe`. Returns the session of its owner.
 */
export function useOwner() {
  let service: ControlPlane;
  let compute: ComputeSpec;
  let uri: string;
  let client: pg.Client;
  const scratch = temporaryFolder();
  before(async () => {
    service = await startControlPlane();
    compute = await service.create();
    uri = await service.uri(compute);
    client = await connectTo(uri);
    await client.query(
      'create table things (n int primary key, word text, changed timestamp); create table others (n int)',
    );
  });

  const query = async (sql: string, parameters?: readonly unknown[]) =>
    client.query(sql, parameters && [...parameters]);
  /** All values of all rows. */
  const values = async (sql: string) =>
    (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows.flat();
  const superusers = async () =>
    values(
      "select rolname::text from pg_roles where rolsuper or rolname = 'app_owner' and (rolreplication or rolbypassrls)",
    );
  const rejects = async (sql: string, expected: assert.AssertPredicate = { code: '42501' }) =>
    assert.rejects(values(sql), expected, sql);
  const create = async (name: string) => {
    await query(`drop extension if exists ${name} cascade; create extension ${name} cascade`);
  };
  /** Returns the functions that the owner may call with values. */
  const functionsOf = async (extension: string) => {
    const { rows } = await client.query<{ call: string; types: string[]; columns: string }>(
      `select p.oid::regproc::text as call,
          array(select format_type(t, null) from unnest(p.proargtypes) as a (t)) as types,
          case when p.prorettype = 'record'::regtype and p.proargmodes is null then '(word text)' else '' end as columns
        from pg_proc p join pg_depend d on d.objid = p.oid and d.classid = 'pg_proc'::regclass and d.deptype = 'e'
        join pg_extension e on e.oid = d.refobjid
        where e.extname = $1 and p.prokind = 'f' and has_function_privilege(p.oid, 'execute')
          and p.prorettype <> 'trigger'::regtype and not 'internal'::regtype = any (p.proargtypes::oid[])
        order by p.oid`,
      [extension],
    );
    return rows;
  };
  return {
    get service() {
      return service;
    },
    get compute() {
      return compute;
    },
    get uri() {
      return uri;
    },
    /** A folder of the machine. */
    scratch,
    /** After a change that ends the session. */
    async reconnect() {
      client = await connectTo(uri);
    },
    query,
    values,
    superusers,
    rejects,
    create,
    functionsOf,
  };
}
