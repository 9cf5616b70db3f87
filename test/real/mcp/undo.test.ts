import assert from 'node:assert/strict';
import type { Agent } from '../../helpers/agent.ts';
import { branchCalls, emptyAccount, type Api } from '../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { query } from '../service/postgres/clients.ts';
import { connectAgent } from './connectAgent.ts';

interface Moment {
  readonly to: string;
  readonly before: string;
}

describe('An agent', () => {
  let service: LocalService;
  let api: Api;
  let agent: Agent;

  before(async () => {
    service = await startLocalService({ args: emptyAccount() });
    api = branchCalls(service);
    await api.change('POST', '', { project: { name: 'Shop' } });
    agent = await connectAgent({ HOSTED_POSTGRES_DATA_DIR: service.dataDir });
  });

  it('takes its branch back to before its own SQL under the same connection string, and forward again', async () => {
    const made = await agent.call('createBranch', { hours: 1, includePassword: true });
    const [projectId, branchId] = [String(made['projectId']), String(made['branchId'])];
    const branch = { projectId, branchId };
    const uri = String(made['connectionString']);
    const write = (sql: string) => agent.call('runSql', { ...branch, sql, write: true });
    const moments = async () => (await agent.call('undo', branch))['moments'] as readonly Moment[];
    await write('CREATE TABLE kept (id int, email text)');
    await write("INSERT INTO kept VALUES (1, 'a@example.com')");
    const schema = `/${projectId}/branches/${branchId}/schema?db_name=app&timestamp=`;
    await until('the history', async () =>
      api.send('GET', schema + new Date().toISOString()).then(
        () => true,
        () => false,
      ),
    );
    await write('ALTER TABLE kept DROP COLUMN email');
    const dropped = (await moments()).find(({ before }) => before.includes('DROP COLUMN'));
    const { keptAs } = await agent.call('undo', { ...branch, to: dropped?.to });
    assert.match(String(keptAs), /before-undo-/);
    assert.deepEqual(await query(uri, 'SELECT email FROM kept'), ['a@example.com']);
    const [undone] = await moments();
    assert.match(undone?.before ?? '', /^the undo at /);
    await agent.call('undo', { ...branch, to: undone?.to });
    await assert.rejects(query(uri, 'SELECT email FROM kept'), /column "email" does not exist/);

    const listed = async () => {
      const { branches } = await agent.call('listBranches');
      return (branches as readonly { readonly name: string }[]).map(({ name }) => name);
    };
    assert.equal((await listed()).length, 4);
    assert.equal((await agent.call('deleteBranch', branch))['note'], undefined);
    assert.equal((await listed()).length, 1, 'without what the undos have kept');
  });

  it('has ten branches at most, without those that an undo has kept, and learns how to get another', async () => {
    const create = () => agent.call('createBranch', { hours: 1 });
    const { projectId, branchId } = await create();
    const branch = { projectId, branchId };
    await agent.call('runSql', { ...branch, sql: 'CREATE TABLE t (id int)', write: true });
    const moments = async () => (await agent.call('undo', branch))['moments'] as readonly Moment[];
    const undone = await until('the history', async () => {
      const moment = (await moments()).find(({ before }) => before.includes('CREATE TABLE'))?.to;
      return moment && agent.call('undo', { ...branch, to: moment }).catch(() => undefined);
    });
    assert.ok(undone);
    const ids = [branchId];
    while (ids.length < 10) ids.push((await create())['branchId']);
    await assert.rejects(create(), (error: Error) => {
      assert.match(error.message, /^Agents have 10 branches in .*, and 10 is the limit without the approval/);
      assert.match(error.message, /Delete one of yours that you don't need with deleteBranch: /);
      for (const id of ids) assert.ok(error.message.includes(String(id)), String(id));
      assert.ok(!error.message.includes('before-undo'));
      return true;
    });
    await agent.call('deleteBranch', { projectId, branchId: ids[9] });
    await create();
  });
});
