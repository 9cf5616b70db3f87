/** `reset()` and `drop()` of `hosted-postgres/test` while programs follow the changes of the database. */
import assert from 'node:assert/strict';
import { withDatabase } from '../../../../src/api/addresses/databaseUrl.ts';
import { saveBeginning } from '../../../../src/npm/library/beginning.ts';
import { copyDatabase, dropDatabase } from '../../../../src/npm/library/copyDatabase.ts';
import { DatabaseReset } from '../../../../src/npm/library/reset.ts';
import { connectTo, query } from '../../service/postgres/clients.ts';
import { superuserUri } from '../../service/postgres/controlPlane.ts';
import { createSlot, receive, replicate } from '../../service/postgres/replication/replicate.ts';
import { useBranch } from '../../service/postgres/useBranch.ts';
import { until } from '../../../workbench/until.ts';

describe('A test database whose changes are followed', () => {
  const branch = useBranch({ logicalReplication: true });
  const at = (database: string) => withDatabase(branch.uri, database);
  /** Clients that connect again as soon as they are disconnected, until they have ended. */
  const again: Promise<unknown>[] = [];
  const followUntilEnd = async (database: string, slot: string) => {
    const client = await replicate(at(database));
    await client.query(`START_REPLICATION SLOT ${slot} LOGICAL 0/0`).catch(() => undefined);
    return client.end();
  };
  const follow = async (database: string, slot: string) => {
    await createSlot(at(database), slot);
    const client = await replicate(at(database));
    client.once('end', () => {
      for (let count = 0; count < 20; count += 1)
        again.push(followUntilEnd(database, slot).catch(() => undefined));
    });
    return receive(client, slot);
  };

  it('is reset, by its rows and as a whole, and dropped', async () => {
    await query(at('app'), 'create table word (id int primary key)');
    await query(at('app'), 'create publication words for table word');
    const admin = await connectTo(at('postgres'));
    await copyDatabase(admin, 'app', 'template_of_test');
    await saveBeginning(admin, at('app'), 'template_of_test');
    const reset = new DatabaseReset(at('app'), 'template_of_test', 'next_of_test');
    const run = async () => (await reset.run(async (work) => work(admin)))?.reason;
    const received = await follow('app', 'followed');
    await query(at('app'), 'insert into word values (1)');
    assert.equal(await run(), undefined);
    // It is received by another connection.
    await until('the insert', async () => /INSERT/.test(received.text));
    await query(at('app'), 'create table other (id int primary key)');
    assert.match((await run()) ?? '', /have changed/);
    assert.deepEqual(await query(at('app'), 'select slot_name from pg_replication_slots'), []);
    assert.deepEqual(await query(at('app'), 'select pubname::text from pg_publication'), ['words']);
    await reset.close();
    // Where sessions take long to start, they connect after the reset. There is no slot for them, and each takes a place.
    await Promise.all(again);
    await follow('app', 'again');
    await dropDatabase(admin, 'app');
    await assert.rejects(connectTo(at('app')), { code: '3D000' });
  });

  it('stays as it was if it can’t be dropped', async () => {
    const admin = await connectTo(at('postgres'));
    await admin.query('create database busy');
    // Postgres refuses, too, to drop a database that subscribes.
    const superuser = superuserUri(branch.service, at('busy'));
    await query(
      superuser,
      "create subscription mine connection 'dbname=none' publication none with (connect = false, slot_name = none)",
    );
    await assert.rejects(dropDatabase(admin, 'busy'), { code: '55006' });
    assert.deepEqual(await query(at('busy'), 'select 1'), [1]);
  });

  it('can be freed by its owner', async () => {
    const admin = await connectTo(at('postgres'));
    await admin.query('create database mine');
    await createSlot(at('mine'), 'mine');
    await receive(await replicate(at('mine')), 'mine');
    for (const sql of ['drop database mine with (force)', 'create database copy template mine'])
      await assert.rejects(admin.query(sql), { code: '55006' });
    await admin.query(
      "select pg_terminate_backend(active_pid, 5000) from pg_replication_slots where slot_name = 'mine'",
    );
    await admin.query('create database copy template mine');
    await admin.query('drop database mine with (force)');
  });
});
