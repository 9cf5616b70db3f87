/**
 * Kills the postmaster of a branch in the middle of a long statement, whose backend continues to write, and copies the branch
 * at once. The copy has every row that was committed before the kill, or the call fails with a reason.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { EngineError, type ComputeSpec } from '../../../../../src/service/core/computeEngine.ts';
import { roundsOf } from '../../../../helpers/fullRun.ts';
import { connectTo, eventually, query, runStatements } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';

const KILLS_PER_COPY_KIND = roundsOf(2, 17);
/** Few, so that a round is short. */
const ROWS = 20_000;
/** Each transaction changes 20 rows and adds 20 to the total. */
const LONG_STATEMENT = `do $$ begin
  for i in 1..1000000 loop
    update item set changes = changes + 1 where id % 1000 = i * 7 % 1000;
    update total set changes = changes + 20;
    commit;
  end loop;
end $$`;

describe(`A branch whose postmaster was killed ${KILLS_PER_COPY_KIND} times in a long statement`, () => {
  let service: ControlPlane;
  let main: ComputeSpec;
  before(async () => {
    service = await startControlPlane();
    main = await service.create();
    await runStatements(
      await service.uri(main),
      `create table item as
      select id, 0 as changes, repeat(md5(id::text), 30) as text from generate_series(1, ${ROWS}) as id;
      create index on item ((id % 1000));
      create table total as select 0 as changes`,
    );
  });

  const pidFile = () => path.join(service.dataDir, 'postgres/branches', main.branchId, 'data/postmaster.pid');

  /** @returns the number of changes committed before the kill */
  async function killDuringStatement(): Promise<number> {
    const uri = await service.uri(main);
    const count = async () => Number((await query(uri, 'select changes from total'))[0]);
    const before = await count();
    const writer = await connectTo(uri);
    const writing = writer.query(LONG_STATEMENT).catch(() => undefined);
    await eventually(async () => (await count()) > before + 2000);
    const committed = await count();
    const crashes = service.crashed.length;
    process.kill(Number(readFileSync(pidFile(), 'utf8').split('\n')[0]), 'SIGKILL');
    await eventually(() => service.crashed.length > crashes);
    void writing.then(async () => writer.end());
    return committed;
  }

  async function check(copy: ComputeSpec, committed: number): Promise<void> {
    const [rows, changes, total] = await query(
      await service.uri(copy),
      'select count(*)::int, sum(changes)::int, (select changes from total) from item',
    );
    assert.equal(rows, ROWS);
    assert.equal(changes, total);
    assert(Number(total) >= committed, `${String(total)} of ${committed} changes`);
  }

  /** An error with a reason is fine too. */
  async function copied(copy: () => Promise<unknown>): Promise<boolean> {
    try {
      await copy();
      return true;
    } catch (error) {
      assert(error instanceof EngineError, String(error));
      service.log.push(`refused: ${error.message}`);
      return false;
    }
  }

  let branches = 0;
  const restored = 'br-restored';
  before(() => service.engine.createBranch({ id: restored }));
  const copies = {
    'a new branch': async () => {
      const branchId = `br-copy-${(branches += 1)}`;
      const made = await copied(async () =>
        service.engine.createBranch({ id: branchId, parentId: main.branchId }),
      );
      return made ? service.create({ branchId }) : undefined;
    },
    'a restored branch': async () => {
      const restore = { id: restored, sourceId: main.branchId };
      const made = await copied(async () => service.engine.restoreBranch(restore));
      return made ? service.create({ branchId: restored }) : undefined;
    },
    'a read replica': async () => {
      const replica = await service.create({ type: 'read_only' });
      return (await copied(async () => service.engine.start(replica))) ? replica : undefined;
    },
  };

  for (const [name, copy] of Object.entries(copies))
    it(`has all committed rows in ${name}`, async () => {
      let made = 0;
      for (let kill = 0; kill < KILLS_PER_COPY_KIND; kill += 1) {
        const committed = await killDuringStatement();
        const result = await copy();
        if (result === undefined) continue;
        made += 1;
        assert(!existsSync(pidFile()), 'the branch was recovered before it was copied');
        await check(result, committed);
        await service.engine.remove(result.id);
        if (![main.branchId, restored].includes(result.branchId))
          await service.engine.deleteBranch(result.branchId);
      }
      assert(
        made > KILLS_PER_COPY_KIND / 2,
        `only ${made} copies: ${service.log.filter((line) => line.startsWith('refused')).join()}`,
      );
    });
});
