/** Attacks of an owner on each extension that other installations of Postgres allow only to superusers. An owner must not become a superuser, and must not reach files or other branches. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync, writeFileSync, chmodSync } from 'node:fs';
import path from 'node:path';
import {
  PACKAGED_OWNER_EXTENSIONS,
  packagedExtensionsFolder,
} from '../../../../../src/service/postgres/extensions/ownerExtensions.ts';
import { readText } from '../../../../helpers/projectFiles.ts';
import { runStatements } from '../clients.ts';
import { useOwner } from './useOwner.ts';
import { usualPostgres } from '../usualPostgres.ts';
import { quoteText } from '../../../../../src/base/sql/quote.ts';

const NAMES = Object.keys(PACKAGED_OWNER_EXTENSIONS);
const SECRET = 'a secret of the machine';
const ROW_OF_OTHERS = 'a row of another branch';
/** Matches verifiers of passwords, files of the machine, and rows of another branch. */
const LEAKED = new RegExp(`SCRAM-SHA-256|${SECRET}|${ROW_OF_OTHERS}`);

/** Statements by extension that must fail. */
const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  autoinc: [
    "create trigger a before insert on pg_authid for each row execute function autoinc('oid', 's')",
    `create trigger a before insert on things for each row execute function autoinc('n', 'numbers; alter role app_owner superuser');
      insert into things values (null, 'x')`,
    'select autoinc()',
  ],
  bloom: [
    'create index on pg_authid using bloom (oid)',
    'create operator class own default for type text using bloom as operator 1 =, function 1 pg_read_file(text)',
    'select blhandler(null)',
  ],
  dblink: [
    "select dblink_connect_u('dbname=app')",
    "create server a foreign data wrapper dblink_fdw options (host '/tmp')",
  ],
  earthdistance: ["create or replace function earth() returns float8 language sql as 'select 1'"],
  insert_username: [
    "create trigger a before insert on pg_authid for each row execute function insert_username('rolname')",
    'select insert_username()',
  ],
  intagg: [
    'create aggregate own(int) (sfunc = int_agg_state, stype = internal)',
    'select int_agg_final_array(null::internal)',
  ],
  moddatetime: [
    "create trigger a before update on pg_authid for each row execute function moddatetime('rolvaliduntil')",
    'select moddatetime()',
  ],
  pg_buffercache: [
    'select pg_buffercache_evict(1)',
    "select pg_buffercache_evict_relation('things')",
    'select pg_buffercache_evict_all()',
  ],
  pg_prewarm: [
    "select pg_prewarm('pg_authid')",
    'select autoprewarm_start_worker()',
    'select autoprewarm_dump_now()',
  ],
  pg_stat_statements: [
    "set pg_stat_statements.track = 'none'",
    'create or replace view pg_stat_statements as select 1',
  ],
  pgrowlocks: ["select * from pgrowlocks('pg_authid; alter role app_owner superuser')"],
  pgstattuple: ["select * from pgstattuple('pg_authid; alter role app_owner superuser'::text)"],
  postgres_fdw: [
    "create server a foreign data wrapper postgres_fdw options (host '/tmp')",
    'create foreign data wrapper own handler postgres_fdw_handler validator postgres_fdw_validator',
  ],
  refint: [
    `create trigger a after insert on things for each row execute function check_primary_key('n', 'pg_authid', 'oid');
      insert into things values (10, 'x')`,
    `create trigger a after insert on things for each row
      execute function check_primary_key('n', 'others; alter role app_owner superuser; select 1 from others', 'n');
      insert into things values (10, 'x')`,
    `create trigger a after delete on things for each row
      execute function check_foreign_key('1', 'cascade', 'n', 'pg_authid', 'oid'); delete from things`,
    'select check_primary_key()',
  ],
  xml2: [
    "select xslt_process('<a/>', '<x/>')",
    "select * from xpath_table('oid', 'rolpassword', 'pg_authid', '/', 'true') as t (a int, b text)",
  ],
};

