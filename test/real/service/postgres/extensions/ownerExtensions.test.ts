/**
 * Extensions that only superusers create in a usual Postgres, and that a branch's owner creates here. Their scripts and functions are
 * superuser's, so each is tried as an attack on superuser. `foreignServers.test.ts` has those on other machines and branches.
 */
import assert from 'node:assert/strict';
import { PACKAGED_OWNER_EXTENSIONS } from '../../../../../src/service/postgres/extensions/ownerExtensions.ts';
import { fieldsOf } from '../../../../../src/base/fieldsOf.ts';
import { readText } from '../../../../helpers/projectFiles.ts';
import { query } from '../clients.ts';
import { useOwner } from './useOwner.ts';

const NAMES = Object.keys(PACKAGED_OWNER_EXTENSIONS);

/** What each is for, and what it returns. */
const USES: Readonly<Record<string, readonly [sql: string, result: unknown]>> = {
  autoinc: [
    "create trigger t before insert on things for each row execute function autoinc('n', 'numbers')",
    [],
  ],
  bloom: ['create index on things using bloom (n, word)', []],
  dblink: ["select dblink_build_sql_delete('things', '1', 1, '{7}')", ["DELETE FROM things WHERE n = '7'"]],
  earthdistance: ['select round(earth_distance(ll_to_earth(0, 0), ll_to_earth(0, 180)))', [20_037_606]],
  insert_username: [
    "create trigger u before insert on things for each row execute function insert_username('word')",
    [],
  ],
  intagg: ['select int_array_aggregate(n) from generate_series(1, 2) as s (n)', [[1, 2]]],
  moddatetime: [
    "create trigger m before update on things for each row execute function moddatetime('changed')",
    [],
  ],
  pg_buffercache: ['select buffers_used > 0 from pg_buffercache_summary()', [true]],
  pg_prewarm: ["select pg_prewarm('things') >= 0", [true]],
  pg_stat_statements: [
    "select count(*) > 0 from pg_stat_statements where query like 'create table things%'",
    [true],
  ],
  pgrowlocks: ["select count(*)::int from pgrowlocks('things')", [0]],
  pgstattuple: ["select tuple_count::int from pgstattuple('things')", [0]],
  postgres_fdw: ['create server other foreign data wrapper postgres_fdw', []],
  refint: [
    "create trigger r before insert on things for each row execute function check_primary_key('n', 'others', 'n')",
    [],
  ],
  xml2: ["select xpath_string('<a><b>x</b></a>', '/a/b')", ['x']],
};

