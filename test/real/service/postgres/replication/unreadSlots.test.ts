/** Slots that keep the log for a program that doesn't come. */
import assert from 'node:assert/strict';
import { eventually, query, runStatements } from '../clients.ts';
import { superuserUri } from '../controlPlane.ts';
import { useBranch } from '../useBranch.ts';
import { createSlot as create, dropSlot as drop, receive, replicate } from './replicate.ts';

const SLOTS = 'select slot_name::text from pg_replication_slots';

describe('A slot that no program reads', () => {
  const branch = useBranch({ logicalReplication: true });
  const HOUR = 3600;
  const check = async (seconds: number) => branch.service.engine.dropIdleSlots(['br-main'], seconds);
  before(async () => query(branch.uri, 'create table words (word text)'));

  it('is dropped after 40 hours in which it could be read, and begins again when it is read', async () => {
    await create(branch.uri, 'idle');
    await create(branch.uri, 'read');
    const client = await replicate(branch.uri);
    await receive(client, 'read');
    await check(0);
    await check(39 * HOUR);
    await branch.service.engine.suspend(branch.compute.id);
    // While the server doesn't run, no program can read.
    await check(30 * HOUR);
    const again = await replicate(branch.uri);
    await receive(again, 'read');
    assert.deepEqual(await query(branch.uri, `${SLOTS} order by 1`), ['idle', 'read']);
    await check(HOUR);
    assert.deepEqual(await query(branch.uri, SLOTS), ['read']);
    assert.match(
      branch.service.log.join('\n'),
      /br-main: dropped the replication slot idle, which no program/,
    );
    await again.end();
    await eventually(async () => (await query(branch.uri, `${SLOTS} where active`)).length === 0);
    await check(0);
    await check(39 * HOUR);
    const last = await replicate(branch.uri);
    await receive(last, 'read');
    await check(HOUR);
    await last.end();
    await eventually(async () => (await query(branch.uri, `${SLOTS} where active`)).length === 0);
    await check(39 * HOUR);
    assert.deepEqual(await query(branch.uri, SLOTS), ['read']);
    await drop(branch.uri, 'read');
  });

  it('is kept while a program reads or peeks by SQL between the checks, even if there is nothing', async () => {
    for (const slot of ['got', 'peeked', 'left']) await create(branch.uri, slot);
    const poll = async () => {
      await query(branch.uri, "select data from pg_logical_slot_get_changes('got', null, null)");
      await query(branch.uri, "select data from pg_logical_slot_peek_changes('peeked', null, null)");
    };
    await poll();
    await check(0);
    await poll();
    await check(39 * HOUR);
    await branch.service.engine.suspend(branch.compute.id);
    // A program that wakes the compute reads at once, before the next check.
    await poll();
    await check(HOUR);
    assert.deepEqual(await query(branch.uri, `${SLOTS} order by 1`), ['got', 'peeked']);
    await check(39 * HOUR);
    await query(branch.uri, "select pg_replication_slot_advance('peeked', pg_current_wal_lsn())");
    await check(HOUR);
    assert.deepEqual(await query(branch.uri, SLOTS), ['peeked']);
    await drop(branch.uri, 'peeked');
  });

  it('is another one if it was created again under the same name', async () => {
    await create(branch.uri, 'same');
    await check(0);
    await check(39 * HOUR);
    await drop(branch.uri, 'same');
    await create(branch.uri, 'same');
    await branch.service.engine.suspend(branch.compute.id);
    await query(branch.uri, 'select');
    await check(HOUR);
    await check(39 * HOUR);
    assert.deepEqual(await query(branch.uri, SLOTS), ['same']);
    await check(HOUR);
    assert.deepEqual(await query(branch.uri, SLOTS), []);
  });

  it('is named once when it keeps much of the log', async () => {
    await create(branch.uri, 'large');
    const superuser = superuserUri(branch.service, branch.uri);
    await check(1);
    const named = () =>
      branch.service.log.filter((line) => /no program reads the replication slot large/.test(line));
    assert.deepEqual(named(), []);
    await query(
      superuser,
      "select count(pg_logical_emit_message(false, 'x', repeat('x', 10000000))) from generate_series(1, 110)",
    );
    await check(1);
    await check(1);
    assert.equal(named().length, 1);
    assert.match(named()[0] ?? '', /keeps 1\d{3} MB of log.*pg_recvlogical --drop-slot --slot=large/);
    await drop(branch.uri, 'large');
  });

  it('is named once when Postgres has given it up, and dropped after as many hours, also of several starts', async () => {
    await create(branch.uri, 'given_up');
    const superuser = superuserUri(branch.service, branch.uri);
    // Otherwise, it would have to keep 4 GB.
    await runStatements(
      superuser,
      "alter system set idle_replication_slot_timeout = '1s'",
      'select pg_reload_conf()',
    );
    await eventually(async () => {
      await query(superuser, 'checkpoint');
      return (
        (await query(superuser, "select slot_name::text from pg_replication_slots where wal_status = 'lost'"))
          .length > 0
      );
    });
    await check(1);
    await check(1);
    const named = branch.service.log.filter((line) => /given_up is lost/.test(line));
    assert.equal(named.length, 1);
    assert.match(named[0] ?? '', /must begin with a new slot.*pg_recvlogical --drop-slot --slot=given_up$/);
    await runStatements(
      superuser,
      'alter system reset idle_replication_slot_timeout',
      'select pg_reload_conf()',
    );
    // After a restart, Postgres 18 no longer says since when no client has read a lost slot.
    await branch.service.engine.suspend(branch.compute.id);
    await query(branch.uri, 'select');
    await check(39 * HOUR);
    assert.deepEqual(await query(branch.uri, SLOTS), ['given_up']);
    await check(HOUR);
    assert.deepEqual(await query(branch.uri, SLOTS), []);
    assert.match(branch.service.log.join('\n'), /br-main: dropped the replication slot given_up, which no/);
  });
});
