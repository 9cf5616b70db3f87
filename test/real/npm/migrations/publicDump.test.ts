/** Seeds that are dumps of the public service, with its roles and with what its Postgres lets owners run. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { runStep } from '../../../../src/npm/library/migrations.ts';
import { branchCalls } from '../../../helpers/branchCalls.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../../helpers/localService.ts';
import { query, runStatements } from '../../service/postgres/clients.ts';
import { superuserUri } from '../../service/postgres/controlPlane.ts';
import { PROJECT } from '../../service/controlPlane/sampleProject.ts';

/** As pg_dump writes it for a database of the public service. */
const DUMP = `
SET search_path = '';
CREATE SCHEMA shop;
ALTER SCHEMA shop OWNER TO neondb_owner;
CREATE FUNCTION public.note() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'alter role current_user superuser'; END $$;
ALTER FUNCTION public.note() OWNER TO neondb_owner;
CREATE TABLE public.items (id integer NOT NULL);
ALTER TABLE public.items OWNER TO neondb_owner;
CREATE TABLE shop.orders (id integer NOT NULL);
ALTER TABLE shop.orders OWNER TO neondb_owner;
COPY public.items (id) FROM stdin;
1
2
\\.
-- Name: all_tables; Type: PUBLICATION
CREATE PUBLICATION all_tables FOR ALL TABLES WITH (publish = 'insert, update');
ALTER PUBLICATION all_tables OWNER TO neondb_owner;
CREATE PUBLICATION one_table FOR TABLE public.items;
ALTER DEFAULT PRIVILEGES FOR ROLE cloud_admin IN SCHEMA public GRANT ALL ON SEQUENCES TO neon_superuser WITH GRANT OPTION;
ALTER DEFAULT PRIVILEGES FOR ROLE cloud_admin IN SCHEMA public GRANT ALL ON TABLES TO neon_superuser WITH GRANT OPTION;
CREATE EVENT TRIGGER watcher ON ddl_command_end EXECUTE FUNCTION public.note();
ALTER EVENT TRIGGER watcher OWNER TO neondb_owner;
`;

