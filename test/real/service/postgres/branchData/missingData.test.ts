/** A branch whose data is missing gets no empty database instead: its folder may be on a disk that isn't mounted now. */
import assert from 'node:assert/strict';
import { renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { branchCalls, storageOf } from '../../../../helpers/branchCalls.ts';
import { startLocalService, temporaryFolder } from '../../../../helpers/localService.ts';
import { BRANCHES, MAIN, PROJECT } from '../../controlPlane/sampleProject.ts';
import { query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';

const missing = (id: string) =>
  new RegExp(`The data of branch ${id} is missing: there is no folder .*${id}.data\\. Put it back`);

describe('The data of a branch', () => {
  const folder = (service: Pick<ControlPlane, 'dataDir'>, ...names: string[]) =>
    path.join(storageOf(service), 'branches', ...names);

  it('is missed if its folder is missing, and used again when it is back', async () => {
    const service = await startControlPlane();
    const compute = await service.create();
    const uri = await service.uri(compute);
    await query(uri, 'create table kept as select 1 as a');
    await service.engine.suspend(compute.id);
    const data = folder(service, 'br-main/data');
    renameSync(data, `${data}.away`);
    await assert.rejects(service.engine.start(compute), missing('br-main'));
    await assert.rejects(service.engine.catalog('br-main'), missing('br-main'));
    const copy = { id: 'br-copy', parentId: 'br-main' };
    await assert.rejects(service.engine.createBranch(copy), missing('br-main'));
    renameSync(`${data}.away`, data);
    assert.deepEqual(await query(uri, 'select a from kept'), [1]);
  });

  it('is missed by the next service, if the folder of all branches is missing', async () => {
    const dataDir = temporaryFolder();
    const first = await startControlPlane({ dataDir });
    await query(await first.uri(await first.create()), 'create table kept as select 1 as a');
    await first.close();
    renameSync(folder(first), folder(first, '../away'));
    const second = await startControlPlane({ dataDir });
    await assert.rejects(second.engine.start(await second.create()), missing('br-main'));
    await second.close();
    rmSync(folder(first), { recursive: true });
    renameSync(folder(first, '../away'), folder(first));
    const third = await startControlPlane({ dataDir });
    assert.deepEqual(await query(await third.uri(await third.create()), 'select a from kept'), [1]);
  });

  it('is missed before any compute has run on it, however it was made, until the branch is deleted', async () => {
    const service = await startControlPlane();
    const { engine } = service;
    await engine.createBranch({ id: 'br-main' });
    await engine.createBranch({ id: 'br-copy', parentId: 'br-main' });
    await engine.createBranch({ id: 'br-schema', parentId: 'br-main', isSchemaOnly: true });
    await engine.restoreBranch({ id: 'br-copy', sourceId: 'br-main', preservedId: 'br-before' });
    for (const id of ['br-main', 'br-copy', 'br-schema', 'br-before']) {
      rmSync(folder(service, id), { recursive: true });
      const compute = await service.create({ id: `ep-of-${id}`, branchId: id });
      await assert.rejects(engine.start(compute), missing(id));
      await engine.deleteBranch(id);
      await engine.start(compute);
    }
  });

  it('is not missed by a new account, whose branches have the same ids', async () => {
    const dataDir = temporaryFolder();
    const first = await startLocalService({ dataDir });
    const uriOf = async (service: typeof first) => {
      const address = `/${PROJECT}/connection_uri?branch_id=${MAIN}&database_name=app&role_name=app_owner`;
      return (await branchCalls(service).send<{ uri: string }>('GET', address)).uri;
    };
    await query(await uriOf(first), 'create table earlier (a int)');
    await branchCalls(first).change('POST', BRANCHES, { branch: { name: 'copy', parent_id: MAIN } });
    await first.stop();
    rmSync(path.join(storageOf(first), 'account.json'));
    renameSync(folder(first), folder(first, '../away'));
    const second = await startLocalService({ dataDir });
    assert.deepEqual(await query(await uriOf(second), "select to_regclass('earlier')"), [null]);
    await second.stop();
  });
});
