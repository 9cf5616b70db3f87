/** SQL of agents on a real server: what a read-only statement must not do, how values arrive, and the limits. */
import assert from 'node:assert/strict';
import type pg from 'pg';
import type { BranchLogin } from '../../../../src/extension/connection/sqlSession.ts';
import { runSql } from '../../../../src/extension/agents/runSql.ts';
import type { SqlRequest } from '../../../../src/extension/database/sql/sqlStatement.ts';
import { ALLOWED, HOSTILE, SETUP, STATE } from '../../../helpers/hostileSql.ts';
import { connectTo, eventually, query } from '../../service/postgres/clients.ts';
import { useBranch } from '../../service/postgres/useBranch.ts';
import { readerOf } from '../database/sql/readerOf.ts';

const never = new AbortController().signal;

describe('runSql', () => {
  const branch = useBranch();
  let login: BranchLogin;
  let reader: BranchLogin;
  let user: pg.Client | undefined;
  before(async () => {
    reader = await readerOf(branch.service, branch.compute);
    const { host, username, password, pathname } = new URL(branch.uri);
    login = { host, role: username, password, database: pathname.slice(1) };
    user = await connectTo(branch.uri, { application_name: 'the user' });
    await user.query(SETUP);
  });

  const run = (sql: string, options: Partial<SqlRequest> = {}, signal = never) =>
    runSql(options.write === true ? login : reader, { sql, write: false, maxRows: 100, ...options }, signal);
  const values = async (sql: string) => (await run(sql)).rows;

  describe('without write', () => {
    for (const [what, statements] of Object.entries(HOSTILE))
      it(`changes nothing by ${what}`, async () => {
        const before = await query(branch.uri, STATE);
        for (const sql of statements) await assert.rejects(run(sql), Error, sql);
        assert.deepEqual(await query(branch.uri, STATE), before);
      });

    it('rolls back what Postgres allows in a read-only transaction', async () => {
      const before = await query(branch.uri, STATE);
      for (const sql of ALLOWED) await run(sql).catch(() => undefined);
      assert.deepEqual(await query(branch.uri, STATE), before);
    });

    it('reads with EXPLAIN, SHOW, TABLE, VALUES and WITH', async () => {
      assert.deepEqual(await values('show transaction_read_only'), [['on']]);
      assert.deepEqual(await values('show statement_timeout'), [['15s']]);
      assert.deepEqual(await values('table shop.products limit 1;'), [['1', 'tea', '2.50']]);
      assert.deepEqual(await values('values (1), (2)'), [['1'], ['2']]);
      assert.deepEqual(await values('/* ; */ with w as (select 1) select * from w -- commit'), [['1']]);
      assert.match(String((await values('explain analyze select * from shop.products'))[0]), /^Seq Scan/);
      assert.deepEqual(await values('select count(*) from pg_stat_replication, pg_replication_slots'), [
        ['0'],
      ]);
      const named = "select count(*) from pg_extension where extname in ('dblink', 'set_config')";
      assert.deepEqual(await values(named), [['0']]);
    });

    it('reads what looks like a call, and what calls only harmless functions', async () => {
      for (const sql of [
        'select p.price, price, p.name as add from shop.products p',
        'select * from shop.labels',
        `select '(1).pg_cancel_backend', $$ pg_cancel_backend(1) $$, e'\\'' -- pg_cancel_backend(1)`,
        'select random(), gen_random_uuid(), clock_timestamp(), pg_size_pretty(pg_total_relation_size(1))',
        'select * from shop.products tablesample system (10)',
        'select count(*) from pg_locks, pg_settings, pg_sequences, information_schema.columns',
      ])
        await run(sql);
    });

    it('sees rows with row security, and says that information_schema shows a reader no constraints', async () => {
      assert.deepEqual(await values('select count(*) from shop.secured'), [['1']]);
      const constraints = "select count(*) from pg_constraint where conrelid = 'shop.products'::regclass";
      assert.notDeepEqual(await values(constraints), [['0']]);
      assert.equal((await run(constraints)).note, undefined);
      const standard =
        "select count(*) from information_schema.table_constraints where table_schema = 'shop'";
      const { rows, note } = await run(standard);
      assert.deepEqual(rows, [['0']]);
      assert.match(note ?? '', /pg_catalog has them all/);
      const byOwner = await runSql(login, { sql: standard, write: false, maxRows: 1 }, never);
      assert.notDeepEqual(byOwner.rows, [['0']]);
      assert.equal(byOwner.note, undefined);
    });
  });

  it('returns text that is exact', async () => {
    const { columns, rows } = await run(`select null as "nothing", 'null' as "text", true as "yes",
      9007199254740993::int8 as big, 12345678901234567890.123456789::numeric(40,9) as exact, 'NaN'::float8 as nan,
      '{"b": 1,  "a": [null, "ü"]}'::json as j, '{"b":1,"a":2}'::jsonb as jb, '\\x00ff'::bytea as bytes,
      timestamp '2026-01-02 03:04:05.678901' as at, timestamptz '2026-01-02 03:04:05+00' as atz,
      date '0044-03-15 BC' as ides, interval '1 mon 2 days' as length, '{1,null,"a b"}'::text[] as list,
      'x'::char(3) as padded, '🐘' as "a;b", 1 as "a;b", ' '' "' as "DROP TABLE"`);
    assert.deepEqual(rows, [
      [null, 'null', 't', '9007199254740993', '12345678901234567890.123456789', 'NaN'].concat([
        '{"b": 1,  "a": [null, "ü"]}',
        '{"a": 2, "b": 1}',
        '\\x00ff',
        '2026-01-02 03:04:05.678901',
        '2026-01-02 03:04:05+00',
        '0044-03-15 BC',
        '1 mon 2 days',
        '{1,NULL,"a b"}',
        'x  ',
        '🐘',
        '1',
        ` ' "`,
      ]),
    ]);
    assert.deepEqual(columns[4], { name: 'exact', type: 'numeric(40,9)' });
    assert.deepEqual(
      columns.map(({ type }) => type),
      [
        'text',
        'text',
        'boolean',
        'bigint',
        'numeric(40,9)',
        'double precision',
        'json',
        'jsonb',
        'bytea',
      ].concat([
        'timestamp without time zone',
        'timestamp with time zone',
        'date',
        'interval',
        'text[]',
        'character(3)',
        'text',
        'integer',
        'text',
      ]),
    );
  });

  it('limits rows, and says so', async () => {
    const endless = 'with recursive n as (select 1 as i union all select i + 1 from n) select i from n';
    const { rows, truncated } = await run(endless, { maxRows: 3 });
    assert.deepEqual([rows, truncated], [[['1'], ['2'], ['3']], true]);
    assert.equal((await run('values (1), (2), (3)', { maxRows: 3 })).truncated, false);
  });

  it('limits values, their sum and the bytes that arrive', async () => {
    const long = await run("select repeat('ab', 1000000)");
    assert.match(String(long.rows[0]?.[0]), /^(ab){2000}… \(2000000 characters\)$/);
    assert.equal(long.truncated, true);
    const many = await run("select repeat('x', 3000) from generate_series(1, 900)", { maxRows: 1000 });
    assert.equal(many.truncated, true);
    assert.ok(JSON.stringify(many.rows).length < 70_000, `${many.rows.length} rows`);
    const wide = Array.from({ length: 1000 }, () => "repeat('x', 3000)").join();
    assert.ok(JSON.stringify((await run(`select ${wide}`)).rows).length < 100_000);
    await assert.rejects(run("select repeat('x', 50000000)"), /larger than 16 MB/);
    await assert.rejects(
      run("select repeat('x', 5000000) from generate_series(1, 9)", { maxRows: 9 }),
      /16 MB/,
    );
  });

  it('says what Postgres says, without the password', async () => {
    await assert.rejects(run('select nam from shop.products'), /does not exist \(42703.*Hint: Perhaps/);
    await assert.rejects(run('select $1::int'), /there is no parameter \$1/);
    await assert.rejects(run(' -- nothing'), /must return rows|empty/);
    await assert.rejects(runSql({ ...login, password: 'wrong-word' }, READ_ONE, never), (error: Error) => {
      assert.match(error.message, /password authentication failed/);
      return !error.message.includes('wrong-word');
    });
  });

  it('cancels what runs on the server', async () => {
    for (const write of [false, true]) {
      const controller = new AbortController();
      const marker = `select pg_sleep(100), ${String(write)}`;
      const running = `select count(*)::int from pg_stat_activity where state = 'active' and query like '${marker}%'`;
      const canceled = assert.rejects(run(marker, { write }, controller.signal), { message: 'Canceled.' });
      await eventually(async () => (await query(branch.uri, running))[0] === 1);
      controller.abort();
      await canceled;
      await eventually(async () => (await query(branch.uri, running))[0] === 0);
    }
    await assert.rejects(run('select 1', {}, AbortSignal.abort()), { message: 'Canceled.' });
  });

  it('leaves no session behind', async () => {
    await run('select 1');
    const sessions =
      "select count(*)::int from pg_stat_activity where application_name like 'Hosted Postgres%'";
    await eventually(async () => (await query(branch.uri, sessions))[0] === 0);
  });

  it('requires a certificate that the system trusts where the service requires TLS', async () => {
    const strict = { ...login, sslMode: 'require' } as const;
    await assert.rejects(runSql(strict, READ_ONE, never), /self-signed certificate/);
  });
});

const READ_ONE: SqlRequest = { sql: 'select 1', write: false, maxRows: 1 };
