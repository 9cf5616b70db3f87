import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import path from 'node:path';
import type { ComputeSpec } from '../../../../../src/service/core/computeEngine.ts';
import { connectTo, eventually, query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';

describe('read replica', () => {
  let service: ControlPlane;
  let primary: ComputeSpec;
  let replica: ComputeSpec;
  before(async () => {
    service = await startControlPlane();
    primary = await service.create({ id: 'ep-primary' });
    await query(await service.uri(primary), 'create table t as select 1 as id');
    replica = await service.create({ id: 'ep-replica', type: 'read_only' });
  });

  const ids = async (compute: ComputeSpec) =>
    query(await service.uri(compute), 'select id from t order by id');

  /** Whether the replica shows a row. False also if the replica restarts. */
  const shows = async (id: number) =>
    ids(replica).then(
      (rows) => rows.includes(id),
      () => false,
    );

  it('shows committed rows and rejects writes', async () => {
    assert.deepEqual(await ids(replica), [1]);
    await assert.rejects(query(await service.uri(replica), 'insert into t values (0)'), { code: '25006' });
  });

  it('shows a row that is committed later', async () => {
    await query(await service.uri(primary), 'insert into t values (2)');
    await eventually(async () => shows(2));
  });

  it('serves reads while its primary is suspended, without waking it', async () => {
    await service.engine.suspend(primary.id);
    service.woken.length = 0;
    assert.deepEqual(await ids(replica), [1, 2]);
    assert.deepEqual(service.woken, []);
  });

  it('follows its primary after it was started again', async () => {
    await query(await service.uri(primary), 'insert into t values (3)');
    await eventually(async () => shows(3));
  });

  it('does not count as activity of its primary', async () => {
    await connectTo(await service.uri(replica));
    await eventually(() => service.open.get(primary.id) === 0);
    assert.equal(service.open.get(replica.id), 1);
  });

  it('shows rows that were committed while it was suspended, without waking its suspended primary', async () => {
    await service.engine.suspend(replica.id);
    await query(await service.uri(primary), 'insert into t values (4)');
    await service.engine.suspend(primary.id);
    service.woken.length = 0;
    assert.deepEqual(await ids(replica), [1, 2, 3, 4]);
    assert.deepEqual(service.woken, [replica.id]);
  });

  it('uses its copy again if no server has run on the branch since', async () => {
    const folder = () => statSync(path.join(service.dataDir, 'postgres/replicas', replica.id, 'data')).ino;
    const before = folder();
    await service.engine.suspend(replica.id);
    assert.deepEqual(await ids(replica), [1, 2, 3, 4]);
    assert.equal(folder(), before);
  });

  it('works on a branch without a primary', async () => {
    const alone = await service.create({ id: 'ep-alone', branchId: 'br-alone', type: 'read_only' });
    assert.deepEqual(await query(await service.uri(alone), 'select 1'), [1]);
    await assert.rejects(query(await service.uri(alone), 'create table t ()'), { code: '25006' });
  });

  it('copies a branch whose primary is suspended', async () => {
    await service.engine.suspend(primary.id);
    const second = await service.create({ id: 'ep-second', type: 'read_only' });
    service.woken.length = 0;
    assert.deepEqual(await ids(second), [1, 2, 3, 4]);
    assert.deepEqual(service.woken, [second.id]);
  });

  it('follows a primary with a larger size', async () => {
    await ids(primary);
    await ids(replica);
    primary = await service.change(primary, { minCu: 2, maxCu: 2 });
    await query(await service.uri(primary), 'insert into t values (5)');
    await eventually(async () => shows(5));
    assert.deepEqual(await query(await service.uri(replica), 'show max_connections'), ['901']);
  });

  it('starts while its suspended primary has lower settings than the data', async () => {
    await service.engine.suspend(replica.id);
    await service.engine.suspend(primary.id);
    primary = await service.change(primary, { minCu: 0.25, maxCu: 0.25 });
    service.woken.length = 0;
    assert.deepEqual(await ids(replica), [1, 2, 3, 4, 5]);
    assert.deepEqual(service.woken, [replica.id]);
    await ids(primary);
    await query(await service.uri(primary), 'delete from t where id = 5');
    await eventually(async () => !(await shows(5)));
  });

  it('copies the branch again if it fell too far behind', async () => {
    await service.engine.suspend(replica.id);
    primary = await service.change(primary, { pgSettings: { wal_keep_size: '0', max_wal_size: '32MB' } });
    const client = await connectTo(await service.uri(primary));
    for (let round = 0; round < 4; round += 1) {
      await client.query(
        `create table filler_${round} as select repeat(md5(g::text), 20) from generate_series(1, 20000) g`,
      );
      await client.query(`drop table filler_${round}`);
    }
    await client.query('insert into t values (6)');
    await client.end();
    // Its first checkpoint after that removes the WAL.
    await service.engine.suspend(primary.id);
    await ids(primary);
    await eventually(async () => shows(6));
    assert.ok(
      service.log.some(
        (line) => line.startsWith(`${replica.id}: `) && line.includes('cannot follow its primary'),
      ),
    );
  });

  it('shows another branch after it was moved to it', async () => {
    const other = await service.create({ id: 'ep-other', branchId: 'br-other' });
    await query(await service.uri(other), 'create table only_there as select 9 as id');
    replica = await service.change(replica, { branchId: 'br-other' });
    assert.deepEqual(await query(await service.uri(replica), 'select id from only_there'), [9]);
  });
});
