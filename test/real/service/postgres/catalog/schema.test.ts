/**
 * The schemas of a branch's databases, and what differs between two branches.
 * Timers: service/postgres/server/superuser.ts, service/postgres/catalog/pgDump.ts.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { pgDumpModule } from '../../../../../src/service/postgres/server/programs.ts';
import { runPgDumpModule } from '../../../../../src/service/postgres/catalog/pgDumpModule.ts';
import { roundsOf } from '../../../../helpers/fullRun.ts';
import { startLocalService, type LocalService } from '../../../../helpers/localService.ts';
import { connectTo, installedPostgres, runStatements } from '../clients.ts';
import { until } from '../../../../workbench/until.ts';
import { branchApi, BRANCH, emptyBranches, encoded, WITHOUT_COMPUTE } from './branchApi.ts';
import { SCHEMAS } from './schemas.ts';

const schemas = Object.entries(SCHEMAS).slice(0, roundsOf(3, Infinity));

const schemasOf = (service: () => LocalService, branch?: string) => {
  const api = branchApi(service, branch);
  const get = async (call: string, database: string, more = '') =>
    api.get(`/${call}?db_name=${encoded(database)}${more}`);
  return {
    ...api,
    get: async (database: string, more = '') => get('schema', database, more),
    async sql(database = 'app') {
      const { status, body, text } = await get('schema', database);
      assert.equal(status, 200, text);
      return String(body['sql']);
    },
    compare: async (more = '') => get('compare_schema', 'app', more),
    async create(database: string, sql: string) {
      // A compute that has just been woken rejects changes until its operation ends.
      await api.state();
      assert.equal((await api.createDatabase(database)).status, 201);
      await runStatements(await api.uri('app_owner', database), sql);
    },
  };
};

describe('the schema of a branch', () => {
  let service: LocalService;
  const main = schemasOf(() => service);
  const bare = schemasOf(() => service, WITHOUT_COMPUTE);
  before(async () => {
    service = await startLocalService({ args: emptyBranches() });
  });
  after(() => assert.doesNotMatch(service.stderr(), /Unexpected/));

  // This runs in the full run only, because Postgres’s own clock counts the ten seconds.
  it('fails after ten seconds if a client keeps a table locked, as does the deletion of the owner', async function () {
    if (roundsOf(0, 1) === 0) return this.skip();
    await main.state();
    assert.equal((await main.createRole('leaver')).status, 201);
    await runStatements(await main.uri(), 'grant create on schema public to leaver');
    await runStatements(await main.uri('leaver'), 'create table kept (); grant all on kept to app_owner');
    const client = await connectTo(await main.uri());
    await client.query('begin; lock table kept');
    const replies = await Promise.all([main.get('app'), main.remove('/roles/leaver')]);
    assert.deepEqual(
      replies.map(({ status, body }) => [status, /due to (\w+) timeout$/.exec(String(body['message']))?.[1]]),
      [
        [409, 'statement'],
        [409, 'lock'],
      ],
    );
    await client.end();
    assert.equal((await main.remove('/roles/leaver')).status, 200);
    assert.equal((await main.get('app')).status, 200);
    await runStatements(await main.uri(), 'drop table kept');
  });

  it('is the text of pg_dump, without starting a compute', async () => {
    const sql = await bare.sql();
    assert.match(sql, /^--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version 18\.\d/);
    assert.match(sql, /\n-- PostgreSQL database dump complete\n--\n\n$/);
    await main.suspend();
    assert.equal(await main.sql(), sql);
    assert.equal(await main.state(), 'idle');
  });

  it('describes tables in JSON', async () => {
    await main.create(
      'tables',
      `create schema s; create table s.a (id int, "b c" varchar(5) not null unique, d text generated always as (upper("b c")) stored,
         gone int, primary key (id, "b c"));
       alter table s.a drop gone;
       create table b (x int, y varchar(5), constraint to_a foreign key (x, y) references s.a);
       create view v as select 1; create extension cube`,
    );
    const constraint = (type: string, name: string, columns: readonly string[]) => ({ type, name, columns });
    const column = (name: string, type: string, nullable = true, generated = false) => ({
      name,
      type,
      nullable,
      generated,
    });
    const referenced_table = { schema: 's', table: 'a', columns: ['id', 'b c'] };
    assert.deepEqual((await main.get('tables', '&format=json')).json, {
      json: {
        tables: [
          {
            schema: 'public',
            name: 'b',
            columns: [column('x', 'integer'), column('y', 'character varying(5)')],
            constraints: [{ ...constraint('foreign_key', 'to_a', ['x', 'y']), referenced_table }],
          },
          {
            schema: 's',
            name: 'a',
            columns: [
              column('id', 'integer', false),
              column('b c', 'character varying(5)', false),
              column('d', 'text', true, true),
            ],
            constraints: [
              constraint('unique', 'a_b c_key', ['b c']),
              constraint('primary_key', 'a_pkey', ['id', 'b c']),
            ],
          },
        ],
      },
    });
    assert.deepEqual((await bare.get('app', '&format=json')).json, { json: { tables: [] } });
  });

  it('is compared with the parent by default, as a patch', async () => {
    assert.deepEqual((await main.compare(`&base_branch_id=${WITHOUT_COMPUTE}`)).json, { diff: '' });
    const created = await main.project('POST', '/branches', {
      branch: { parent_id: WITHOUT_COMPUTE, name: 'compared' },
      endpoints: [{ type: 'read_write' }],
    });
    assert.equal(created.status, 201, created.text);
    const { id } = created.body['branch'] as { readonly id: string };
    const child = schemasOf(() => service, id);
    await until('the branch exists', async () => (await child.askForUri('app_owner', 'app')).status === 200);
    await runStatements(await child.uri(), 'create table added (id int)');
    const { status, body, text } = await child.compare();
    assert.equal(status, 200, text);
    assert.match(
      String(body['diff']),
      /^--- a\/app\n\+\+\+ b\/app\n@@ .*\n[^]*\n\+CREATE TABLE public\.added \(\n/,
    );
    const reverse = await bare.compare(`&base_branch_id=${id}`);
    assert.match(String(reverse.body['diff']), /\n-CREATE TABLE public\.added \(\n/);
  });

  it('is rejected with the reason', async () => {
    for (const [database, more, status, reason] of [
      ['none', '', 404, /no database/],
      ['postgres', '', 404, /no database/],
      ['app', '&format=xml', 400, /format must be sql or json/],
      ['', '', 400, /db_name is required/],
      ['app', '&lsn=0/1', 422, /history of branch br-/],
      ['app', '&timestamp=2026-01-01T00:00:00Z', 422, /history of branch br-/],
    ] as const) {
      const { status: actual, text } = await main.get(database, more);
      assert.equal(actual, status, text);
      assert.match(text, reason);
    }
    assert.match(
      (await main.compare(`&base_branch_id=${BRANCH}&base_lsn=0/1`)).text,
      /history of branch br-/,
    );
  });

  it('of a moment is rejected with its own code if the branch had no such database then', async () => {
    await main.waitForHistory();
    const then = new Date().toISOString();
    await main.create('later', 'create table t ()');
    const { status, body, text } = await main.get('later', `&timestamp=${then}`);
    assert.deepEqual([status, body['code']], [404, 'DATABASE_MISSING_THEN'], text);
    assert.equal((await main.get('app', `&timestamp=${then}`)).status, 200);
  });

  it('reports what pg_dump says when it fails', async () => {
    await main.create('closed', 'create table t ()');
    await runStatements(await main.uri(), 'alter database closed allow_connections false');
    const { status, text } = await main.get('closed');
    assert.equal(status, 409, text);
    assert.match(text, /database \\"closed\\" is not currently accepting connections"/);
  });

  for (const [name, sql] of schemas)
    it(`creates the same schema again: ${name}`, async () => {
      await main.create(name, sql);
      const dump = await main.sql(name);
      await main.create(`${name} again`, dump);
      assert.equal(await main.sql(`${name} again`), dump);
    });
});

const installed = installedPostgres();

describe(`the schema next to an installed pg_dump${installed ? '' : ' (skipped: needs Postgres)'}`, () => {
  if (installed === undefined) return;
  let service: LocalService;
  const api = schemasOf(() => service);
  before(async () => {
    service = await startLocalService({ args: ['--postgres-path', installed] });
  });

  for (const [name, sql] of schemas)
    it(`is equal: ${name}`, async () => {
      await api.create(name, sql);
      const uri = await api.uri('app_owner', name);
      const program = path.join(installed, 'pg_dump');
      const { stdout } = await promisify(execFile)(program, ['--schema-only', uri]);
      assert.equal(await api.sql(name), publicText(stdout));

      const module = pgDumpModule(installed);
      assert(module);
      const { hostname, port } = new URL(uri);
      const server = { host: hostname, port: Number(port) };
      const text = await runPgDumpModule(module, ['--schema-only', '--dbname', uri], server);
      assert.equal(withoutVersion(text), withoutVersion(stdout));
    });
});

const publicText = (text: string) =>
  text.replaceAll(/^\\(un)?restrict .*\n/gm, '').replaceAll(/\n{3}(?=-- Dumped from|$)/g, '\n\n');

/** What older versions of pg_dump write differently. */
const withoutVersion = (text: string) =>
  publicText(text)
    .replaceAll(/^(-- Dumped by pg_dump version|SET transaction_timeout) .*\n/gm, '')
    .replaceAll(/^ALTER (?:MATERIALIZED VIEW|VIEW|SEQUENCE) (.* OWNER TO .*)$/gm, 'ALTER TABLE $1')
    .replaceAll('SELECT,INSERT,REFERENCES,DELETE,TRIGGER,TRUNCATE,UPDATE ON TABLE', 'ALL ON TABLE')
    .replaceAll('TABLES  TO', 'TABLES TO');
