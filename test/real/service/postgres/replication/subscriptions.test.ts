/** Branches that receive the changes of another server, which their copies don't. */
import assert from 'node:assert/strict';
import { eventually, query, runStatements } from '../clients.ts';
import { superuserUri } from '../controlPlane.ts';
import { keepHistory } from '../keepHistory.ts';
import { useBranch } from '../useBranch.ts';

const SUBSCRIPTIONS = 'select subname::text from pg_subscription';
const WORDS = 'select word from words order by word';

describe('A branch with a subscription', () => {
  const source = useBranch({ logicalReplication: true });
  let uri: string;
  let superuser: string;
  let id: string;

  before(async () => {
    const { service } = source;
    await runStatements(
      source.uri,
      'create table words (word text primary key)',
      'create publication changes for table words',
    );
    await service.engine.createBranch({ id: 'br-target', keepsHistory: true });
    const pgSettings = { wal_retrieve_retry_interval: '100ms' };
    const target = await service.create({ branchId: 'br-target', pgSettings });
    id = target.id;
    uri = await service.uri(target);
    superuser = superuserUri(service, uri);
    await query(uri, 'create table words (word text primary key)');
    const { port, username, password } = new URL(source.uri);
    await query(
      superuser,
      `create subscription mine connection 'host=127.0.0.1 port=${port} dbname=app user=${username} password=${password}' publication changes`,
    );
  });

  const add = async (word: string) => query(source.uri, `insert into words values ('${word}')`);
  const receives = async (...words: string[]) =>
    eventually(async () => JSON.stringify(await query(uri, WORDS)) === JSON.stringify(words));

  it('receives the rows from before, and then each change', async () => {
    await add('a');
    await receives('a');
    await eventually(
      async () => (await query(uri, 'select srsubstate::text from pg_subscription_rel'))[0] === 'r',
    );
  });

  it('reads on after a suspension and a restart of the other server', async () => {
    await source.service.engine.suspend(id);
    await source.service.engine.suspend(source.compute.id);
    await add('b');
    await receives('a', 'b');
  });

  it('has copies without it, which take no row from it', async () => {
    const { service } = source;
    const { engine } = service;
    await keepHistory(service, 'br-target');
    const { endLsn: lsn = '' } = (await engine.history('br-target')) ?? {};
    const parentId = 'br-target';
    await engine.createBranch({ id: 'br-active', parentId, keepsHistory: true });
    await engine.createBranch({ id: 'br-past', parentId, moment: { lsn } });
    await engine.suspend(id);
    await engine.createBranch({ id: 'br-idle', parentId });
    // The original doesn't run, so a copy would take over the slot.
    await add('c');
    for (const branchId of ['br-active', 'br-past', 'br-idle']) {
      const copy = await service.uri(await service.create({ branchId }));
      assert.deepEqual(await query(copy, SUBSCRIPTIONS), [], branchId);
      assert.deepEqual(await query(copy, WORDS), ['a', 'b'], branchId);
    }
    await receives('a', 'b', 'c');
    assert.deepEqual(await query(source.uri, 'select slot_name::text from pg_replication_slots'), ['mine']);
  });

  it('is restored without it, and the data that the restore keeps has it', async () => {
    const { service } = source;
    await service.engine.suspend(id);
    await service.engine.restoreBranch({ id: 'br-target', sourceId: 'br-active', preservedId: 'br-kept' });
    assert.deepEqual(await query(uri, SUBSCRIPTIONS), []);
    const kept = await service.create({ branchId: 'br-kept' });
    const keptUri = await service.uri(kept);
    await add('d');
    await eventually(async () => (await query(keptUri, WORDS)).length === 4);
    await query(superuserUri(service, keptUri), 'drop subscription mine');
    assert.deepEqual(await query(source.uri, 'select slot_name::text from pg_replication_slots'), []);
  });
});
