/** The record of a new branch names the position in its parent's log up to which it has the data: no more, and no less. */
import assert from 'node:assert/strict';
import { branchCalls, emptyAccount, type Api, type Created } from '../../../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../../../helpers/localService.ts';
import { until } from '../../../../workbench/until.ts';
import { connectTo, query } from '../clients.ts';

describe('The parent_lsn of a branch', () => {
  let service: LocalService;
  let api: Api;
  let main: Created;
  let project: string;
  before(async () => {
    service = await startLocalService({ args: emptyAccount() });
    api = branchCalls(service);
    main = await api.change('POST', '', { project: { name: 'shop' } });
    project = main.project.id;
    await query(api.uri(main), 'create table item (id int)');
  });
  after(() => service.stop());

  const rows = (created: Created) => query(api.uri(created), 'select count(*)::int, max(id) from item');
  /** Makes a branch of now, and another one of the position that its record names. @returns the rows of both */
  const makeTwice = async () => {
    const now = await api.createBranch(project);
    const { branch } = await api.send('GET', `/${project}/branches/${now.branch.id}`);
    assert.match(branch.parent_lsn ?? '', /^[0-9A-F]+\/[0-9A-F]+$/);
    const then = await api.createBranch(project, { parent_lsn: branch.parent_lsn });
    assert.equal(then.branch.parent_lsn, branch.parent_lsn);
    const found = [await rows(now), await rows(then)];
    for (const each of [now, then]) await api.change('DELETE', `/${project}/branches/${each.branch.id}`);
    return found;
  };

  it('is exact while rows are written', async () => {
    let [committed, isOver] = [0, false];
    const write = async () => {
      const client = await connectTo(api.uri(main));
      for (; !isOver; committed += 1) await client.query('insert into item values ($1)', [committed]);
      await client.end();
    };
    const writers = [write(), write(), write()];
    await until('rows are written', async () => committed > 50);
    const [now, then] = await makeTwice();
    assert.deepEqual(then, now);
    isOver = true;
    await Promise.all(writers);
  });

  it('is exact for a parent whose compute is idle', async () => {
    const [compute] = main.endpoints;
    await api
      .send('POST', `/${project}/endpoints/${compute?.id}/suspend`, undefined, 200)
      .then(async ({ operations }) => api.finish(project, operations));
    const [now, then] = await makeTwice();
    await query(api.uri(main), 'delete from item');
    assert.deepEqual(then, now);
    assert.notDeepEqual(now, [0, null]);
  });

  it('is missing for a branch with the schema alone, which has no parent', async () => {
    const created = await api.createBranch(project, { init_source: 'schema-only' });
    const { branch } = await api.send('GET', `/${project}/branches/${created.branch.id}`);
    assert.equal(branch.parent_lsn, undefined);
  });
});