describe('a dump of the public service as seed', () => {
  let service: LocalService;
  let api: ReturnType<typeof branchCalls>;
  let url = '';
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);

  before(async () => {
    service = await startLocalService({});
    api = branchCalls(service);
    url = api.uri(await api.createBranch(PROJECT));
    process.on('warning', onWarning);
  });
  after(() => process.off('warning', onWarning));

  for (const [how, text] of [
    ['as it is', DUMP],
    ['in a transaction of its own', `BEGIN;${DUMP}COMMIT;`],
  ] as const)
    it(`runs ${how}, and says what it skips`, async () => {
      warnings.length = 0;
      const name = how.replaceAll(' ', '_');
      await query(url, `create database ${name}`);
      const target = Object.assign(new URL(url), { pathname: name }).href;
      const file = path.join(temporaryFolder(), 'dump.sql');
      writeFileSync(file, text);
      await runStep('/', file, target);
      const found = `select (select count(*)::int from public.items) as items, pg_get_userbyid(relowner) as owner,
        (select string_agg(pubname, ',') from pg_publication) as publications, (select count(*)::int from pg_event_trigger) as triggers
        from pg_class where oid = 'shop.orders'::regclass`;
      assert.deepEqual(await query(target, found), [2, 'neondb_owner', 'one_table', 0]);
      await new Promise((resolve) => setImmediate(resolve));
      const lineOf = (start: string) => text.split('\n').findIndex((line) => line.startsWith(start)) + 1;
      assert.deepEqual(warnings, [
        `Skipped ${file}:${lineOf('CREATE PUBLICATION all')}: must be superuser to create FOR ALL TABLES publication`,
        `Skipped ${file}:${lineOf('ALTER PUBLICATION')}: publication "all_tables" does not exist`,
        `Skipped ${file}:${lineOf('CREATE EVENT')}: permission denied to create event trigger "watcher"`,
        `Skipped ${file}:${lineOf('ALTER EVENT')}: event trigger "watcher" does not exist`,
      ]);
    });

  it('gives its roles no rights with which an owner becomes more than an owner', async () => {
    const rights = `select rolname::text as name from pg_roles where rolname in ('cloud_admin', 'neon_superuser', 'neondb_owner')
      and not (rolsuper or rolcreaterole or rolcreatedb or rolcanlogin or rolreplication or rolbypassrls) order by 1`;
    assert.deepEqual((await query(url, rights)).flat(), ['cloud_admin', 'neon_superuser', 'neondb_owner']);
    for (const [attack, problem] of [
      ['alter role neon_superuser superuser', /permission denied/],
      ['alter role cloud_admin bypassrls replication', /permission denied/],
      ['set role cloud_admin; select pg_read_file($$/etc/passwd$$)', /permission denied/],
      ['set role neon_superuser; create role more superuser', /permission denied/],
      ['grant pg_execute_server_program to cloud_admin', /permission denied/],
      [
        'create event trigger own on ddl_command_end execute function public.own_trigger()',
        /permission denied to create event trigger/,
      ],
      ['create publication p for all tables', /must be superuser/],
    ] as const) {
      if (attack.startsWith('create event'))
        await query(
          url,
          'create or replace function public.own_trigger() returns event_trigger language plpgsql as $$ begin end $$',
        );
      await assert.rejects(query(url, attack), problem, attack);
    }
  });

  it('still fails at a statement that owners of the public service may not run either', async () => {
    const file = path.join(temporaryFolder(), 'dump.sql');
    writeFileSync(file, "create table kept (); copy kept to program 'id';");
    await assert.rejects(runStep('/', file, url), /dump\.sql:1: permission denied/);
    writeFileSync(file, 'alter publication missing owner to neondb_owner;');
    await assert.rejects(runStep('/', file, url), /publication "missing" does not exist/);
  });

  it('skips only what needs a superuser', async () => {
    await runStatements(url, 'create table mine (id integer)', 'create schema own');
    await runStatements(superuserUri(service, url), 'create table public.strangers (id integer)');
    const file = path.join(temporaryFolder(), 'dump.sql');
    const all = 'CREATE PUBLICATION everything FOR ALL TABLES';
    const cases = [
      [`/* a /* b */ c */ ${all};`, undefined],
      ['create publication "of schema" for table mine, tables in schema own;', undefined],
      [
        'create publication p for table mine; alter publication p add tables in schema own; drop publication p;',
        undefined,
      ],
      [`${all}; comment on publication everything is 'a'; drop publication if exists everything;`, undefined],
      ['create publication p for table strangers;', /must be owner of table strangers/],
      [
        "create publication p for table strangers where (id = 1 /* for all tables */) with (publish = 'insert');",
        /must be owner/,
      ],
      [`${all}; drop publication other;`, /publication "other" does not exist/],
      [`${all}; drop publication everything, other;`, /does not exist/],
    ] as const;
    for (const [text, problem] of cases) {
      writeFileSync(file, text);
      if (problem === undefined) await runStep('/', file, url);
      else await assert.rejects(runStep('/', file, url), problem, text);
    }
  });

  it('leaves it to a file to create a role of that name, which comments and texts may contain', async () => {
    const target = api.uri(await api.createBranch(PROJECT));
    const file = path.join(temporaryFolder(), 'dump.sql');
    writeFileSync(file, "create role neondb_owner; select 'cloud_admin'; -- neon_superuser");
    await runStep('/', file, target);
    const roles = `select string_agg(rolname, ',') from pg_roles where rolname in ('cloud_admin', 'neon_superuser', 'neondb_owner')`;
    assert.deepEqual(await query(target, roles), ['neondb_owner']);
  });
});
