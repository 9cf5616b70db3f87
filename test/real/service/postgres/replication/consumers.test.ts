/** Programs that follow changes, as their packages have them, while the compute is suspended and restarted. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import postgres from 'postgres';
import { atEndOfTest } from '../../../../helpers/atEndOfTest.ts';
import { roundsOf } from '../../../../helpers/fullRun.ts';
import { randomNumbers } from '../../../../helpers/randomNumbers.ts';
import { RANDOM_SEED } from '../../../../helpers/seed.ts';
import { connectTo, eventually, query, runStatements } from '../clients.ts';
import { superuserUri } from '../controlPlane.ts';
import { useBranch } from '../useBranch.ts';
import { followWithPackage } from './followers.ts';
import { content, randomTransactions, TABLES } from './randomTransactions.ts';
import { replicate } from './replicate.ts';

const ROUNDS = roundsOf(4, 60);

describe(`Consumers of changes (seed ${RANDOM_SEED})`, () => {
  const branch = useBranch({ logicalReplication: true });
  const random = randomNumbers(RANDOM_SEED + 1);
  before(async () =>
    runStatements(branch.uri, ...TABLES, 'create publication changes for table items, others'),
  );

  /** Makes transactions, and suspends or restarts the compute in between, while a client is in one. */
  async function makeChanges(): Promise<void> {
    const change = randomTransactions(RANDOM_SEED + ROUNDS);
    for (let round = 0; round < ROUNDS; round += 1) {
      const client = await connectTo(branch.uri);
      for (let count = 0; count < 25; count += 1) await change(client);
      await client.query('begin');
      await client.query("insert into items values (-1, 'lost')");
      if (random() < 0.5) await branch.service.engine.suspend(branch.compute.id);
      else {
        const size = branch.service.computes.get(branch.compute.id)?.minCu === 0.25 ? 0.5 : 0.25;
        await branch.service.change(branch.service.computes.get(branch.compute.id) ?? branch.compute, {
          minCu: size,
          maxCu: size,
        });
      }
    }
  }

  it('a subscription of another Postgres has each row once', async () => {
    await runStatements(
      branch.uri,
      "insert into items values (1, 'before')",
      "insert into others values (1, 'before', 1)",
    );
    const pgSettings = { wal_retrieve_retry_interval: '100ms' };
    const target = await branch.service.create({ branchId: 'br-target', pgSettings });
    const uri = await branch.service.uri(target);
    await runStatements(uri, ...TABLES);
    const { port, username, password } = new URL(branch.uri);
    const superuser = superuserUri(branch.service, uri);
    await query(
      superuser,
      `create subscription mine connection 'host=127.0.0.1 port=${port} dbname=app user=${username} password=${password}' publication changes`,
    );
    await eventually(async () => (await content(uri)) === (await content(branch.uri)));
    await makeChanges();
    await eventually(async () => (await content(uri)) === (await content(branch.uri)));
    await query(superuser, 'drop subscription mine');
    assert.deepEqual(await query(branch.uri, 'select slot_name from pg_replication_slots'), []);
  });

  it('pg-logical-replication gets all changes of each transaction', async () => {
    await query(branch.uri, 'truncate items, others');
    const follower = await followWithPackage(branch.uri, 'changes');
    await makeChanges();
    const rows = async (table: string) =>
      (await query(branch.uri, `select json_build_array(t.*::text) from ${table} t`)).length;
    await query(branch.uri, "insert into items values (5000, 'end', null)");
    await eventually(() => follower.tables.get('items')?.has('5000') === true);
    for (const table of ['items', 'others']) {
      assert.equal(follower.tables.get(table)?.size ?? 0, await rows(table), table);
    }
    const words = await query(branch.uri, 'select id || word || changed from items order by id');
    const got = [...(follower.tables.get('items')?.values() ?? [])] as unknown as {
      id: number;
      word: string;
      changed: number;
    }[];
    assert.deepEqual(
      got.toSorted((a, b) => a.id - b.id).map(({ id, word, changed }) => `${id}${word}${changed}`),
      words,
    );
    await follower.stop();
    const end = await replicate(branch.uri);
    await end.query('DROP_REPLICATION_SLOT package WAIT');
    await end.end();
  });

  it('postgres.js calls back for each change', async () => {
    await query(branch.uri, 'truncate items, others');
    const sql = postgres(branch.uri, { max: 1, publications: 'changes' });
    atEndOfTest(async () => sql.end());
    const seen: unknown[] = [];
    const subscription = await sql.subscribe('*', (row, { command, relation }) => {
      seen.push([command, relation.table, row?.['id']]);
    });
    await sql`insert into items values (1, 'one', null)`;
    await sql`update items set word = 'uno' where id = 1`;
    await sql`delete from items where id = 1`;
    await eventually(() => seen.length === 3);
    assert.deepEqual(seen, [
      ['insert', 'items', 1],
      ['update', 'items', 1],
      ['delete', 'items', 1],
    ]);
    subscription.unsubscribe();
    // Its slot is temporary, and the connection stays until the end.
    await sql.end();
    await eventually(
      async () => (await query(branch.uri, 'select slot_name::text from pg_replication_slots')).length === 0,
    );
  });

  it('pg_recvlogical continues after what it has written', async function () {
    const { port, username, password } = new URL(branch.uri);
    const login = ['-h', '127.0.0.1', '-p', port, '-U', username, '-d', 'app', '-S', 'received'];
    const run = (...args: string[]) =>
      spawn('pg_recvlogical', [...login, ...args], { env: { ...process.env, PGPASSWORD: password } });
    const creation = run('--create-slot', '-P', 'test_decoding');
    const code = await new Promise((resolve) => creation.once('error', resolve).once('close', resolve));
    if (typeof code !== 'number') return this.skip();
    assert.equal(code, 0);
    const ids: number[] = [];
    let text = '';
    for (let round = 0; round < ROUNDS; round += 1) {
      const first = 10_000 + round * 100;
      const receiver = run('--start', '--no-loop', '-f', '-');
      receiver.stdout.on('data', (chunk: Buffer) => {
        text += String(chunk);
        for (const [, id] of text.matchAll(/table public\.items: INSERT: id\[integer\]:(\d+) .*\n/g))
          ids.push(Number(id));
        text = text.slice(text.lastIndexOf('\n') + 1);
      });
      await query(branch.uri, `insert into items select n from generate_series(${first}, ${first + 99}) n`);
      await eventually(() => ids.includes(first + 99));
      const closed = once(receiver, 'close');
      await branch.service.engine.suspend(branch.compute.id);
      await closed;
    }
    assert.deepEqual(
      [...new Set(ids)],
      Array.from({ length: ROUNDS * 100 }, (_, index) => 10_000 + index),
    );
    const dropping = run('--drop-slot');
    assert.deepEqual(await once(dropping, 'close'), [0, null]);
  });
});
