/** What the calls for databases and roles do when operations run, an engine fails or Postgres was killed. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { call } from '../../../../helpers/call.ts';
import { readPostmasterPid } from '../../../../../src/service/postgres/server/postmaster.ts';
import { startInProcess, type InProcess } from '../../inProcess.ts';
import { eventually, query, runStatements } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';
import { BRANCH, PROJECT } from './branchApi.ts';

const DATABASES = `/projects/${PROJECT}/branches/${BRANCH}/databases`;
const creation = { database: { name: 'new', owner_name: 'owner' } };

describe('databases and roles', () => {
  describe('on an engine that the test controls', () => {
    let test: InProcess;
    const ask = async (method: string, body?: unknown) =>
      call(test.baseUrl, { method, path: DATABASES, key: test.key, body });
    it('are locked while the primary starts, but can be read', async () => {
      test = await startInProcess({ operationDelay: 1000 });
      const { status, headers } = await ask('POST', creation);
      assert.deepEqual([status, headers['retry-after']], [423, '1']);
      assert.equal((await ask('GET')).status, 200);
    });

    it('have no operation for a change that failed', async () => {
      test = await startInProcess();
      test.engine.fail('changeCatalog', 'permission denied');
      const operations = async () =>
        (await call(test.baseUrl, { path: `/projects/${PROJECT}/operations`, key: test.key })).json;
      const before = await operations();
      const { status, json } = await ask('POST', creation);
      assert.equal(status, 409);
      assert.equal((json as { message: string }).message, 'permission denied');
      assert.deepEqual(await operations(), before);
    });
  });

  describe('on Postgres', () => {
    let service: ControlPlane;
    before(async () => (service = await startControlPlane()));

    it('are known before the data of a new branch is created, and the same after', async () => {
      const { engine } = service;
      const before = await engine.catalog('br-main', 'app_owner');
      assert.equal('password' in (await engine.catalog('br-main')), false);
      assert.equal('password' in (await engine.catalog('br-main', 'postgres')), false);
      assert.equal(existsSync(path.join(service.dataDir, 'postgres/branches/br-main/data')), false);
      await engine.start(await service.create());
      const after = await engine.catalog('br-main', 'app_owner');
      const databases = after.databases.map(({ createdAt: _createdAt, ...database }) => database);
      assert.deepEqual(before, { ...after, databases });
    });

    it('are read once while the compute is idle, without another server for the next read', async () => {
      const { engine } = service;
      const branchId = 'br-idle';
      await engine.createBranch({ id: branchId });
      const control = path.join(service.dataDir, `postgres/branches/${branchId}/data/global/pg_control`);
      const first = await engine.catalog(branchId, 'app_owner');
      // Each server writes the file.
      const { mtimeMs } = statSync(control);
      assert.deepEqual(await engine.catalog(branchId, 'app_owner'), first);
      assert.equal(statSync(control).mtimeMs, mtimeMs);
    });

    it('are read on one server by several at once, while a branch is made from it', async () => {
      const { engine } = service;
      await engine.createBranch({ id: 'br-read' });
      const pid = () => readPostmasterPid(path.join(service.dataDir, 'postgres/branches/br-read/data'))?.pid;
      const reads = Array.from({ length: 4 }, async () => engine.schema('br-read', 'app', 'sql'));
      await eventually(() => pid() !== undefined);
      const first = pid();
      await engine.createBranch({ id: 'br-made-meanwhile', parentId: 'br-read' });
      assert.equal(pid(), first);
      const [schema, ...others] = await Promise.all(reads);
      for (const other of others) assert.deepEqual(other, schema);
      assert.equal(pid(), undefined);
      assert.deepEqual(await engine.schema('br-made-meanwhile', 'app', 'sql'), schema);
    });

    it('do not include a database that Postgres was dropping when it was killed', async () => {
      const { engine } = service;
      const branchId = 'br-killed';
      const uri = await service.uri(await service.create({ branchId }));
      await query(uri, 'create database half');
      const file = path.join(service.dataDir, 'postgres/logins.json');
      const { superuser } = JSON.parse(readFileSync(file, 'utf8')) as { superuser: string };
      const asSuperuser = uri.replace(/\/\/.*@/, `//postgres:${superuser}@`);
      await query(asSuperuser, "update pg_database set datconnlimit = -2 where datname = 'half'");
      const names = async () => (await engine.catalog(branchId)).databases.map(({ name }) => name);
      assert.deepEqual(await names(), ['app']);
      await engine.changeCatalog(branchId, { kind: 'createDatabase', name: 'half', owner: 'app_owner' });
      assert.deepEqual(await names(), ['app', 'half']);
      assert.deepEqual(await query(uri.replace(/app$/, 'half'), 'select 1'), [1]);
    });

    it('change without the primary while a read replica runs, which sees the change', async () => {
      const { engine } = service;
      const branchId = 'br-replicated';
      const primary = await service.create({ branchId });
      await query(await service.uri(primary), 'select 1');
      const replica = await service.uri(await service.create({ branchId, type: 'read_only' }));
      assert.deepEqual(await query(replica, 'select pg_is_in_recovery()'), [true]);
      await engine.suspend(primary.id);
      service.woken.length = 0;
      await engine.changeCatalog(branchId, { kind: 'createDatabase', name: 'late', owner: 'app_owner' });
      assert.deepEqual(service.woken, [], 'no compute was woken');
      assert.deepEqual(await query(replica, 'select 1'), [1]);
      await engine.start(primary);
      const found = "select count(*)::int from pg_database where datname = 'late'";
      const rows = () => query(replica, found).catch(() => []);
      await eventually(async () => String(await rows()) === '1');
    });

    for (const state of ['active', 'idle'] as const)
      it(`change with any settings of the user, while the primary is ${state}`, async () => {
        const { engine } = service;
        const branchId = `br-${state}`;
        const compute = await service.create({
          branchId,
          pgSettings: {
            max_prepared_transactions: '20',
            max_worker_processes: '12',
            max_locks_per_transaction: '99',
          },
        });
        const uri = await service.uri(compute);
        await engine.changeCatalog(branchId, { kind: 'createRole', name: 'leaver', canLogin: true });
        await query(uri, 'grant create on schema public to leaver');
        const { password = '' } = await engine.catalog(branchId, 'leaver');
        await query(uri.replace(/\/\/.*@/, `//leaver:${password}@`), 'create table public.left_behind ()');
        await runStatements(uri, "begin; create table kept (); prepare transaction 'pending'");
        await query(uri, 'alter database app set role = app_owner');
        if ((engine.pgVersion ?? 0) >= 17) await query(uri, 'alter database app set transaction_timeout = 1');
        if (state === 'idle') await engine.suspend(compute.id);
        const role = { kind: 'deleteRole', name: 'leaver' } as const;
        assert.deepEqual((await engine.changeCatalog(branchId, role)).roles.length, 1);
        const database = { kind: 'createDatabase', name: 'late', owner: 'app_owner' } as const;
        assert.deepEqual((await engine.changeCatalog(branchId, database)).databases.length, 2);
      });

    it('do not change when the engine is closed in the meantime', async () => {
      const closed = await startControlPlane();
      const create = async (name: string) =>
        closed.engine.changeCatalog('br-main', { kind: 'createDatabase', name, owner: 'app_owner' });
      await create('first');
      const results = Promise.allSettled(['second', 'third', 'fourth'].map(create));
      await closed.close();
      for (const result of await results)
        assert(
          result.status === 'fulfilled' || /EngineError/.test(String(result.reason)),
          JSON.stringify(result),
        );
    });
  });
});
