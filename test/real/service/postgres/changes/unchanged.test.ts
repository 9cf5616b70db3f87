/** That a branch hasn't changed since a position, which Postgres knows without the log. */
import assert from 'node:assert/strict';
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
  const isUnchangedSince = (lsn: string) => used.service.engine.isUnchangedSince(ID, lsn);
  const changedTables = async (lsn: string) => {
    const [changes] = await used.service.engine.changesSince(ID, [{ branchId: ID, lsn }]);
    return changes?.map(({ name }) => name);
  };

  it('is unchanged if rows were read, and after others have asked', async () => {
    const lsn = await position();
    await query(used.uri, 'select count(*) from item');
    await position();
    assert(await isUnchangedSince(lsn));
    assert.deepEqual(await changedTables(lsn), []);
  });

  it('is unchanged since a copy of it was made, by a backup because much had been written', async () => {
    await query(used.uri, 'insert into item select from generate_series(1, 100000)');
    const copy = { id: 'br-copy', parentId: ID, keepsHistory: true };
    const lsn = (await used.service.engine.createBranch(copy)) ?? assert.fail();
    assert(await isUnchangedSince(lsn));
    await query(used.uri, 'truncate item');
    assert(!(await isUnchangedSince(lsn)));
  });

  for (const sql of [
    'insert into item values (1)',
    'insert into cache values (1)',
    "select setval('number', 7)",
    "comment on table item is 'new'",
    'create role reader',
    'create view items as select * from item',
    'create function nothing() returns int language sql return 1',
    'begin; savepoint a; insert into item values (2); release a; commit',
  ])
    it(`is not certain to be unchanged after: ${sql}`, async () => {
      const lsn = await position();
      await runStatements(superuserUri(used.service, used.uri), ...sql.split('; '));
      assert(!(await isUnchangedSince(lsn)));
    });

  it('is not certain to be unchanged while a session has written before it or after it', async () => {
    const client = await connectTo(used.uri);
    await client.query('begin');
    await client.query('insert into item values (3)');
    const lsn = await position();
    assert(!(await isUnchangedSince(lsn)));
    await client.query('commit');
    assert(!(await isUnchangedSince(lsn)));
    assert.deepEqual(await changedTables(lsn), ['item']);
    const next = await position();
    await client.query('begin');
    await client.query('delete from item');
    assert(!(await isUnchangedSince(next)));
    await client.query('rollback');
    await client.end();
    assert.deepEqual(await changedTables(next), []);
  });
});
