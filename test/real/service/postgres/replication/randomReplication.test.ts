/**
 * Random transactions, of all kinds that Postgres decodes, while programs follow them and are interrupted with the server. In the
 * end, each has all changes. `MINUTES` makes it longer, and `SEED` repeats it.
 */
import assert from 'node:assert/strict';
import type pg from 'pg';
import { roundsOf } from '../../../../helpers/fullRun.ts';
import { randomNumbers } from '../../../../helpers/randomNumbers.ts';
import { RANDOM_SEED } from '../../../../helpers/seed.ts';
import { answers, connectTo, eventually, query, runStatements } from '../clients.ts';
import { superuserUri } from '../controlPlane.ts';
import { useBranch } from '../useBranch.ts';
import { followWithPackage, receiveWithProgram, subscribe } from './followers.ts';
import { content, randomTransactions, TABLES } from './randomTransactions.ts';

const ROUNDS = roundsOf(4, 120);
const MINUTES = Number(process.env['MINUTES'] ?? 0);
const LIMIT = 120_000;
const LEDGER = ['create table ledger (id int primary key, kind text)'];

const all = async (uri: string): Promise<string> =>
  JSON.stringify([
    await content(uri),
    await query(uri, 'select id || kind from ledger order by id'),
    await query(uri, "select id || ' ' || n || ' ' || twice from computed order by id"),
  ]);
/** Columns that were added later are missing in rows that a program has got before. */
const textOf = (row: object): string =>
  JSON.stringify(
    Object.entries(row)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, String(value).slice(-40)])
      .toSorted(([a], [b]) => String(a).localeCompare(String(b), 'en')),
  );

