import assert from 'node:assert/strict';
import { branchCalls } from '../../../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../../../helpers/localService.ts';
import { PROJECT } from '../../controlPlane/sampleProject.ts';
import { query, runStatements } from '../clients.ts';

/** Rows wherever a schema can have them, and a trigger that would run with the rights of who empties its table. */
const PARENT = `
  create schema "other's";
  create table item (id int generated always as identity primary key, name text unique);
  create table "other's"."part;s" (id int references item, at date) partition by range (at);
  create table "other's".first partition of "other's"."part;s" for values from ('2026-01-01') to ('2027-01-01');
  create sequence moved start 7;
  select nextval('moved');
  create function become() returns trigger language plpgsql as
    $$ begin execute 'create role evil superuser'; return null; end $$;
  create trigger always before truncate on item execute function become();
  alter table item enable always trigger always;
  create trigger off before truncate on item execute function become();
  alter table item disable trigger off;
  insert into item (name) values ('a secret'), ('another');
  insert into "other's"."part;s" values (1, '2026-05-05');
  create materialized view seen as select name from item;
  analyze item, customers;
  select lo_from_bytea(0, 'a secret')`;

const COUNTS = `select (select count(*)::int from item), (select count(*)::int from "other's"."part;s"),
  (select count(*)::int from pg_largeobject_metadata), (select count(*)::int from pg_stats where tablename = 'item'),
  (select count(*)::int from pg_stats where tablename = 'customers'),
  nextval('moved')::int, (select count(*)::int from pg_roles where rolname = 'evil'),
  (select string_agg(tgenabled::text, '' order by tgname) from pg_trigger where not tgisinternal),
  (select relispopulated from pg_class where relname = 'seen')`;

describe('A branch of the schema only', () => {
  let service: LocalService;
  before(async () => {
    service = await startLocalService({});
  });

  it('has roles and schema, but no rows, values or large objects, and runs no trigger', async () => {
    const api = branchCalls(service);
    const create = async (branch: object) => api.createBranch(PROJECT, branch);
    const parent = await create({ name: 'full' });
    await runStatements(api.uri(parent), PARENT);

    const created = await create({
      name: 'schema',
      parent_id: parent.branch.id,
      init_source: 'schema-only',
    });
    const { parent_id, init_source } = created.branch as { parent_id?: string; init_source?: string };
    assert.deepEqual([parent_id, init_source], [undefined, 'schema-only']);
    const uri = api.uri(created);
    assert.deepEqual(await query(uri, COUNTS), [0, 0, 0, 0, 0, 7, 0, 'AD', false]);
    assert.deepEqual(await query(uri, "insert into item (name) values ('new') returning id"), [1]);
    assert.deepEqual(await query(api.uri(parent), COUNTS), [2, 1, 1, 2, 5, 8, 0, 'AD', true]);

    await api.change('DELETE', `/${PROJECT}/branches/${created.branch.id}`);
    await api.change('DELETE', `/${PROJECT}/branches/${parent.branch.id}`);
  });

  describe('of a branch with more databases', () => {
    const api = () => branchCalls(service);
    const create = async (branch: object) => api().createBranch(PROJECT, branch);
    let parent: Awaited<ReturnType<typeof create>>;
    let uri: string;
    beforeEach(async () => {
      parent = await create({ name: 'full' });
      uri = api().uri(parent);
      await query(uri, 'create database more');
      await query(inMore(uri), "create table item as select 'a secret' as name");
    });
    afterEach(async () => void (await api().change('DELETE', `/${PROJECT}/branches/${parent.branch.id}`)));
    const inMore = (address: string) => address.replace(/app$/, 'more');
    const copy = async () =>
      create({ name: 'schema', parent_id: parent.branch.id, init_source: 'schema-only' });

    it('has no rows of a database that is a template', async () => {
      await query(uri, 'alter database more is_template true');
      const { branch } = await copy();
      const place = `branch_id=${branch.id}&database_name=more&role_name=app_owner`;
      const reply = await api().send<{ uri: string }>('GET', `/${PROJECT}/connection_uri?${place}`);
      assert.deepEqual(await query(reply.uri, 'select name from item'), []);
      await api().change('DELETE', `/${PROJECT}/branches/${branch.id}`);
    });

    it('is refused if a database accepts no connections, because its rows could not be removed', async () => {
      await query(uri, 'alter database more allow_connections false');
      await assert.rejects(copy(), /"more" accepts no connections.*ALLOW_CONNECTIONS true/);
    });
  });
});
