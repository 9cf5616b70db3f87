/** A branch whose data is missing gets no empty database instead: its folder may be on a disk that isn't mounted now. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import path from 'node:path';
import { branchCalls, storageOf, type Branch } from '../../../../helpers/branchCalls.ts';
import { until } from '../../../../workbench/until.ts';
import { MAIN, MAIN_PRIMARY, PROJECT } from '../../controlPlane/sampleProject.ts';
import { endOperations, FaultyEngine, settled, startInProcess } from '../../inProcess.ts';
import { query } from '../clients.ts';
import { startControlPlane } from '../controlPlane.ts';

const MISSING = /The data of branch br-main is missing: there is no folder .*br-main.data\. Put it back/;

describe('The data of a branch that has run', () => {
  it('is missed if its folder is missing, and used again when it is back', async () => {
    const service = await startControlPlane();
    const compute = await service.create();
    const uri = await service.uri(compute);
    await query(uri, 'create table kept as select 1 as a');
    await service.engine.suspend(compute.id);
    const data = path.join(storageOf(service), 'branches/br-main/data');
    renameSync(data, `${data}.away`);
    await assert.rejects(service.engine.start(compute), MISSING);
    await assert.rejects(service.engine.catalog('br-main'), MISSING);
    await assert.rejects(service.engine.createBranch({ id: 'br-copy', parentId: 'br-main' }), MISSING);
    renameSync(`${data}.away`, data);
    assert.deepEqual(await query(uri, 'select a from kept'), [1]);
  });

  it('is missed without any file of the branch, by the account', async () => {
    const service = await startControlPlane();
    const compute = await service.create();
    const events = { wake: async () => undefined, activity: () => undefined, crashed: () => undefined };
    const ids = { branches: ['br-main'], formerBranches: [], computes: [compute.id] };
    await service.engine.open(events, { ...ids, withData: ['br-main'] });
    await assert.rejects(service.engine.start(compute), MISSING);
  });

  it('is known to the account from its size, and from snapshots', async () => {
    const engine = new FaultyEngine();
    engine.branchSize = 5;
    const first = await startInProcess({ engine });
    const api = branchCalls(first);
    assert.equal(engine.recorded?.withData.length, 0);
    await settled(first, MAIN_PRIMARY, 'active');
    const { snapshot } = await api.send<{ snapshot: { id: string } }>(
      'POST',
      `/${PROJECT}/branches/${MAIN}/snapshot`,
      undefined,
      200,
    );
    await endOperations(first, PROJECT);
    const isMeasured = ({ logical_size }: Branch) => logical_size !== undefined;
    await until('a size', async () => {
      first.clock.advance(30_000);
      return (await api.branches(PROJECT)).some(isMeasured);
    });
    await first.stop();
    const next = await startInProcess({ folder: first.folder, engine });
    const withData = engine.recorded?.withData ?? [];
    assert(withData.includes(snapshot.id));
    for (const branch of await branchCalls(next).branches(PROJECT))
      assert.equal(withData.includes(branch.id), isMeasured(branch));
  });
});
