import assert from 'node:assert/strict';
import { appendFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { branchCalls, storageOf, type Api, type Created } from '../../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../../helpers/localService.ts';
import { connectTo, eventually, query } from '../clients.ts';

describe('Branches that share the files of template0', function () {
  before(function () {
    if (process.platform === 'win32') this.skip(); // They are copied there.
  });

  let service: LocalService;
  let api: Api;
  before(async () => {
    service = await startLocalService();
    api = branchCalls(service);
  });
  after(async () => service.stop());

  const suspend = async ({ project, endpoints }: Created) =>
    api.change('POST', `/${project.id}/endpoints/${endpoints[0]?.id}/suspend`);
  const folder = ({ branch }: Created) => path.join(storageOf(service), 'branches', branch.id, 'data');
  const template = (created: Created) => statSync(path.join(folder(created), 'base/4/1259'));

  it('create databases from it after autovacuum of another branch has written to it, as every 200 million transactions', async () => {
    const main = await api.change('POST', '', { project: {} });
    const { project } = main;
    const other = { ...(await createBranch(project)), project };
    assert.equal(template(other).ino, template(main).ino);

    await suspend(main);
    const settings = ['autovacuum_freeze_max_age = 100000', 'autovacuum_naptime = 1'];
    appendFileSync(path.join(folder(main), 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
    const writtenBefore = template(main).mtimeMs;
    const client = await connectTo(api.uri(main));
    await client.query('create table t (i int)');
    await client.query(`do $$ begin
      for n in 1..110000 loop begin insert into t values (1); exception when others then null; end; end loop;
    end $$`);
    const age = "select age(datfrozenxid) from pg_database where datname = 'template0'";
    await eventually(async () => (await client.query<{ age: number }>(age)).rows[0]?.age === 0);
    await client.end();
    await suspend(main);
    assert(template(main).mtimeMs > writtenBefore);
    assert.equal(template(other).ino, template(main).ino);

    for (const created of [other, main, { ...(await createBranch(project)), project }]) {
      await query(api.uri(created), 'create database new template template0');
      const uri = new URL(api.uri(created));
      uri.pathname = '/new';
      assert.deepEqual(
        await query(uri.href, 'select count(*)::int from pg_database where datname = $$new$$'),
        [1],
      );
      await query(uri.href, 'create table t as select 1');
      await query(uri.href, 'vacuum freeze t');
      await suspend(created);
      assert.deepEqual(await query(uri.href, 'select count(*)::int from t'), [1]);
    }
  });

  const createBranch = async (project: Created['project']): Promise<Created> =>
    api.change('POST', `/${project.id}/branches`, { endpoints: [{ type: 'read_write' }] });
});
