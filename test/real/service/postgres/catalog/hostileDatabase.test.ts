/** The service's statements run as superuser, so they must not use anything that the owner of a database created. */
import assert from 'node:assert/strict';
import { findPooler } from '../../../../../src/service/postgres/server/programs.ts';
import { connectTo, query, runStatements } from '../clients.ts';
import { useBranch } from '../useBranch.ts';

const reason = findPooler() === undefined ? ' (skipped: needs PgBouncer 1.21)' : '';

/** An equality that makes the branch's role a superuser when a superuser compares with it. */
const TRAP = `
  create schema trap;
  create function trap.compare(a text, b text) returns boolean language plpgsql as $$
  begin
    if pg_catalog.current_setting('is_superuser') operator(pg_catalog.=) 'on' then
      execute 'alter role app_owner superuser';
    end if;
    return a operator(pg_catalog.=) b;
  end $$;
  create function trap.compare(a name, b name) returns boolean language sql
    begin atomic select trap.compare(a::pg_catalog.text, b::pg_catalog.text); end;
  create function trap.compare(a name, b text) returns boolean language sql
    begin atomic select trap.compare(a::pg_catalog.text, b); end;
  create operator trap.= (leftarg = text, rightarg = text, function = trap.compare);
  create operator trap.= (leftarg = name, rightarg = name, function = trap.compare);
  create operator trap.= (leftarg = name, rightarg = text, function = trap.compare)`;

describe('superuser statements in a hostile database', () => {
  const branch = useBranch({ poolerEnabled: reason === '' });

  const inDatabase = (database: string) => branch.uri.replace(/app$/, database);
  const superusers = () => query(branch.uri, 'select rolname::text from pg_roles where rolsuper');

  it('run in a database where users can create nothing', async () => {
    for (const sql of [
      'create schema trap',
      'create table public.pg_database (datname text)',
      "create function public.f() returns int language sql as 'select 1'",
      'alter database postgres set search_path = trap',
      'alter role all in database postgres set search_path = trap',
      'alter database postgres rename to other',
    ])
      await assert.rejects(query(inDatabase('postgres'), sql), { code: '42501' }, sql);
  });

  it('are not blocked by a session in the template of new databases, which users cannot enter', async () => {
    await assert.rejects(query(inDatabase('template1'), 'select 1'), { code: '42501' });
  });

  it('are safe from event triggers, casts, libraries and role settings, which users cannot create', async () => {
    for (const sql of [
      'create event trigger trap on ddl_command_start execute function pg_catalog.suppress_redundant_updates_trigger()',
      'create cast (name as text) without function as implicit',
      "create function trap_c() returns int language c as 'trap', 'trap'",
      "create function trap_internal(internal) returns int language internal as 'int4in'",
      'alter role postgres set search_path = trap',
      'alter role postgres in database app set search_path = trap',
      'alter role all set search_path = trap',
      "alter database app set session_preload_libraries = 'trap'",
      'grant set on parameter session_preload_libraries to app_owner',
    ])
      await assert.rejects(query(branch.uri, sql), { code: '42501' }, sql);
  });

  it('use no operator of the database when a role that owns objects in it is deleted', async () => {
    const { engine } = branch.service;
    await engine.changeCatalog('br-main', { kind: 'createRole', name: 'leaver', canLogin: true });
    await query(branch.uri, 'create database hostile');
    await runStatements(
      inDatabase('hostile'),
      TRAP,
      'grant create on schema public to leaver',
      'alter database hostile set search_path = trap, pg_catalog',
    );
    const { password } = await engine.catalog('br-main', 'leaver');
    const leaver = inDatabase('hostile').replace(/\/\/.*@/, `//leaver:${password}@`);
    await query(leaver, 'create table public.left_behind (word text)');
    await engine.changeCatalog('br-main', { kind: 'deleteRole', name: 'leaver' });
    await engine.changeCatalog('br-main', { kind: 'deleteDatabase', name: 'hostile' });
    assert.deepEqual(await superusers(), ['postgres']);
  });

  it('use no operator, setting or view of the database when its schema is read', async () => {
    await query(branch.uri, 'create database described');
    await runStatements(
      inDatabase('described'),
      TRAP,
      `create table t (a text check (a operator(trap.=) 'x'));
      create view v as select a from t where a operator(trap.=) 'x'`,
      'alter database described set search_path = trap, pg_catalog',
      'alter database described set default_transaction_read_only = on',
    );
    const { sql = '' } = await branch.service.engine.schema('br-main', 'described', 'sql');
    assert.match(sql, /CREATE VIEW public\.v AS/);
    const { json } = await branch.service.engine.schema('br-main', 'described', 'json');
    assert.deepEqual(
      json?.tables.map(({ name }) => name),
      ['t'],
    );
    assert.deepEqual(await superusers(), ['postgres']);
  });

  it('give no object to the superuser when a role is deleted', async () => {
    const { engine } = branch.service;
    const role = { kind: 'createRole', name: 'climber', canLogin: true } as const;
    const { password } = await engine.changeCatalog('br-main', role);
    const climber = await connectTo(inDatabase('postgres').replace(/\/\/.*@/, `//climber:${password}@`));
    await climber.query(
      "create function pg_temp.f() returns int language sql security definer as 'select 1'",
    );
    await engine.changeCatalog('br-main', { kind: 'deleteRole', name: 'climber' });
    const left =
      "select proname from pg_proc where proname = 'f' and pronamespace <> 'pg_catalog'::regnamespace";
    assert.deepEqual(await query(inDatabase('postgres'), left), []);
  });

  it(`use no operator of the database when a pooled client logs in${reason}`, async function () {
    if (reason !== '') return this.skip();
    await runStatements(
      branch.uri,
      TRAP,
      'alter database app set search_path = trap, pg_catalog',
      'alter database app set role = app_owner',
    );
    // The setting applies to new connections: the one PgBouncer looks passwords up with is closed.
    await branch.service.engine.suspend(branch.compute.id);
    assert.deepEqual(await query(await branch.service.uri(branch.compute, true), 'select 1'), [1]);
    assert.deepEqual(await superusers(), ['postgres']);
  });
});
