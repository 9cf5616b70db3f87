import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { branchCalls, storageOf, type Api } from '../../helpers/branchCalls.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { neonCli, NeonCliError } from '../../helpers/neonCli.ts';
import {
  branchApi,
  BRANCH,
  emptyBranches,
  PROJECT,
  WITHOUT_COMPUTE,
} from '../service/postgres/catalog/branchApi.ts';
import { query } from '../service/postgres/clients.ts';

interface Snapshot {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly source_branch_id: string;
  readonly expires_at?: string;
}

describe("The public service's command line, unmodified, with snapshots", () => {
  const folder = temporaryFolder();
  const options = { dataDir: path.join(folder, 'data'), key: 'k' };
  let service: LocalService;
  let api: Api;
  let main: string;
  const run = neonCli(() => service);
  const neon = (...args: readonly string[]) => run(...args, '--project-id', PROJECT);
  const json = async <T>(...args: readonly string[]): Promise<T> =>
    JSON.parse(await neon(...args, '--output', 'json')) as T;
  /** Resolves when no operation of the project runs. */
  const settle = async () => {
    const { operations } = await api.send('GET', `/${PROJECT}/operations`);
    await api.finish(PROJECT, operations);
  };
  const create = async (...args: readonly string[]) => {
    const snapshot = await json<Snapshot>('snapshots', 'create', ...args);
    await settle();
    return snapshot;
  };
  const restore = async (...args: readonly string[]) => {
    await neon('snapshots', 'restore', ...args);
    await settle();
  };
  const branchNamed = async (name: string) =>
    (await api.branches(PROJECT)).find((branch) => branch.name === name);
  const orders = (uri: string) => query(uri, 'select id from orders order by id');
  const folderOf = (id: string) => path.join(storageOf(service), 'branches', id);

  before(async () => {
    service = await startLocalService({ ...options, args: emptyBranches() });
    api = branchCalls(service);
    main = await branchApi(() => service, BRANCH).uri();
    await query(main, 'create table orders (id int)');
    await query(main, 'insert into orders values (1)');
  });

  it('creates them of now and of a moment, lists, shows, changes and deletes them', async () => {
    await branchApi(() => service).waitForHistory();
    const [lsn] = await query(main, 'select pg_current_wal_flush_lsn()');
    const time = new Date().toISOString();
    await query(main, 'insert into orders values (2)');
    const two = await create('--branch', 'main', '--name', 'two', '--slug', 'second');
    assert.deepEqual([two.name, two.slug, two.source_branch_id], ['two', 'second', BRANCH]);
    await create('--name', 'at a time', '--timestamp', time);
    await create('--name', 'at a position', '--lsn', String(lsn), '--expires-at', '2099-01-01T00:00:00Z');
    const listed = await json<readonly Snapshot[]>('snapshots', 'list');
    assert.deepEqual(
      listed.map(({ name, expires_at = 'never' }) => [name, expires_at.slice(0, 4)]),
      [
        ['two', 'neve'],
        ['at a time', 'neve'],
        ['at a position', '2099'],
      ],
    );
    await query(main, 'insert into orders values (3)');
    for (const [snapshot, rows] of [
      ['two', [1, 2]],
      ['at a time', [1]],
      ['at a position', [1]],
    ] as const) {
      await restore(snapshot, '--name', 'look');
      const { id = '' } = (await branchNamed('look')) ?? {};
      await neon('branches', 'add-compute', id, '--type', 'read_write');
      await settle();
      assert.deepEqual(await orders(await branchApi(() => service, id).uri()), rows, snapshot);
      await neon('branches', 'delete', id);
      await settle();
    }
    await neon('snapshots', 'update', 'at a time', '--name', 'renamed');
    await neon('snapshots', 'update', 'at a position', '--clear-expiration');
    assert.equal((await json<Snapshot>('snapshots', 'get', 'renamed')).name, 'renamed');
    assert.equal((await json<Snapshot>('snapshots', 'get', 'at a position')).expires_at, undefined);
    for (const name of ['renamed', 'at a position']) {
      const { id } = await json<Snapshot>('snapshots', 'get', name);
      assert(existsSync(folderOf(id)));
      await neon('snapshots', 'delete', id);
      await settle();
      assert(!existsSync(folderOf(id)), 'its data is removed');
    }
    assert.deepEqual(
      (await json<readonly Snapshot[]>('snapshots', 'list')).map(({ name }) => name),
      ['two'],
    );
  });

  it('restores one in place: with the same connection string, and the present kept as another branch', async () => {
    await branchApi(() => service).post('/roles/app_owner/reset_password');
    main = await branchApi(() => service).uri();
    assert.deepEqual(await orders(main), [1, 2, 3]);
    const endpoint = { branch_id: BRANCH, type: 'read_only' };
    const added = await api.send<{ endpoint: { host: string } }>('POST', `/${PROJECT}/endpoints`, {
      endpoint,
    });
    await settle();
    const replica = new URL(main);
    replica.host = added.endpoint.host;
    assert.deepEqual(await orders(replica.href), [1, 2, 3]);
    await restore('second', '--target-branch', 'main', '--finalize');
    assert.deepEqual(await orders(main), [1, 2]);
    assert.deepEqual(await orders(replica.href), [1, 2], 'the read replica');
    const [now, old] = [await branchNamed('main'), await branchNamed('main (old)')];
    assert.deepEqual([now?.default, old?.id], [true, BRANCH]);
    await query(main, 'insert into orders values (4)');
    // The branch keeps its new data when it is restored to what was kept.
    await neon('branches', 'restore', 'main', 'main (old)');
    await settle();
    assert.deepEqual(await orders(main), [1, 2, 3]);
  });

  it('says what is wrong', async () => {
    for (const [args, reason] of [
      [['create', '--timestamp', '2020-01-01T00:00:00Z'], /history/],
      [['restore', 'none'], /not found/],
      [['finalize', 'main'], /not the restore/],
      [['schedule', 'get'], /not available in the local service/],
    ] as const)
      await assert.rejects(neon('snapshots', ...args), (error: Error) => {
        assert(error instanceof NeonCliError);
        assert.match(error.message, reason);
        return true;
      });
  });

  it('keeps them when their branch is deleted and its history is gone, and after a restart', async () => {
    for (const id of [WITHOUT_COMPUTE, BRANCH]) {
      await neon('branches', 'delete', id);
      await settle();
    }
    await api.send('PATCH', `/${PROJECT}`, { project: { history_retention_seconds: 0 } });
    await service.stop();
    service = await startLocalService(options);
    api = branchCalls(service);
    main = await branchApi(() => service, (await branchNamed('main'))?.id).uri();
    await neon('snapshots', 'restore', 'second', '--name', 'preview', '--target-branch', 'main');
    await settle();
    assert.deepEqual(await orders(main), [1, 2, 3]);
    await neon('snapshots', 'finalize', 'preview', '--name', 'before');
    await settle();
    assert.deepEqual(await orders(main), [1, 2]);
    assert(await branchNamed('before'));
    await neon('branches', 'delete', 'before');
    await settle();
    const { snapshots } = await api.send<{ snapshots: readonly Snapshot[] }>('GET', `/${PROJECT}/snapshots`);
    for (const { id } of snapshots) await neon('snapshots', 'delete', id);
    await settle();
    assert.deepEqual(await orders(main), [1, 2]);
  });
});
