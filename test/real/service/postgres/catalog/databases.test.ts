/**
 * Databases of a branch, through the API and in SQL.
 * Timers: service/postgres/catalog/catalogStatements.ts.
 */
import assert from 'node:assert/strict';
import { startLocalService, type LocalService } from '../../../../helpers/localService.ts';
import { connectTo, query } from '../clients.ts';
import {
  BRANCH,
  branchApi,
  encoded,
  ODD_NAMES,
  queryAt,
  WITHOUT_COMPUTE,
  type RejectedRequest,
} from './branchApi.ts';

describe('databases of a branch', () => {
  let service: LocalService;
  const api = branchApi(() => service);
  const bare = branchApi(() => service, WITHOUT_COMPUTE);
  before(async () => {
    service = await startLocalService();
    await api.suspend();
  });
  after(() => assert.doesNotMatch(service.stderr(), /Unexpected/));

  it('lists the database of a new branch without starting its compute', async () => {
    const { status, body } = await api.get('/databases');
    assert.equal(status, 200);
    const { databases } = body as { databases: Record<string, unknown>[] };
    assert.equal(databases.length, 1);
    const [first = {}] = databases;
    const { id, created_at, updated_at, ...rest } = first;
    assert.deepEqual(rest, { branch_id: BRANCH, name: 'app', owner_name: 'app_owner' });
    assert(Number.isInteger(id));
    for (const time of [created_at, updated_at]) assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.deepEqual((await api.get('/databases/app')).json, { database: first });
    assert.equal(await api.state(), 'idle');
  });

  it('creates a database on an idle compute, which stays idle', async () => {
    const { status, body } = await api.createDatabase('made idle');
    assert.equal(status, 201);
    const { database, operations } = body as {
      database: Record<string, unknown>;
      operations: Record<string, unknown>[];
    };
    assert.deepEqual([database['name'], database['owner_name']], ['made idle', 'app_owner']);
    assert.deepEqual(
      operations.map(({ action, status: state }) => [action, state]),
      [['apply_config', 'finished']],
    );
    const shown = await api.project('GET', `/operations/${String(operations[0]?.['id'])}`);
    assert.deepEqual(shown.json, { operation: operations[0] });
    assert.equal(await api.state(), 'idle');
    assert.deepEqual(
      await query(await api.uri('app_owner', 'made idle'), 'select current_database()::text'),
      ['made idle'],
    );
    assert.equal(await api.state(), 'active');
  });

  it('shows and changes what was created in SQL', async () => {
    const uri = await api.uri();
    await query(uri, 'create database "by psql"');
    assert((await api.names('databases')).includes('by psql'));
    const { status } = await api.remove('/databases/by%20psql');
    assert.equal(status, 200);
    assert.deepEqual(await query(uri, `select 1 from pg_database where datname = 'by psql'`), []);
  });

  it('takes any name', async () => {
    for (const name of ODD_NAMES) {
      assert.equal((await api.createDatabase(name)).status, 201, name);
      const path = `/databases/${encoded(name)}`;
      assert.equal((await api.get(path)).status, 200, name);
      assert.deepEqual(await queryAt(await api.uri('app_owner', name), 'select current_database()::text'), [
        name,
      ]);
      assert.equal((await api.remove(path)).status, 200, name);
      assert(!(await api.names('databases')).includes(name));
    }
  });

  it('renames a database with connections and gives it another owner', async () => {
    await api.createDatabase('before');
    await api.createRole('heir');
    const uri = await api.uri('app_owner', 'before');
    await query(uri, 'create table kept as select 42 as answer');
    const client = await connectTo(uri);
    const closed = new Promise((resolve) => client.once('end', resolve));
    const { status, body } = await api.patch('/databases/before', {
      database: { name: 'after', owner_name: 'heir' },
    });
    assert.equal(status, 200);
    const { database } = body as { database: Record<string, unknown> };
    assert.deepEqual([database['name'], database['owner_name']], ['after', 'heir']);
    await closed;
    assert.deepEqual(await query(await api.uri('app_owner', 'after'), 'select answer from kept'), [42]);
    await assert.rejects(query(uri, 'select 1'), { code: '3D000' });
  });

  it('renames a database whose clients connect again and again', async () => {
    await api.createDatabase('busy');
    const uri = await api.uri('app_owner', 'busy');
    let isRenamed = false;
    const clients = Array.from({ length: 4 }, async () => {
      while (!isRenamed) await query(uri, 'select 1').catch(() => undefined);
    });
    const { status, text } = await api.patch('/databases/busy', { database: { name: 'calm' } });
    isRenamed = true;
    await Promise.all(clients);
    assert.equal(status, 200, text);
  });

  it('does nothing for a change to what is already true', async () => {
    for (const database of [{}, { name: 'app' }, { owner_name: 'app_owner' }]) {
      const { status, body } = await api.patch('/databases/app', { database });
      assert.equal(status, 200);
      assert.deepEqual(body['operations'], []);
    }
  });

  it('deletes a database with its connections', async () => {
    await api.createDatabase('doomed');
    const client = await connectTo(await api.uri('app_owner', 'doomed'));
    const closed = new Promise((resolve) => client.once('end', resolve));
    const { status, body } = await api.remove('/databases/doomed');
    assert.equal(status, 200);
    assert.equal((body['database'] as { name: string }).name, 'doomed');
    await closed;
    const again = await api.remove('/databases/doomed');
    assert.deepEqual([again.status, again.text], [204, '']);
    assert.equal((await api.get('/databases/doomed')).status, 404);
  });

  it('rejects what it cannot do, and changes nothing', async () => {
    const create = (status: number, name: unknown, owner_name: unknown = 'app_owner'): RejectedRequest => [
      status,
      'POST',
      '',
      { database: { name, owner_name } },
    ];
    const reserved = ['postgres', 'template0', 'template1'];
    const invalid = ['', 'a\nb', 'a\0b', 'x'.repeat(64), 'ü'.repeat(32), '\ud800'];
    await api.createDatabase('second');
    await api.expectRejections('databases', [
      create(409, 'app'),
      create(404, 'new', 'stranger'),
      create(404, 'new', 'postgres'),
      ...[...reserved, ...invalid].map((name) => create(422, name)),
      create(400, 7),
      create(400, 'new', null),
      [400, 'POST', '', { database: { name: 'new' } }],
      [400, 'POST', '', { database: { name: 'new', owner_name: 'app_owner', size: 1 } }],
      [400, 'POST', '', {}],
      [404, 'GET', '/postgres'],
      [404, 'GET', '/none'],
      [404, 'PATCH', '/none', { database: { name: 'new' } }],
      [404, 'PATCH', '/app', { database: { owner_name: 'stranger' } }],
      [409, 'PATCH', '/second', { database: { name: 'app' } }],
      [422, 'PATCH', '/app', { database: { name: 'postgres' } }],
      [422, 'PATCH', '/template1', { database: { name: 'new' } }],
      [422, 'DELETE', '/postgres'],
    ]);
  });

  it('rejects an unknown branch or project', async () => {
    assert.equal((await branchApi(() => service, 'br-none').get('/databases')).status, 404);
    assert.equal((await api.project('GET', '-none/branches/br-x/databases')).status, 404);
  });

  it('works on a branch without a compute, which has no operations', async () => {
    const { status, body } = await bare.createDatabase('alone');
    assert.deepEqual([status, body['operations']], [201, []]);
    assert.deepEqual(await bare.names('databases'), ['app', 'alone']);
    assert.equal((await bare.patch('/databases/alone', { database: { name: 'renamed' } })).status, 200);
    assert.equal((await bare.remove('/databases/renamed')).status, 200);
    assert.equal((await bare.askForUri('app_owner', 'app')).status, 404, 'no compute');
  });

  it('creates one database when two calls want the same name', async () => {
    const replies = await Promise.all([1, 2, 3].map(async () => api.createDatabase('twice')));
    const statuses = replies.map(({ status }) => status);
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [201, 409, 409],
    );
  });

  it('has all databases when the compute is idle again', async () => {
    const before = await api.names('databases');
    await api.suspend();
    assert.deepEqual(await api.names('databases'), before);
    assert.equal(await api.state(), 'idle');
  });
});
