/** How much of the write-ahead log (WAL) branches and their copies keep. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ComputeSpec } from '../../../../../src/service/core/computeEngine.ts';
import { query, runStatements } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';

/** A record can be on two files. */
const MOST = 2;
const MEGABYTE = 1024 ** 2;

describe('The write-ahead log', () => {
  let service: ControlPlane;
  let parent: ComputeSpec;
  before(async () => {
    service = await startControlPlane();
    parent = await service.create({ id: 'ep-parent' });
    await service.engine.createBranch({ id: parent.branchId, keepsHistory: false });
  });

  const folder = (branchId: string) => path.join(service.dataDir, 'postgres/branches', branchId, 'data');
  const walFiles = (branchId: string) =>
    readdirSync(path.join(folder(branchId), 'pg_wal')).filter((name) => name.length === 24);

  it('of an empty branch is small', async () => {
    await service.engine.suspend(parent.id);
    await service.engine.createBranch({ id: 'br-empty', parentId: parent.branchId });
    const sizes = (name: string) => statSync(path.join(folder('br-empty'), name)).size;
    const total = readdirSync(folder('br-empty'), { recursive: true, encoding: 'utf8' })
      .map(sizes)
      .reduce((sum, size) => sum + size);
    // Four databases of 7.5 MB each: the user's, the service's, and the two templates for new ones.
    assert(total < 34 * MEGABYTE, String(total));
  });

  it('is not counted in the size of a branch, which is that of its databases while no server runs', async () => {
    const uri = await service.uri(parent);
    await query(
      uri,
      'create table sized as select repeat(md5(g::text), 20) from generate_series(1, 20000) g',
    );
    const [expected] = await query(uri, 'select sum(pg_database_size(oid))::float8 from pg_database');
    await service.engine.suspend(parent.id);
    const bytes = (await service.engine.size(parent.branchId))?.databases ?? 0;
    assert(Math.abs(bytes - Number(expected)) < MEGABYTE, `${bytes} ${String(expected)}`);
  });

  it('of a suspended branch has only what a new server needs, also in its copies', async () => {
    await runStatements(
      await service.uri(parent),
      `create table filler as select repeat(md5(g::text), 20) from generate_series(1, 300000) g; truncate filler;
      create table item as select 1 as id`,
    );
    await service.engine.suspend(parent.id);
    assert(walFiles(parent.branchId).length <= MOST, String(walFiles(parent.branchId)));
    for (const [id, parentId] of [
      ['br-child', parent.branchId],
      ['br-grandchild', 'br-child'],
    ] as const) {
      await service.engine.createBranch({ id, parentId });
      assert(walFiles(id).length <= MOST, String(walFiles(id)));
      const compute = await service.create({ id: `ep-${id}`, branchId: id });
      assert.deepEqual(await query(await service.uri(compute), 'select id from item'), [1]);
      await service.engine.suspend(compute.id);
    }
  });

  it('is read again from its start if the first recovery of a copy was killed', async () => {
    await query(await service.uri(parent), 'select 1');
    await service.engine.createBranch({ id: 'br-killed', parentId: parent.branchId });
    const [last = ''] = walFiles('br-killed').toSorted().slice(-1);
    const file = path.join(folder('br-killed'), 'pg_wal', last);
    const complete = readFileSync(file);
    // As if it was killed before the record of the backup's end, which follows a checkpoint.
    writeFileSync(file, Buffer.from(complete).fill(0, 248));
    const compute = await service.create({ id: 'ep-killed', branchId: 'br-killed' });
    await assert.rejects(service.engine.start(compute), /WAL ends before end of online backup/);
    writeFileSync(file, complete);
    assert.deepEqual(await query(await service.uri(compute), 'select id from item'), [1]);
  });

  it('is kept for read replicas while the branch has some', async () => {
    const kept = async () => (await query(await service.uri(parent), 'show wal_keep_size'))[0];
    assert.equal(await kept(), '0');
    const replica = await service.create({ id: 'ep-replica', type: 'read_only' });
    await query(await service.uri(replica), 'select 1');
    assert.equal(await kept(), '256MB');
    await service.engine.suspend(parent.id);
    assert.equal(await kept(), '256MB');
    await service.engine.suspend(parent.id);
    await service.engine.remove(replica.id);
    assert.equal(await kept(), '0');
  });
});