describe('extensions that owners create', () => {
  const owner = useOwner();
  const { values, rejects, create, superusers } = owner;

  it('can be created, used and dropped by the owner', async () => {
    assert.deepEqual(Object.keys(USES), NAMES);
    for (const name of NAMES) {
      await owner.query(`create extension ${name} cascade`);
      const [sql, result] = USES[name] ?? ['', []];
      assert.deepEqual(await values(sql), result, name);
    }
    assert.deepEqual(await values('select pg_stat_statements_reset() is not null'), [true]);
    for (const name of NAMES) await owner.query(`drop extension ${name} cascade`);
  });

  it('leave those to superusers that read pages or files, or run programs', async () => {
    const [available, trusted] = await Promise.all(
      ['true', 'trusted'].map((condition) =>
        query(
          owner.uri,
          `select distinct name::text from pg_available_extension_versions where ${condition}`,
        ),
      ),
    );
    const refused = (available ?? [])
      .filter((name) => !trusted?.includes(name))
      .map(String)
      .toSorted();
    assert.deepEqual(
      refused.filter((name) => !/pl(?:perl|python3|tcl)u?$/.test(name)),
      [...REFUSED, ...(REFUSED_ON[process.platform] ?? [])].toSorted(),
    );
    for (const name of refused)
      await rejects(`create extension ${name}`, /permission denied|is not available|required extension/);
    await rejects("load 'auto_explain'");
    await rejects("load '$libdir/basebackup_to_shell'");
  });

  it('work, or are refused, as docs/extensions.md says', async () => {
    const table = [...readText('docs/extensions.md').matchAll(/^\| `([^`]+)` *\| *(\S*) *\| *(.+?) *\|$/gm)];
    const versions = new Map(table.map(([, name = '', version]) => [name, version]));
    const available = await query(
      owner.uri,
      "select name || ' ' || default_version from pg_available_extensions order by name",
    );
    assert.deepEqual(
      available.filter((each) => {
        const [name = '', version] = String(each).split(' ');
        return versions.get(name) !== version;
      }),
      [],
    );
    for (const [, name = '', , status = ''] of table) {
      await owner.query('begin');
      const outcome = await owner.query(`create extension if not exists "${name}" cascade`).then(
        () => 'works',
        (error: unknown) => String(fieldsOf(error)['code']),
      );
      await owner.query('rollback');
      const expected = OUTCOMES.find(([start]) => status.startsWith(start))?.[1];
      assert.match(`${name}: ${outcome}`, new RegExp(`^${name}: (?:${expected ?? ''})$`), status);
    }
  });

  it('run their scripts without what a hostile schema has', async () => {
    await owner.query(TRAP);
    for (const name of NAMES) {
      await owner.query(`set standard_conforming_strings = off; set check_function_bodies = off;
        set quote_all_identifiers = on; set search_path = trap`);
      await owner.query(`create extension ${name} schema trap cascade`);
      assert.deepEqual(await superusers(), ['postgres'], name);
      if (name === 'dblink')
        await rejects("select dblink_connect('host=127.0.0.1 password=x sslkeylogfile=/tmp/x')", {
          code: '23514',
        });
      await owner.query('reset all');
      await owner.query(`drop extension ${name}; drop extension if exists cube`);
    }
    await owner.query('drop schema trap cascade');
    // Objects of users with the same names aren't taken over.
    await owner.query(
      "create function autoinc() returns trigger language plpgsql as 'begin return new; end'",
    );
    await rejects('create extension autoinc', /already exists/);
    await owner.query('drop function autoinc()');
  });

  it('give no function, wrapper or view of theirs to the owner', async () => {
    for (const name of ['postgres_fdw', 'dblink', 'pg_stat_statements']) await create(name);
    for (const sql of [
      "create or replace function postgres_fdw_options(options text[], catalog oid) returns void language sql as ''",
      'alter function postgres_fdw_options owner to app_owner',
      'alter function postgres_fdw_options reset search_path',
      'alter foreign data wrapper postgres_fdw no validator',
      'create foreign data wrapper own handler postgres_fdw_handler validator postgres_fdw_validator',
      'alter domain dblink_connection drop constraint only_options_that_name_no_file_or_socket',
      "select dblink_connect_u('host=127.0.0.1')",
      "create function own(text) returns text language c as '$libdir/dblink', 'dblink_connect'",
      'create or replace view pg_stat_statements as select 1',
      'update pg_catalog.pg_foreign_data_wrapper set fdwvalidator = 0',
    ])
      await rejects(sql);
    await owner.query('drop extension dblink');
    await rejects("create extension dblink version '1.1'", { code: '22023' });
    await create('dblink');
    await rejects("alter extension dblink update to '1.1'", { code: '22023' });
    await rejects('create aggregate own(text) (sfunc = dblink_exec, stype = text)', { code: '42804' });
    await rejects('create cast (text as point) with function dblink_connect(dblink_connection)', /./);
  });

  it('show and change nothing that the owner may not', async () => {
    for (const name of ['pg_prewarm', 'pg_buffercache', 'pg_stat_statements']) await create(name);
    for (const sql of [
      "select pg_prewarm('pg_authid')",
      "select pg_prewarm('pg_authid_rolname_index')",
      'select autoprewarm_start_worker()',
      'select autoprewarm_dump_now()',
      'select pg_buffercache_evict(1)',
      "select pg_buffercache_evict_relation('things')",
      'select pg_buffercache_evict_all()',
    ])
      await rejects(sql);
    const role = { name: 'other_role', canLogin: true } as const;
    await owner.service.engine.changeCatalog('br-main', { kind: 'createRole', ...role });
    await owner.service.engine.changeCatalog('br-main', { kind: 'resetPassword', name: role.name });
    // These changes have ended the session.
    await owner.reconnect();
    const verifiers = "select query from pg_stat_statements where query ~* 'SCRAM-SHA-256|rolpassword'";
    assert.deepEqual(await values(verifiers), []);
    await rejects("set pg_stat_statements.track = 'none'");
    assert.deepEqual(await superusers(), ['postgres']);
  });
});

/** The outcomes begin the text in the table: `works`, or the SQLSTATE. 58P01: its library isn't there or can't be loaded. */
const OUTCOMES = [
  ['works', 'works'],
  ['only with', 'works|58P01'],
  ['refused', '42501|58P01|0A000'],
  ['not in the package', '0A000'],
] as const;

const REFUSED = [
  'amcheck',
  'dict_xsyn',
  'file_fdw',
  'pageinspect',
  'pg_freespacemap',
  'pg_logicalinspect',
  'pg_surgery',
  'pg_visibility',
  'pg_walinspect',
  'sslinfo',
];
/** Further ones, which the package has for these systems only. */
const REFUSED_ON: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['pldbgapi', 'system_stats'],
  win32: ['pldbgapi'],
};

/** Functions and operators that make the owner a superuser when a superuser calls them, by the names that the scripts use. */
const TRAP = `
  create schema trap;
  create function trap.spring() returns boolean language plpgsql as $$
  begin
    if pg_catalog.current_setting('is_superuser') operator(pg_catalog.=) 'on' then
      execute 'alter role app_owner superuser';
    end if;
    return true;
  end $$;
  create function trap.equal(a int, b int) returns boolean language sql as 'select trap.spring()';
  create function trap.equal(a text, b text) returns boolean language sql as 'select trap.spring()';
  create operator trap.= (leftarg = int, rightarg = int, function = trap.equal);
  create operator trap.= (leftarg = text, rightarg = text, function = trap.equal);
  create operator trap.~ (leftarg = text, rightarg = text, function = trap.equal);
  create operator trap.!~ (leftarg = text, rightarg = text, function = trap.equal);
  create function trap.hashint4(int) returns int language sql as 'select trap.spring()::int';
  create function trap.hashtext(text) returns int language sql as 'select trap.spring()::int';
  create function trap.abs(float8) returns float8 language sql as 'select trap.spring()::int::float8';
  create function trap.radians(float8) returns float8 language sql as 'select trap.spring()::int::float8';
  create function trap.quote_ident(text) returns text language sql as 'select trap.spring()::text';
  create function trap.pg_stat_statements(text) returns setof int language sql as 'select trap.spring()::int';
  create function trap.pg_buffercache_pages(int) returns setof int language sql as 'select trap.spring()::int';
  create domain trap.float8 as pg_catalog.float8 check (trap.spring());
  create domain trap.text as pg_catalog.text check (trap.spring());
  create domain trap.oid as pg_catalog.oid check (trap.spring())`;
