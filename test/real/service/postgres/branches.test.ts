/** Branches of the local service with real data. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import {
  branchCalls,
  emptyAccount,
  storageOf,
  type Api,
  type Created,
} from '../../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { connectTo, query } from './clients.ts';

const PRIMARY = { type: 'read_write' };
const REPLICA = { type: 'read_only' };

describe('Branches with Postgres', () => {
  let service: LocalService;
  let api: Api;
  let main: Created;
  let project: string;
  const create = (branch: object, ...endpoints: object[]) =>
    api.change('POST', `/${project}/branches`, { branch, endpoints });
  const rows = (created: Created) => query(api.uri(created), 'select name from item order by name');
  const insert = (created: Created, name: string) =>
    query(api.uri(created), `insert into item values ('${name}')`);
  const suspend = async ({ endpoints: [compute] }: Created) => {
    const address = `/${project}/endpoints/${compute?.id}/suspend`;
    const { operations } = await api.send('POST', address, undefined, 200);
    await api.finish(project, operations);
  };

  before(async () => {
    service = await startLocalService({ args: emptyAccount() });
    api = branchCalls(service);
    main = await api.change('POST', '', { project: { name: 'shop' } });
    project = main.project.id;
    await query(api.uri(main), 'create table item (name text primary key)');
  });
  beforeEach(async () => {
    await query(api.uri(main), 'truncate item');
    await insert(main, 'first');
  });

  it('have what was committed before, while the parent keeps serving', async () => {
    let [committed, isOver] = [0, false];
    const writer = (async () => {
      const client = await connectTo(api.uri(main));
      for (let next = 1; !isOver; next += 1) {
        await client.query('insert into item values ($1)', [`w${next}`]);
        committed = next;
      }
      await client.end();
    })();
    await until('rows are written', () => Promise.resolve(committed > 100));
    const before = committed;
    const branch = await create({ name: 'copy' }, PRIMARY);
    const after = committed;
    isOver = true;
    await writer;
    assert(after > before, 'the parent did not serve during the copy');
    const names = await rows(branch);
    for (let next = 1; next <= before; next += 1) assert(names.includes(`w${next}`), `w${next} is missing`);
    assert.equal(names.length, new Set(names).size);
    await insert(branch, 'own');
    await insert(main, 'later');
    assert.deepEqual((await rows(branch)).includes('later'), false);
    assert.deepEqual((await rows(main)).includes('own'), false);
    assert.deepEqual(
      branch.operations.map(({ action }) => action),
      ['create_branch', 'start_compute'],
    );
  });

  it('are created twenty at once', async () => {
    const branches = await Promise.all(Array.from({ length: 20 }, () => create({})));
    for (const { branch } of branches) await api.change('DELETE', `/${project}/branches/${branch.id}`);
  });

  it('come from a suspended parent, and from one that was never started', async () => {
    const child = await create({ name: 'child' });
    const grandchild = await create({ name: 'grandchild', parent_id: child.branch.id }, PRIMARY);
    await insert(grandchild, 'own');
    await suspend(grandchild);
    const last = await create({ name: 'last', parent_id: grandchild.branch.id }, PRIMARY);
    assert.deepEqual(await rows(last), ['first', 'own']);
    assert.deepEqual(await rows(grandchild), ['first', 'own']);
    const { endpoints } = await api.send<Created>('GET', `/${project}/branches/${child.branch.id}/endpoints`);
    assert.deepEqual(endpoints, []);
  });

  it('are made side by side, so that none keeps its clients waiting for the others', async () => {
    await suspend(main);
    const folder = path.join(storageOf(service), 'branches');
    const unfinished = () => readdirSync(folder).filter((name) => name.endsWith('.new'));
    let [most, isOver] = [0, false];
    const watching = (async () => {
      for (; !isOver; await new Promise((resolve) => setImmediate(resolve)))
        most = Math.max(most, unfinished().length);
    })();
    const made = Array.from({ length: 10 }, async () => {
      const branch = await api.send('POST', `/${project}/branches`, { endpoints: [PRIMARY] });
      const client = await connectTo(api.uri(branch));
      assert.deepEqual((await client.query('select name from item')).rows, [{ name: 'first' }]);
      await client.end();
      await api.finish(project, branch.operations);
      await api.change('DELETE', `/${project}/branches/${branch.branch.id}`);
    });
    await Promise.all(made).finally(() => (isOver = true));
    await watching;
    assert(most > 1, 'no two were copied at the same time');
  });

  it('are reset from their parent, and keep what they had under another name', async () => {
    const branch = await create({ name: 'feature' }, PRIMARY, REPLICA);
    const replica = { ...branch, connection_uris: branch.connection_uris.slice(1) };
    // It may be restarting.
    const replicaRows = (): Promise<unknown[]> => rows(replica).catch(() => []);
    await insert(branch, 'own');
    await until('the replica has the row', async () => (await replicaRows()).includes('own'));
    await insert(main, 'news');
    const { id, parent_id } = branch.branch;
    const restore = { source_branch_id: parent_id, preserve_under_name: 'feature before' };
    const reset = await api.send('POST', `/${project}/branches/${id}/restore`, restore, 200);
    assert.equal(reset.branch.current_state, 'resetting');
    await api.finish(project, reset.operations);
    assert.deepEqual(await rows(branch), ['first', 'news']);
    await until('the replica follows', async () => String(await replicaRows()) === 'first,news');
    await insert(branch, 'after');
    await until('the replica follows', async () => String(await replicaRows()) === 'after,first,news');
    const preserved = (await api.branches(project)).find(({ name }) => name === 'feature before');
    assert.deepEqual([preserved?.parent_id, preserved?.current_state], [parent_id, 'ready']);
    const old = await create({ parent_id: preserved?.id }, PRIMARY);
    assert.deepEqual(await rows(old), ['first', 'own']);
  });

  it('keep their data and password if a reset fails, even if it fails to copy the passwords', async () => {
    const branch = await create({ name: 'unlucky' }, PRIMARY);
    const { id, parent_id } = branch.branch;
    await insert(branch, 'own');
    const folder = path.join(storageOf(service), 'branches');
    const restored = () => readdirSync(folder).filter((name) => name.includes('restored'));
    // The parent's passwords can't be read now.
    const passwords = path.join(folder, parent_id ?? '', 'passwords.json');
    mkdirSync(passwords);
    const address = `/${project}/branches/${id}/restore`;
    const reset = await api.send('POST', address, { source_branch_id: parent_id }, 200);
    await assert.rejects(api.finish(project, reset.operations), /EISDIR|illegal operation on a directory/);
    rmdirSync(passwords);
    assert.deepEqual(await rows(branch), ['first', 'own']);
    assert.deepEqual(restored(), []);
    const again = await api.send('POST', address, { source_branch_id: parent_id }, 200);
    await api.finish(project, again.operations);
    assert.deepEqual(await rows(branch), ['first']);
    assert.deepEqual(restored(), []);
  });

  it('leave no socket folder when they and their computes are deleted', async function () {
    if (process.platform === 'win32') return this.skip();
    const storage = storageOf(service);
    // Its name if the path in the data directory would be too long.
    const note = path.join(storage, 'sockets-folder');
    const folder = existsSync(note) ? readFileSync(note, 'utf8') : path.join(storage, 'sockets');
    const sockets = () => readdirSync(folder).toSorted();
    const before = sockets();
    const created = await create({ name: 'to be deleted' }, PRIMARY, REPLICA);
    assert.deepEqual(await rows(created), ['first']);
    assert.equal(sockets().length, before.length + 2);
    await api.change('DELETE', `/${project}/branches/${created.branch.id}`);
    assert.deepEqual(sockets(), before);
  });

  it('are not deleted while another branch gets their data', async () => {
    const [target, source] = [
      await create({ name: 'target' }, PRIMARY),
      await create({ name: 'source' }, PRIMARY),
    ];
    await insert(target, 'old');
    await insert(source, 'new');
    const restore = { source_branch_id: source.branch.id };
    const { operations } = await api.send(
      'POST',
      `/${project}/branches/${target.branch.id}/restore`,
      restore,
      200,
    );
    // Unless the restore is over already.
    await api.send('DELETE', `/${project}/branches/${source.branch.id}`).catch((error: unknown) => {
      assert.match(String(error), /LOCKED/);
    });
    await api.finish(project, operations);
    assert.deepEqual(await rows(target), ['first', 'new']);
  });
});
