/** What happens to slots, and to their clients, when a compute or a branch changes. */
import assert from 'node:assert/strict';
import type pg from 'pg';
import { parsePostgresSessions } from '../../../../../src/api/records/records.ts';
import { connectTo, eventually, query, runStatements } from '../clients.ts';
import { startControlPlane, superuserUri } from '../controlPlane.ts';
import { DAY, keepHistory } from '../keepHistory.ts';
import { useBranch } from '../useBranch.ts';
import { createSlot as create, dropSlot as drop, receive, replicate } from './replicate.ts';

/** How long a fast stop waits for one that confirms nothing. */
const SENDER_TIMEOUT = 60_000;

const SLOTS = 'select slot_name::text from pg_replication_slots';

describe('A replication slot', () => {
  const branch = useBranch({ branchId: 'br-slots', logicalReplication: true });
  before(async () => query(branch.uri, 'create table words (word text)'));
  const add = (word: string) => query(branch.uri, `insert into words values ('${word}')`);

  it('is read on after a stop, which waits for no consumer', async () => {
    await create(branch.uri, 'kept');
    const client = await replicate(branch.uri);
    const received = await receive(client, 'kept');
    await add('first');
    await eventually(() => received.text.includes('first'));
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
    const ends: unknown[] = [];
    for (const event of ['commandComplete', 'errorMessage'])
      connection.on(event, (message: { readonly text?: string; readonly code?: string }) =>
        ends.push(message.text ?? message.code),
      );
    const begun = performance.now();
    await branch.service.engine.suspend(branch.compute.id);
    assert.ok(performance.now() - begun < SENDER_TIMEOUT / 4);
    await ended;
    // As plain Postgres ends it.
    assert.deepEqual(ends, ['COPY 0']);
    await add('second');
    const again = await replicate(branch.uri);
    const next = await receive(again, 'kept');
    await eventually(() => next.text.includes('second'));
    assert.match(next.text, /first/);
    await again.end();
  });

  it('that is read keeps the compute active, and is named as the reason', async () => {
    const client = await replicate(branch.uri, { application_name: 'sync' });
    await create(branch.uri, 'named');
    await receive(client, 'named');
    const sessions = parsePostgresSessions(
      (await branch.service.engine.activity(branch.compute.id)).sessions,
    );
    const sender = sessions.find(({ type, application }) => type === 'walsender' && application === 'sync');
    assert.equal(sender?.replication, 'logical');
    assert.equal(sender?.slot, 'named');
    await query(branch.uri, "insert into words select repeat('x', 1000) from generate_series(1, 2000)");
    const { sessions: later } = await branch.service.engine.activity(branch.compute.id);
    const lag = parsePostgresSessions(later).find(({ slot }) => slot === 'named')?.lag ?? 0;
    assert.ok(lag > 2_000_000, String(lag));
    const own = sessions.find(({ type, application }) => type === 'client backend' && application === 'sync');
    assert.equal(sender?.client_port, own?.client_port);
    assert.ok(Number(sender?.client_port) > 0);
    await eventually(() => branch.service.open.get(branch.compute.id) === 1);
    await client.end();
    await eventually(() => branch.service.open.get(branch.compute.id) === 0);
    await drop(branch.uri, 'named');
  });

  it('is not in new, restored and preserved data, or in data of an earlier time', async () => {
    const { service } = branch;
    const { engine } = service;
    await keepHistory(branch.service, 'br-slots');
    const { startLsn: lsn = '' } = (await engine.history('br-slots')) ?? {};
    const parentId = 'br-slots';
    await engine.createBranch({ id: 'br-active', parentId });
    await engine.createBranch({ id: 'br-past', parentId, moment: { lsn } });
    await engine.createBranch({ id: 'br-schema', parentId, isSchemaOnly: true });
    await engine.suspend(branch.compute.id);
    await engine.createBranch({ id: 'br-idle', parentId });
    for (const branchId of ['br-active', 'br-past', 'br-schema', 'br-idle']) {
      const uri = await service.uri(await service.create({ branchId, logicalReplication: true }));
      assert.deepEqual(await query(uri, SLOTS), [], branchId);
    }
    assert.deepEqual(await query(branch.uri, SLOTS), ['kept']);
    await engine.suspend(branch.compute.id);
    await engine.restoreBranch({ id: 'br-slots', sourceId: 'br-active', preservedId: 'br-preserved' });
    assert.match(
      branch.service.log.join('\n'),
      /br-slots: These replication slots are lost: kept\. Programs/,
    );
    assert.deepEqual(await query(branch.uri, SLOTS), []);
    assert.deepEqual(await engine.replicationSlots('br-slots'), []);
    const preserved = await service.create({ branchId: 'br-preserved', logicalReplication: true });
    // It is the old data itself.
    assert.deepEqual(await query(await branch.service.uri(preserved), SLOTS), ['kept']);
  });

  it('lets servers start that know nothing of it', async () => {
    await create(branch.uri, 'hidden');
    assert.deepEqual(await branch.service.engine.replicationSlots('br-slots'), ['hidden']);
    await branch.service.engine.suspend(branch.compute.id);
    assert.deepEqual(await branch.service.engine.replicationSlots('br-slots'), ['hidden']);
    // The service's own server.
    const { databases } = await branch.service.engine.changeCatalog('br-slots', {
      kind: 'createDatabase',
      name: 'second',
      owner: 'app_owner',
    });
    assert.ok(databases.some(({ name }) => name === 'second'));
    await branch.service.change(branch.compute, { logicalReplication: false });
    assert.deepEqual(await query(branch.uri, 'show wal_level'), ['logical']);
    await assert.rejects(replicate(branch.uri), { code: '55000' });
    await branch.service.engine.suspend(branch.compute.id);
    await branch.service.change(branch.compute, { logicalReplication: true });
    await drop(branch.uri, 'hidden');
  });

  it('ends with its database, also while it is read', async () => {
    const second = branch.uri.replace(/app$/, 'second');
    await create(second, 'doomed');
    await receive(await replicate(second), 'doomed');
    await assert.rejects(query(branch.uri, 'drop database second with (force)'), { code: '55006' });
    await branch.service.engine.changeCatalog('br-slots', { kind: 'deleteDatabase', name: 'second' });
    assert.deepEqual(await query(branch.uri, SLOTS), []);
  });

  it('keeps the log that it needs, although no history does', async () => {
    await create(branch.uri, 'late');
    for (const word of ['one', 'two', 'three']) {
      await add(word);
      await keepHistory(branch.service, 'br-slots', DAY);
      await runStatements(superuserUri(branch.service, branch.uri), 'checkpoint', 'select pg_switch_wal()');
    }
    await keepHistory(branch.service, 'br-slots', 0.001);
    await branch.service.engine.suspend(branch.compute.id);
    const received = await receive(await replicate(branch.uri), 'late');
    await eventually(() => ['one', 'two', 'three'].every((word) => received.text.includes(word)));
  });

  it('is followed by other commands on the same connection', async () => {
    const client = await replicate(branch.uri);
    const { connection } = client as unknown as {
      connection: pg.Connection & Record<'sendCopyFromChunk', (chunk: Buffer) => void>;
    };
    await client.query('CREATE_REPLICATION_SLOT followed TEMPORARY LOGICAL test_decoding');
    await assert.rejects(client.query(`START_REPLICATION SLOT followed LOGICAL 0/0 ("no-such-option" '1')`), {
      code: '22023',
    });
    // A confirmation that comes too late.
    connection.sendCopyFromChunk(Buffer.alloc(34, 'r'));
    await client.query('create temporary table rows (word text)');
    await client.query(`copy (select 'x') to stdout`);
    assert.equal((await client.query('IDENTIFY_SYSTEM')).rows[0]?.dbname, 'app');
    await client.end();
  });

  it('begins with data that a transaction, or another session, can read', async () => {
    const client = await replicate(branch.uri);
    await assert.rejects(client.query('CREATE_REPLICATION_SLOT used LOGICAL pgoutput USE_SNAPSHOT'), {
      code: '25P01',
    });
    await client.query('begin isolation level repeatable read');
    await client.query('CREATE_REPLICATION_SLOT used TEMPORARY LOGICAL pgoutput USE_SNAPSHOT');
    await add('too late');
    assert.equal((await client.query("select from words where word = 'too late'")).rowCount, 0);
    await client.query('commit');
    const { rows } = await client.query<{ snapshot_name: string }>(
      'CREATE_REPLICATION_SLOT exported TEMPORARY LOGICAL "pgoutput" EXPORT_SNAPSHOT',
    );
    await add('later');
    const other = await connectTo(branch.uri);
    await other.query('begin isolation level repeatable read');
    await other.query(`set transaction snapshot '${rows[0]?.snapshot_name}'`);
    assert.equal((await other.query("select from words where word = 'later'")).rowCount, 0);
    await other.end();
    await client.query('begin');
    await assert.rejects(
      client.query('CREATE_REPLICATION_SLOT failing LOGICAL pgoutput USE_SNAPSHOT'),
      /SET TRANSACTION SNAPSHOT|isolation level/,
    );
    await client.query('rollback');
    await client.end();
    const left = `${SLOTS} where slot_name in ('used', 'exported', 'failing')`;
    await eventually(async () => (await query(branch.uri, left)).length === 0);
  });
});

describe('Replication is refused', () => {
  for (const withoutPgBouncer of [false, true])
    it(`at a pooled address ${withoutPgBouncer ? 'without' : 'with'} PgBouncer, and says why`, async () => {
      const service = await startControlPlane({ withoutPgBouncer });
      const compute = await service.create({ logicalReplication: true, poolerEnabled: true });
      await assert.rejects(replicate(await service.uri(compute, true)), {
        code: '0A000',
        message: /^the pooled address serves no replication/,
      });
      assert.deepEqual(service.woken, []);
    });

  it('by a read replica, and in a project without it', async () => {
    const service = await startControlPlane();
    const primary = await service.create();
    const uri = await service.uri(primary);
    await assert.rejects(replicate(uri), {
      code: '55000',
      message: 'logical replication is off in this project',
    });
    assert.deepEqual(
      await query(uri, "select current_setting('wal_level') || current_setting('max_replication_slots')"),
      ['replica10'],
    );
    const replica = await service.create({ type: 'read_only', logicalReplication: true });
    await assert.rejects(replicate(await service.uri(replica)), { code: '0A000' });
  });
});
