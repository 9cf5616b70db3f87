/** Projects of the local service with real data. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {
  branchCalls,
  emptyAccount,
  storageOf,
  type Api,
  type Created,
} from '../../../helpers/branchCalls.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { answers, query } from './clients.ts';

describe('Projects created with Postgres', () => {
  let service: LocalService;
  let api: Api;

  before(async () => {
    service = await startLocalService({ args: emptyAccount() });
    api = branchCalls(service);
  });

  it('have the role and the database that were asked for', async () => {
    const branch = { name: 'trunk', database_name: `it's "x" --`, role_name: 'Ann "A"' };
    const created = await api.change('POST', '', { project: { name: 'shop', branch } });
    assert.deepEqual(await query(api.uri(created), 'select current_user::text, current_database()::text'), [
      branch.role_name,
      branch.database_name,
    ]);
    const branches = `/${created.project.id}/branches`;
    const child = await api.createBranch(created.project.id);
    assert.deepEqual(await query(api.uri(child), 'select current_user::text'), [branch.role_name]);
    for (const { branch: each, databases } of [created, child]) {
      const listed = await api.send<Created>('GET', `${branches}/${each.id}/databases`);
      const ids = (of: Created['databases']) => of.map((database) => [database.id, database.name]);
      assert.deepEqual(ids(databases), ids(listed.databases));
    }
  });

  it('give their roles and passwords to branches that are created or reset', async () => {
    const main = await api.change('POST', '', { project: { name: 'roles' } });
    const branches = `/${main.project.id}/branches`;
    const child = await api.createBranch(main.project.id);
    const { role } = await api.send<{ role: { password: string } }>(
      'POST',
      `${branches}/${main.branch.id}/roles`,
      { role: { name: 'reader' } },
    );
    const copy = await api.change('POST', branches, {});
    assert.deepEqual(
      copy.roles.map(({ name }) => name),
      ['app_owner', 'reader'],
    );
    const revealed = `${branches}/${copy.branch.id}/roles/reader/reveal_password`;
    assert.deepEqual(await api.send('GET', revealed), { password: role.password });
    const restore = { source_branch_id: main.branch.id };
    const reset = await api.send('POST', `${branches}/${child.branch.id}/restore`, restore, 200);
    await api.finish(main.project.id, reset.operations);
    const uri = new URL(api.uri(child));
    [uri.username, uri.password] = ['reader', role.password];
    assert.deepEqual(await query(uri.href, 'select current_user::text'), ['reader']);
  });

  it('keep the passwords of a branch that is reset', async () => {
    const main = await api.change('POST', '', { project: { name: 'own passwords' } });
    const branches = `/${main.project.id}/branches`;
    const child = await api.createBranch(main.project.id);
    const address = `${branches}/${child.branch.id}`;
    await api.change('POST', `${address}/roles/app_owner/reset_password`);
    const reveal = () => api.send<{ password: string }>('GET', `${address}/roles/app_owner/reveal_password`);
    const { password } = await reveal();
    const [old, current] = [api.uri(child), Object.assign(new URL(api.uri(child)), { password }).href];
    await query(api.uri(main), 'create table news ()');
    const reset = await api.send('POST', `${address}/restore`, { source_branch_id: main.branch.id }, 200);
    await api.finish(main.project.id, reset.operations);
    assert.deepEqual(await query(current, 'select count(*)::int from news'), [0]);
    await assert.rejects(query(old, 'select 1'), /password authentication failed/);
    assert.deepEqual(await reveal(), { password });
  });

  it('keep the password that was returned, even if the service stops while they are created', async () => {
    const dataDir = temporaryFolder();
    chmodSync(dataDir, 0o755);
    const args = emptyAccount();
    const stopped = await startLocalService({ args, dataDir });
    const created = await branchCalls(stopped).send<Created>('POST', '', { project: { name: 'hasty' } });
    await stopped.stop();
    const next = await startLocalService({ args, dataDir });
    const again = branchCalls(next);
    await again.finish(created.project.id, created.operations);
    assert.deepEqual(await query(again.uri(created), 'select 1'), [1]);
  });

  describe('in a data directory that several services use', () => {
    const dataDir = temporaryFolder();
    const args = emptyAccount();
    let storage: string;
    let created: Created;
    const start = async (...more: string[]) => startLocalService({ args: [...args, ...more], dataDir });
    before(async () => {
      chmodSync(dataDir, 0o755);
      const first = await start();
      created = await branchCalls(first).change('POST', '', { project: { name: 'kept' } });
      await first.stop();
      storage = storageOf({ dataDir });
    });

    it('leave no files that no record names, at the next start', async () => {
      const own = `branches/${created.branch.id}`;
      // As if it was killed in the last step of a restore.
      renameSync(path.join(storage, own), path.join(storage, `${own}.restored`));
      const left = [
        'branches/br-failed/data',
        'replicas/ep-failed/data',
        'poolers/ep-failed',
        'template-1.new',
        'sockets/0123456789',
        `${own}.restored/data.new`,
        `${own}.restored.new`,
        `${own}.replaced`,
        `${own}.new`,
      ];
      for (const folder of left) {
        makeFolder(path.dirname(path.join(storage, folder)));
        makeFolder(path.join(storage, folder));
        writeFileSync(path.join(storage, folder, 'login.json'), '{}');
      }
      await start();
      const remaining = () => left.filter((folder) => existsSync(path.join(storage, folder)));
      await until(
        async () => `no files, not ${String(remaining())}`,
        async () => remaining().length === 0,
      );
      // The password was in the folder. The API may answer before the addresses of computes are open.
      await answers(api.uri(created));
    });

    it('leave nothing behind when they are deleted, even without Postgres', async () => {
      const branches = () => readdirSync(path.join(storage, 'branches'));
      assert.deepEqual(branches(), [created.branch.id]);
      const service = await start('--postgres-path', temporaryFolder());
      const project = `/${created.project.id}`;
      await branchCalls(service).send('PATCH', project, { project: { history_retention_seconds: 0 } });
      await branchCalls(service).send('DELETE', project);
      await until('the data is removed', async () => branches().length === 0);
    });
  });
});

/** For the account that the engine runs as, which owns its folders. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  mkdirSync(folder);
  const { uid, gid } = statSync(path.dirname(folder));
  chownSync(folder, uid, gid);
}
