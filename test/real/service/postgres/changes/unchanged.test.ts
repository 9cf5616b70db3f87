/** That a branch hasn't changed since a position, which Postgres knows without the log. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import path from 'node:path';
import { connectTo, query, runStatements } from '../clients.ts';
import { superuserUri } from '../controlPlane.ts';
import { keepHistory } from '../keepHistory.ts';
import { useBranch } from '../useBranch.ts';

const ID = 'br-unchanged';

describe('A branch since a position in its log', () => {
  // Autovacuum's statistics are a transaction, too.
  const used = useBranch({ branchId: ID, pgSettings: { autovacuum: 'off' } });

  before(async () => {
    await runStatements(
      used.uri,
      'create table item (id int)',
      'create sequence number',
      'create unlogged table cache (id int)',
    );
    await keepHistory(used.service, ID);
  });

  const position = async () => (await used.service.engine.history(ID))?.endLsn ?? assert.fail();
  /** Returns what is known without the log; undefined if nothing is. */
  const changesWithoutLog = async (lsn: string) => {
    const history = path.join(used.service.dataDir, 'postgres', 'branches', ID, 'history.json');
    renameSync(history, `${history}.hidden`);
    try {
      return (await used.service.engine.changesSince(ID, [{ branchId: ID, lsn }]))[0];
    } finally {
      renameSync(`${history}.hidden`, history);
    }
  };
  const changedTables = async (lsn: string) => {
    const [changes] = await used.service.engine.changesSince(ID, [{ branchId: ID, lsn }]);
    return changes?.map(({ name }) => name);
  };

  it('is unchanged if rows were read, and after others have asked', async () => {
    const lsn = await position();
    await query(used.uri, 'select count(*) from item');
    await position();
    assert.deepEqual(await changesWithoutLog(lsn), []);
    assert.deepEqual(await changedTables(lsn), []);
  });

  it('is unchanged since a copy of it was made, by a backup because much had been written', async () => {
    await query(used.uri, 'insert into item select from generate_series(1, 100000)');
    const copy = { id: 'br-copy', parentId: ID, keepsHistory: true };
    const lsn = (await used.service.engine.createBranch(copy)) ?? assert.fail();
    assert.deepEqual(await changesWithoutLog(lsn), []);
    await query(used.uri, 'truncate item');
    assert.equal(await changesWithoutLog(lsn), undefined);
  });

  for (const sql of [
    'insert into item values (1)',
    'insert into cache values (1)',
    "select setval('number', 7)",
    "comment on table item is 'new'",
    'create role reader',
    'begin; savepoint a; insert into item values (2); release a; commit',
  ])
    it(`is not certain to be unchanged after: ${sql}`, async () => {
      const lsn = await position();
      await runStatements(superuserUri(used.service, used.uri), ...sql.split('; '));
      assert.equal(await changesWithoutLog(lsn), undefined);
    });

  it('is not certain to be unchanged while a session has written before it or after it', async () => {
    const client = await connectTo(used.uri);
    await client.query('begin');
    await client.query('insert into item values (3)');
    const lsn = await position();
    assert.equal(await changesWithoutLog(lsn), undefined);
    await client.query('commit');
    assert.equal(await changesWithoutLog(lsn), undefined);
    assert.deepEqual(await changedTables(lsn), ['item']);
    const next = await position();
    await client.query('begin');
    await client.query('delete from item');
    assert.equal(await changesWithoutLog(next), undefined);
    await client.query('rollback');
    await client.end();
    assert.deepEqual(await changedTables(next), []);
  });
});