describe(`Programs that follow random changes (seed ${RANDOM_SEED})`, () => {
  // Small, so that most transactions are sent before they end.
  const pgSettings = { logical_decoding_work_mem: '64kB', max_prepared_transactions: '10' };
  const branch = useBranch({ logicalReplication: true, pgSettings });
  const random = randomNumbers(RANDOM_SEED + 7);
  const below = (limit: number) => Math.floor(random() * limit);
  const change = randomTransactions(RANDOM_SEED + 8);
  const committed: number[] = [];
  let target: { readonly uri: string; readonly id: string };
  let columns = 0;
  let interruptions = 0;

  before(async () => {
    const computed = 'create table computed (id int primary key, n int, twice int';
    await runStatements(
      branch.uri,
      ...TABLES,
      ...LEDGER,
      `${computed} generated always as (n * 2) stored)`,
      'create publication changes for table items, others, ledger, computed with (publish_generated_columns = stored)',
    );
    const settings = { ...pgSettings, wal_retrieve_retry_interval: '100ms' };
    const compute = await branch.service.create({ branchId: 'br-target', pgSettings: settings });
    target = { uri: await branch.service.uri(compute), id: compute.id };
    await runStatements(target.uri, ...TABLES, ...LEDGER, `${computed})`);
    const { port, username, password } = new URL(branch.uri);
    await query(
      superuserUri(branch.service, target.uri),
      `create subscription mine connection 'host=127.0.0.1 port=${port} dbname=app user=${username} password=${password}' publication changes with (two_phase = true)`,
    );
  });

  /** Runs statements and notes their transaction in the ledger, unless it is rolled back. */
  async function transact(client: pg.Client, kind: string, ...statements: string[]): Promise<void> {
    const id = (committed.at(-1) ?? 0) + 1 + below(3);
    await client.query('begin');
    for (const sql of [...statements, `insert into ledger values (${id}, '${kind}')`])
      await client.query(sql);
    // Postgres 18.4 can crash where it decodes or applies the rollback of a large transaction with a released savepoint:
    // docs/local-service.md.
    const isKept = statements.includes('release s') || below(5) > 0;
    if (kind === 'prepared') {
      await client.query(`prepare transaction 'p${id}'`);
      if (below(4) === 0) await interrupt();
      await query(branch.uri, `${isKept ? 'commit' : 'rollback'} prepared 'p${id}'`);
    } else await client.query(isKept ? 'commit' : 'rollback');
    if (isKept) committed.push(id);
  }

  async function step(client: pg.Client): Promise<void> {
    const n = below(100_000);
    switch (below(8)) {
      case 0:
        return transact(
          client,
          'large',
          `insert into others select n, 'large ${n}', random() from generate_series(1, 3000) n on conflict do nothing`,
          'savepoint s',
          `update others set amount = amount + 1 where id % 3 = ${n % 3}`,
          below(2) === 0 ? 'rollback to s' : 'release s',
        );
      case 1:
        return transact(client, 'prepared', `delete from others where id % 5 = ${n % 5}`);
      case 2:
        return transact(
          client,
          'computed',
          `insert into computed (id, n) values (${n % 40}, ${n}) on conflict (id) do update set n = excluded.n`,
        );
      case 3:
        return transact(client, 'toast', `update items set changed = changed + 1 where big is not null`);
      case 4:
        return transact(client, 'truncate', below(4) === 0 ? 'truncate others, computed' : 'select 1');
      case 5: {
        if (below(3) > 0 || columns > 20) return change(client);
        const name = `more_${(columns += 1)}`;
        // The subscription stops while its table lacks a column.
        await query(target.uri, `alter table items add column ${name} text`);
        await client.query(`alter table items add column ${name} text`);
        return transact(client, 'column', `update items set ${name} = '${n}' where id % 4 = 0`);
      }
      case 6:
        // Rows are decoded by the table as it was for their statement. A rewrite itself isn't sent. Nothing of it is in a savepoint that is
        // rolled back, because Postgres 18.4 then can refuse to decode it: docs/local-service.md.
        if (below(2) === 0)
          return transact(
            client,
            'rewrite',
            `update items set changed = changed + 1 where id % 3 = ${n % 3}`,
            `alter table items alter column changed type ${below(2) === 0 ? 'int' : 'bigint'}`,
            `update items set word = 'rewritten ${n}' where id % 3 = 1`,
          );
        await client.query('create table if not exists unpublished (n int)');
        await client.query(below(2) === 0 ? 'vacuum full items' : 'drop table unpublished');
        return;
      default:
        return change(client);
    }
  }

  let program: Awaited<ReturnType<typeof receiveWithProgram>>;

  async function interrupt(): Promise<void> {
    interruptions += 1;
    const { service, compute } = branch;
    const superuser = superuserUri(service, branch.uri);
    switch (below(6)) {
      case 0:
        return service.engine.suspend(compute.id);
      case 1: {
        const before = service.computes.get(compute.id) ?? compute;
        const size = before.minCu === 0.25 ? 0.5 : 0.25;
        return void (await service.change(before, { minCu: size, maxCu: size }));
      }
      case 2: {
        const crashes = service.crashed.length;
        const [pid] = await query(
          superuser,
          "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int",
        );
        process.kill(Number(pid), 'SIGKILL');
        return eventually(() => service.crashed.length > crashes);
      }
      case 3:
        return void (await query(
          superuser,
          'select pg_terminate_backend(active_pid) from pg_replication_slots where active',
        ));
      case 4:
        return void program?.kill();
      default:
        return service.engine.suspend(target.id);
    }
  }

  async function makeRound(): Promise<void> {
    const [first, before] = [committed.length, interruptions];
    // A suspended target receives nothing, and would have everything left for the end.
    await query(target.uri, 'select');
    const subscriber = await subscribe(branch.uri, 'ledger');
    const client = await connectTo(branch.uri);
    // The connection may not have noticed yet that its server has ended.
    for (let count = 0; count < 20 && interruptions === before; count += 1) await step(client);
    await client.end();
    const made = committed.slice(first);
    if (interruptions === before) {
      await eventually(() => subscriber.ids.length >= made.length, LIMIT);
      assert.deepEqual(subscriber.ids, made);
    }
    await interrupt();
    // It continues after what it has missed.
    assert.deepEqual(
      subscriber.ids,
      made.filter((id) => subscriber.ids.includes(id)),
    );
    await subscriber.stop();
  }

  /**
   * Postgres 18.4 itself can crash where it decodes or applies changes (`pg_decode_stream_abort` of test_decoding, and the apply worker
   * of a subscription): docs/local-service.md. That is one more interruption, after which the source says what was committed.
   * @returns whether it was one
   */
  async function isPostgresCrash(logged: number): Promise<boolean> {
    const crash = branch.service.log.slice(logged).find((line) => /was terminated by signal 11/.test(line));
    if (crash === undefined) return false;
    console.log(crash);
    interruptions += 1;
    await answers(branch.uri);
    for (const gid of await query(branch.uri, 'select gid from pg_prepared_xacts'))
      await query(branch.uri, `rollback prepared '${String(gid)}'`);
    const ids = await query(branch.uri, 'select id from ledger order by id');
    committed.splice(0, committed.length, ...ids.map(Number));
    return true;
  }

  it('have all of them in the end, and each once', async () => {
    const follower = await followWithPackage(branch.uri, 'changes');
    program = await receiveWithProgram(branch.uri, /table public\.ledger: INSERT: id\[integer\]:(\d+) .*\n/g);
    const end = performance.now() + MINUTES * 60_000;
    let rounds = 0;
    for (; rounds < ROUNDS || performance.now() < end; rounds += 1) {
      const logged = branch.service.log.length;
      await makeRound().catch(async (error: unknown) => {
        if (!(await isPostgresCrash(logged))) throw error;
      });
    }
    console.log(`${rounds} rounds, ${committed.length} transactions, ${interruptions} interruptions`);
    await query(branch.uri, "insert into ledger values (1000000, 'end')");
    const rows = await all(branch.uri);
    assert.deepEqual(await query(branch.uri, 'select id from ledger order by id'), [...committed, 1_000_000]);
    await eventually(async () => (await all(target.uri)) === rows, LIMIT);
    await eventually(() => follower.tables.get('ledger')?.has('1000000') === true, LIMIT);
    const client = await connectTo(branch.uri);
    for (const table of ['items', 'others', 'ledger', 'computed']) {
      const expected = (await client.query<object>(`select * from ${table}`)).rows;
      const got = [...(follower.tables.get(table)?.values() ?? [])];
      assert.deepEqual(got.map(textOf).toSorted(), expected.map(textOf).toSorted(), table);
    }
    await client.end();
    const { ids } = program ?? {};
    if (ids !== undefined) {
      await eventually(() => ids.includes(1_000_000), LIMIT);
      assert.deepEqual([...new Set(ids)], [...committed, 1_000_000]);
    }
    await program?.stop();
    await follower.stop();
    await query(superuserUri(branch.service, target.uri), 'drop subscription mine');
  });
});
