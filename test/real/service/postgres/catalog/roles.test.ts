/** Roles of a branch and their passwords, through the API and in SQL. */
import assert from 'node:assert/strict';
import { findPooler } from '../../../../../src/service/postgres/server/programs.ts';
import { connectionUri } from '../../../../helpers/connectionUri.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../../../helpers/localService.ts';
import { connectTo, query } from '../clients.ts';
import {
  BRANCH,
  branchApi,
  encoded,
  ODD_NAMES,
  PROJECT,
  queryAt,
  WITHOUT_COMPUTE,
  type RejectedRequest,
} from './branchApi.ts';

const noPooler = findPooler() === undefined ? ' (skipped: PgBouncer is not installed)' : '';

describe('roles of a branch', () => {
  const dataDir = temporaryFolder();
  let service: LocalService;
  const api = branchApi(() => service);
  const bare = branchApi(() => service, WITHOUT_COMPUTE);
  before(async () => {
    service = await startLocalService({ dataDir });
    await api.suspend();
  });
  after(() => assert.doesNotMatch(service.stderr(), /Unexpected/));

  const roleIn = (body: Readonly<Record<string, unknown>>) => body['role'] as Record<string, unknown>;
  const create = async (name: string) => {
    const { status, body, text } = await api.createRole(name);
    assert.equal(status, 201, text);
    return roleIn(body);
  };

  it('lists the role of a new branch without its password or starting its compute', async () => {
    const { roles } = (await api.get('/roles')).body as { roles: Record<string, unknown>[] };
    assert.equal(roles.length, 1);
    const [{ created_at, updated_at, ...rest } = {}] = roles;
    assert.deepEqual(rest, {
      branch_id: BRANCH,
      name: 'app_owner',
      protected: false,
      authentication_method: 'password',
    });
    for (const time of [created_at, updated_at]) assert(Number(new Date(String(time))) > 0);
    assert.deepEqual((await api.get('/roles/app_owner')).json, { role: roles[0] });
    assert.equal(await api.state(), 'idle');
  });

  it('creates a role that can log in, make databases and roles, and nothing more', async () => {
    const { status, body } = await api.createRole('sally');
    assert.equal(status, 201);
    const { password, ...shown } = roleIn(body);
    assert.deepEqual((await api.get('/roles/sally')).json, { role: shown });
    assert.deepEqual((await api.get('/roles/sally/reveal_password')).json, { password });
    const operations = body['operations'] as Record<string, unknown>[];
    assert.deepEqual(
      operations.map(({ action, status: state }) => [action, state]),
      [['apply_config', 'finished']],
    );
    assert.equal(await api.state(), 'idle');
    const uri = await api.uri('sally');
    assert.equal(new URL(uri).password, password);
    assert.deepEqual(await query(uri, 'select current_user::text'), ['sally']);
    for (const sql of ['create database sallys', 'create role of_sally', 'select * from pg_stat_activity'])
      await query(uri, sql);
    for (const sql of [
      'select rolpassword from pg_authid',
      "copy (select 1) to program 'true'",
      'checkpoint',
    ])
      await assert.rejects(query(uri, sql), { code: '42501' }, sql);
  });

  it('returns the login of a role that only reads, which is in no list', async () => {
    const { status, body } = await api.post('/reader');
    assert.equal(status, 200);
    const { role, password } = body['reader'] as Record<string, string>;
    const uri = new URL(await api.uri());
    Object.assign(uri, { username: role, password });
    assert.deepEqual(await query(uri.href, 'select current_user::text'), ['service_reader']);
    assert.deepEqual((await api.post('/reader')).body, body);
    assert(!(await api.names('roles')).includes('service_reader'));
    assert.equal((await api.createRole('service_reader')).status, 422);
    assert.equal((await api.get('/roles/service_reader/reveal_password')).status, 404);
    assert.equal((await bare.post('/reader')).status, 404);
  });

  it('ends connections when it creates a role or resets a password, as the public service does', async () => {
    for (const change of [
      async () => api.createRole('another'),
      async () => api.post('/roles/another/reset_password'),
    ]) {
      const client = await connectTo(await api.uri());
      const closed = new Promise((resolve) => client.once('end', resolve));
      await change();
      await closed;
    }
  });

  it('takes any name', async () => {
    for (const name of ODD_NAMES) {
      await create(name);
      assert.deepEqual(await queryAt(await api.uri(name), 'select current_user::text'), [name]);
      const path = `/roles/${encoded(name)}`;
      assert.equal((await api.post(`${path}/reset_password`)).status, 200, name);
      assert.deepEqual(await queryAt(await api.uri(name), 'select 1'), [1], name);
      assert.equal((await api.remove(path)).status, 200, name);
      assert(!(await api.names('roles')).includes(name));
    }
  });

  it('creates a role that cannot log in', async () => {
    const { status, body } = await api.createRole('group', { no_login: true });
    assert.equal(status, 201);
    assert.deepEqual(
      [roleIn(body)['password'], roleIn(body)['authentication_method']],
      [undefined, 'no_login'],
    );
    assert.equal((await api.get('/roles/group/reveal_password')).status, 412);
    assert.equal((await api.post('/roles/group/reset_password')).status, 412);
    assert.equal((await api.askForUri('group', 'app')).status, 412);
  });

  it('shows a role that was created in SQL, whose password it can only reset', async () => {
    const uri = await api.uri();
    await query(uri, "create role by_psql login password 'known to its user'");
    assert((await api.names('roles')).includes('by_psql'));
    const { status, body } = await api.get('/roles/by_psql/reveal_password');
    assert.equal(status, 412);
    assert.match(String(body['message']), /set in SQL.*Reset/);
    assert.equal((await api.askForUri('by_psql', 'app')).status, 412);
    const reset = await api.post('/roles/by_psql/reset_password');
    assert.equal(reset.status, 200);
    assert.equal(new URL(await api.uri('by_psql')).password, roleIn(reset.body)['password']);
    assert.deepEqual(await query(await api.uri('by_psql'), 'select 1'), [1]);
    assert.equal((await api.remove('/roles/by_psql')).status, 200);
  });

  it('notices that a password was changed in SQL', async () => {
    await create('changed');
    await query(await api.uri('changed'), "alter role changed password 'mine now'");
    assert.equal((await api.get('/roles/changed/reveal_password')).status, 412);
  });

  it('resets a password: the old one fails, the new one works', async () => {
    const old = await api.uri();
    const { status, body } = await api.post('/roles/app_owner/reset_password');
    assert.equal(status, 200);
    const { password } = roleIn(body);
    await assert.rejects(query(old, 'select 1'), { code: '28P01' });
    const uri = await api.uri();
    assert.equal(new URL(uri).password, password);
    assert.deepEqual(await query(uri, 'select 1'), [1]);
    assert.deepEqual((await api.get('/roles/app_owner/reveal_password')).json, { password });
  });

  it(`lets pooled clients log in with the new role and the new password${noPooler}`, async function () {
    if (noPooler !== '') return this.skip();
    const { items } = await service.client.listComputes(PROJECT);
    const id = items.find(({ branch_id }) => branch_id === BRANCH)?.id ?? '';
    await service.client.updateCompute(PROJECT, id, { pooler_enabled: true });
    await api.state();
    await create('pooled');
    const old = await api.uri('pooled', 'app', { pooled: 'true' });
    assert.deepEqual(await query(old, 'select current_user::text'), ['pooled']);
    await api.post('/roles/pooled/reset_password');
    await assert.rejects(query(old, 'select 1'), /authentication failed/);
    const uri = await api.uri('pooled', 'app', { pooled: 'true' });
    assert.deepEqual(await query(uri, 'select current_user::text'), ['pooled']);
    await api.createDatabase('pooled db', 'pooled');
    const there = await api.uri('pooled', 'pooled db', { pooled: 'true' });
    assert.deepEqual(await query(there, 'select 1'), [1]);
    assert.equal((await api.remove('/databases/pooled%20db')).status, 200, 'despite server connections');
  });

  it('deletes a role with its connections, and gives its objects to the owner of the database', async () => {
    await create('leaver');
    const owner = await api.uri();
    for (const sql of ['create schema shared', 'grant all on schema shared to leaver'])
      await query(owner, sql);
    const client = await connectTo(await api.uri('leaver'));
    await client.query('create table shared.left_behind as select 7 as seven');
    const closed = new Promise((resolve) => client.once('end', resolve));
    assert.equal((await api.remove('/roles/leaver')).status, 200);
    await closed;
    assert.deepEqual(await query(owner, 'select seven from shared.left_behind'), [7]);
    assert.deepEqual(
      await query(owner, "select tableowner::text from pg_tables where tablename = 'left_behind'"),
      ['app_owner'],
    );
    const again = await api.remove('/roles/leaver');
    assert.deepEqual([again.status, again.text], [204, '']);
  });

  it('keeps a role that owns a database, or objects in several', async () => {
    await create('landlord');
    await api.createDatabase('house', 'landlord');
    const { status, body } = await api.remove('/roles/landlord');
    assert.equal(status, 409);
    assert.match(String(body['message']), /owns databases: house/);
    await create('spread');
    await api.createDatabase('second');
    for (const database of ['app', 'second'])
      await query(await api.uri('app_owner', database), 'grant all on schema public to spread');
    const several = await api.remove('/roles/spread');
    assert.equal(several.status, 409);
    assert.match(String(several.body['message']), /several databases: (app, second|second, app)/);
    const names = await api.names('roles');
    assert(names.includes('landlord') && names.includes('spread'));
  });

  it('rejects what it cannot do, and changes nothing', async () => {
    const create = (status: number, name: unknown, more: object = {}): RejectedRequest => [
      status,
      'POST',
      '',
      { role: { name, ...more } },
    ];
    const reserved = ['postgres', 'service_replicator', 'pg_new', 'public', 'none'];
    const invalid = ['', 'a\tb', 'x'.repeat(64)];
    await api.expectRejections('roles', [
      create(409, 'app_owner'),
      ...[...reserved, ...invalid].map((name) => create(422, name)),
      create(400, null),
      create(400, 'new', { no_login: 'yes' }),
      create(400, 'new', { superuser: true }),
      [404, 'GET', '/postgres'],
      [404, 'GET', '/pg_monitor'],
      [404, 'GET', '/stranger/reveal_password'],
      [404, 'GET', '/postgres/reveal_password'],
      [404, 'POST', '/stranger/reset_password'],
      [422, 'POST', '/postgres/reset_password'],
      [422, 'DELETE', '/service_replicator'],
      [409, 'DELETE', '/app_owner'],
    ]);
  });

  it('gives connection URIs only for roles and databases that exist', async () => {
    for (const [role, database] of [
      ['stranger', 'app'],
      ['app_owner', 'stranger'],
      ['postgres', 'app'],
      ['app_owner', 'postgres'],
      ['app_owner', 'template1'],
    ] as const)
      assert.equal((await api.askForUri(role, database)).status, 404, `${role} ${database}`);
  });

  it('gives the client a connection URI for any role and database', async () => {
    const [role, database] = ['größe / "x"', "it's @ 50 %"];
    await create(role);
    assert.equal((await api.createDatabase(database, role)).status, 201);
    const [compute] = (await service.client.listComputes(PROJECT)).items.filter(
      ({ branch_id }) => branch_id === BRANCH,
    );
    assert(compute);
    const target = { computeId: compute.id, branchId: BRANCH, host: compute.host, pooled: false };
    const uri = await connectionUri(service.client, PROJECT, { ...target, role, database });
    assert.deepEqual(await queryAt(uri, 'select current_user::text, current_database()::text'), [
      role,
      database,
    ]);
  });

  it('works on a branch without a compute', async () => {
    const { status, body } = await bare.createRole('alone');
    assert.deepEqual([status, body['operations']], [201, []]);
    assert.equal((await bare.post('/roles/alone/reset_password')).status, 200);
    assert.deepEqual(await bare.names('roles'), ['app_owner', 'alone']);
    assert.equal((await bare.remove('/roles/alone')).status, 200);
  });

  it('knows all passwords after a restart of the service', async () => {
    const roles = ['app_owner', 'sally', 'another'];
    const uris = async () => Promise.all(roles.map(async (role) => api.uri(role)));
    const before = await uris();
    await service.stop();
    service = await startLocalService({ dataDir, key: service.key });
    assert.deepEqual(await uris(), before);
    for (const uri of before) assert.deepEqual(await query(uri, 'select 1'), [1]);
  });
});
