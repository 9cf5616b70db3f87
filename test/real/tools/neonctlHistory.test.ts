import assert from 'node:assert/strict';
import { branchCalls, type Api, type Branch } from '../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { neonCli, NeonCliError } from '../../helpers/neonCli.ts';
import { branchApi, BRANCH, emptyBranches, PROJECT } from '../service/postgres/catalog/branchApi.ts';
import { query } from '../service/postgres/clients.ts';

interface Printed {
  readonly branch: Branch;
  readonly connection_uris: readonly { readonly connection_uri: string }[];
}

interface Moment {
  readonly time: string;
  readonly lsn: string;
}

describe("The public service's command line, unmodified, goes back in time", () => {
  let service: LocalService;
  let api: Api;
  let main: string;
  /** Has the first order only. */
  let past: Moment;
  const run = neonCli(() => service);
  const on = (...args: readonly string[]) => run('branches', ...args, '--project-id', PROJECT);
  const json = async <T>(...args: readonly string[]): Promise<T> =>
    JSON.parse(await on(...args, '--output', 'json')) as T;
  /** Resolves when no operation of the project runs. */
  const settle = async () => {
    const { operations } = await api.send('GET', `/${PROJECT}/operations`);
    await api.finish(PROJECT, operations);
  };
  const create = async (name: string, ...args: readonly string[]) => {
    const { branch, connection_uris: uris } = await json<Printed>('create', '--name', name, ...args);
    await settle();
    return { id: branch.id, uri: uris[0]?.connection_uri ?? '' };
  };
  const orders = (uri: string) => query(uri, 'select id from orders order by id');
  const moment = async (): Promise<Moment> => {
    const [lsn] = await query(main, 'select pg_current_wal_flush_lsn()');
    return { lsn: String(lsn), time: new Date().toISOString() };
  };

  before(async () => {
    service = await startLocalService({ args: emptyBranches() });
    api = branchCalls(service);
    main = await branchApi(() => service, BRANCH).uri();
    await query(main, 'create table orders (id int)');
    await query(main, 'insert into orders values (1)');
    await branchApi(() => service).waitForHistory();
    past = await moment();
    await query(main, 'insert into orders values (2)');
    await query(main, 'create table refunds ()');
  });

  it('creates branches of the default branch at a time and at an LSN', async () => {
    for (const parent of [past.time, past.lsn]) {
      const { id, uri } = await create('then', '--parent', parent);
      assert.deepEqual(await orders(uri), [1], parent);
      assert.equal((await json<Branch>('get', id)).parent_id, BRANCH);
      await on('delete', id);
    }
  });

  it('names the commands that work instead of a connection to a moment, and they do', async () => {
    for (const moment of [past.time, past.lsn]) {
      const uri = (await run('connection-string', `main@${moment}`, '--project-id', PROJECT)).trim();
      const failure: unknown = await query(
        uri.replace('sslmode=require', 'sslmode=no-verify'),
        'select 1',
      ).then(
        () => undefined,
        (error: unknown) => error,
      );
      assert.partialDeepStrictEqual({ ...(failure as object) }, { severity: 'FATAL', code: '0A000' });
      const { hint } = failure as { readonly hint: string };
      const commands = [...hint.matchAll(/neon ([^,]+)/g)].map(([, command = '']) => command.split(' '));
      assert.deepEqual(commands.pop(), ['psql', 'past']);
      for (const command of commands) {
        await run(...command, '--project-id', PROJECT);
        await settle();
      }
      const then = (await run('connection-string', 'past', '--project-id', PROJECT)).trim();
      assert.deepEqual(await orders(then.replace('sslmode=require', 'sslmode=no-verify')), [1]);
      await on('delete', 'past');
    }
  });

  it('restores a branch to an earlier time of another one, under the same connection string', async () => {
    const { uri } = await create('feature');
    assert.deepEqual(await orders(uri), [1, 2]);
    await on('restore', 'feature', `main@${past.time}`);
    await settle();
    assert.deepEqual(await orders(uri), [1]);
    await on('restore', 'feature', `^parent@${past.lsn}`);
    await settle();
    assert.deepEqual(await orders(uri), [1]);
    await on('restore', 'feature', 'main');
    await settle();
    assert.deepEqual(await orders(uri), [1, 2]);
    await on('delete', 'feature');
  });

  it('compares schemas at a time and at an LSN', async () => {
    const diff = (...branches: readonly string[]) => on('schema-diff', ...branches, '--database', 'app');
    for (const point of [past.time, past.lsn])
      assert.match(await diff('main', `^self@${point}`), /^-CREATE TABLE public\.refunds \($/m, point);
    const { id } = await create('compared');
    assert.match(await diff('compared', `^parent@${past.time}`), /^\+CREATE TABLE public\.refunds \($/m);
    assert.doesNotMatch(await diff('compared', '^parent'), /CREATE TABLE/);
    await on('delete', id);
  });

  it('says from when history is, and what a branch needs to go back in its own', async () => {
    const rejections = [
      [['create', '--parent', '2020-01-01T00:00:00Z'], /history/],
      [['restore', 'main', '^self@2020-01-01T00:00:00Z', '--preserve-under-name', 'kept'], /history/],
      [['restore', 'main', `^self@${past.time}`], /preserve_under_name/],
      [['schema-diff', 'main', '^self@2020-01-01T00:00:00Z', '--database', 'app'], /history/],
    ] as const;
    for (const [args, reason] of rejections)
      await assert.rejects(on(...args), (error: Error) => {
        assert(error instanceof NeonCliError);
        assert.match(error.message, reason);
        return true;
      });
  });

  it('restores a branch to its own past, and back to what it preserved', async () => {
    await on('restore', 'main', `^self@${past.time}`, '--preserve-under-name', 'present');
    await settle();
    assert.deepEqual(await orders(main), [1]);
    await query(main, 'insert into orders values (3)');
    await on('restore', 'main', 'present', '--preserve-under-name', 'other');
    await settle();
    assert.deepEqual(await orders(main), [1, 2]);
    const other = await branchApi(() => service, (await json<Branch>('get', 'other')).id).get('/databases');
    assert.equal(other.status, 200);
    await on('restore', 'main', 'other');
    await settle();
    assert.deepEqual(await orders(main), [1, 3]);
  });

  it('recovers a deleted project with its history, under the same connection string', async () => {
    const created = await api.change('POST', '', { project: { name: 'lost' } });
    const uri = api.uri(created);
    const { id } = created.project;
    await query(uri, 'create table orders as select 1 as id');
    const [lsn] = await query(uri, 'select pg_current_wal_flush_lsn()');
    await query(uri, 'insert into orders values (2)');
    await run('projects', 'delete', id);
    await assert.rejects(orders(uri));
    const listed = await run('projects', 'list', '--recoverable-only', '--output', 'json');
    assert.deepEqual(
      (JSON.parse(listed) as { id: string }[]).map((project) => project.id),
      [id],
    );
    await run('projects', 'recover', id);
    assert.deepEqual(await orders(uri), [1, 2]);
    const restore = ['restore', 'main', `^self@${String(lsn)}`, '--preserve-under-name', 'present'];
    await run('branches', ...restore, '--project-id', id);
    const { operations } = await api.send('GET', `/${id}/operations`);
    await api.finish(id, operations);
    assert.deepEqual(await orders(uri), [1]);
  });
});