describe('the extensions that owners create, attacked by an owner', () => {
  const owner = useOwner();
  const { values, superusers, create } = owner;
  let secret: string;
  let written: string;
  before(async () => {
    const folder = path.join(owner.scratch, 'files');
    mkdirSync(folder);
    // Servers run as another user if root runs the tests.
    for (const each of [owner.scratch, folder]) chmodSync(each, 0o777);
    [secret, written] = [path.join(folder, 'secret'), path.join(folder, 'written')];
    writeFileSync(secret, SECRET);
    const other = await owner.service.create({ branchId: 'br-other' });
    const client = await owner.service.uri(other);
    await runStatements(client, `create table rows_of_others as select '${ROW_OF_OTHERS}' as word`);
    otherPort = other.address.port;
    await owner.query("insert into things values (1, 'x')");
  });
  let otherPort: number;

  const nothingGained = async (after: string) => {
    assert.deepEqual(await superusers(), ['postgres'], after);
    assert.deepEqual(readdirSync(path.dirname(secret)), ['secret'], after);
    assert.equal(readFileSync(secret, 'utf8'), SECRET, after);
  };

  it('are all that work for owners, according to docs/extensions.md, except for those that Postgres trusts', () => {
    const found = usualPostgres();
    const folder = packagedExtensionsFolder(found.folder, found.major) ?? '';
    const isTrusted = (name: string) =>
      /^trusted *= *true/m.test(readFileSync(path.join(folder, `${name}.control`), 'utf8'));
    const rows = [...readText('docs/extensions.md').matchAll(/^\| `([^`]+)` *\| *\S+ *\| works *\|$/gm)];
    const names = rows.map(([, name = '']) => name).filter((name) => !isTrusted(name));
    assert.deepEqual(names, NAMES.toSorted());
  });

  for (const name of NAMES)
    it(`${name}: statements that must fail`, async () => {
      await create(name);
      for (const sql of ATTACKS[name] ?? assert.fail('no attack')) {
        await owner.query('begin');
        const result = await owner.query(sql).then(
          () => 'worked',
          (error: unknown) => String(error),
        );
        await owner.query('rollback');
        assert.notEqual(result, 'worked', sql);
        assert.doesNotMatch(result, LEAKED, sql);
        await nothingGained(sql);
      }
    });

  for (const name of NAMES)
    it(`${name}: each of its functions, with hostile arguments`, async () => {
      await create(name);
      const { password } = new URL(owner.uri);
      const login = `host=127.0.0.1 port=${otherPort} dbname=app user=app_owner password=${password}`;
      const texts = [
        secret,
        written,
        'pg_authid',
        'select rolpassword from pg_authid',
        'do $$ begin alter role app_owner superuser; end $$',
        'alter role app_owner superuser',
        `copy (select 1) to '${written}'`,
        `<!DOCTYPE a [<!ENTITY e SYSTEM "file://${secret}">]><a>&e;</a>`,
        `host=127.0.0.1 sslkeylogfile=${written} sslmode=require`,
        login,
        `${login} application_name=a`,
      ];
      const functions = await owner.functionsOf(name);
      for (const text of texts)
        for (const { call, types, columns } of functions) {
          const argument = types.map((type) => argumentOf(type, text)).join(', ');
          const sql = `select t::text from ${call}(${argument}) as t ${columns}`;
          const found = await values(sql).catch(String);
          // If a function returns the text that it was given, it has not read it on the machine.
          assert.doesNotMatch(String(found), LEAKED, sql);
        }
      await nothingGained(name);
    });
});

function argumentOf(type: string, text: string): string {
  switch (type) {
    case 'text':
    case 'character varying':
    case 'dblink_connection':
    case 'dblink_sql':
      return `${quoteText(text)}::${type}`;
    case 'regclass':
    case 'oid':
      return `'pg_authid'::regclass::${type}`;
    case 'boolean':
      return 'true';
    case 'integer':
    case 'bigint':
      return `0::${type}`;
    case 'text[]':
      return `array[${quoteText(text)}]`;
    default:
      return `null::${type}`;
  }
}
