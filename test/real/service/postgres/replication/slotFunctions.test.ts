/** The functions of SQL for slots: what an owner does with them, and what nobody reaches by them. */
import assert from 'node:assert/strict';
import { atEndOfTest } from '../../../../helpers/atEndOfTest.ts';
import { query, runStatements } from '../clients.ts';
import { startControlPlane, superuserUri } from '../controlPlane.ts';
import { useBranch } from '../useBranch.ts';
import { createSlot } from './replicate.ts';

const SLOTS = 'select slot_name::text from pg_replication_slots order by 1';

describe('Functions of SQL for replication slots', () => {
  const branch = useBranch({ logicalReplication: true });
  const at = (database: string) => branch.uri.replace(/app$/, database);
  const refuses = async (uri: string, code: string, ...calls: string[]) => {
    for (const call of calls) await assert.rejects(query(uri, `select * from ${call}`), { code }, call);
  };
  let superuser: string;
  before(async () => {
    superuser = superuserUri(branch.service, branch.uri);
    await query(branch.uri, 'create table words (word text primary key)');
    await query(branch.uri, 'create publication words for table words');
  });

  it('create, read, advance, copy and drop the slots of a database', async () => {
    await query(
      branch.uri,
      "select pg_create_logical_replication_slot('one', 'test_decoding', twophase => true)",
    );
    await query(branch.uri, "insert into words values ('first')");
    const read = (how: string) => query(branch.uri, `select data from pg_logical_slot_${how}`);
    assert.match(
      String(await read("peek_changes('one', null, null, 'include-xids', '0')")),
      /^BEGIN,.*first.*COMMIT$/,
    );
    assert.match(String(await read("get_changes('one', null, null)")), /first/);
    assert.deepEqual(await read("get_changes('one', null, null)"), []);
    await query(branch.uri, "select pg_copy_logical_replication_slot('one', 'two', false, 'pgoutput')");
    await query(branch.uri, "insert into words values ('second')");
    const options = "null, null, 'proto_version', '1', 'publication_names', 'words'";
    for (const how of ['peek_binary', 'get_binary'])
      assert.match(String((await read(`${how}_changes('two', ${options})`))[2]), /second/);
    await query(branch.uri, "select pg_replication_slot_advance('one', pg_current_wal_lsn())");
    assert.deepEqual(await read("get_changes('one', null, null)"), []);
    await query(branch.uri, 'select pg_drop_replication_slot(slot_name) from pg_replication_slots');
    assert.deepEqual(await query(branch.uri, SLOTS), []);
  });

  it('work in databases that are created later', async () => {
    await query(branch.uri, 'create database other');
    await query(at('other'), "select pg_create_logical_replication_slot('theirs', 'pgoutput')");
    await query(at('other'), "select pg_drop_replication_slot('theirs')");
  });

  it('reach no slot of another database, and no physical one', async () => {
    await query(superuser, "select pg_create_physical_replication_slot('ours', true)");
    atEndOfTest(async () => query(superuser, "select pg_drop_replication_slot('ours')"));
    await createSlot(at('other'), 'theirs');
    for (const slot of ['ours', 'theirs'])
      await refuses(
        branch.uri,
        '42704',
        `pg_drop_replication_slot('${slot}')`,
        `pg_replication_slot_advance('${slot}', pg_current_wal_lsn())`,
        `pg_copy_logical_replication_slot('${slot}', 'mine')`,
        `pg_copy_logical_replication_slot('${slot}', 'mine', true)`,
        `pg_copy_logical_replication_slot('${slot}', 'mine', true, 'pgoutput')`,
        ...['get', 'peek', 'get_binary', 'peek_binary'].map(
          (how) => `pg_logical_slot_${how}_changes('${slot}', null, null)`,
        ),
      );
    await refuses(branch.uri, '42501', "pg_create_physical_replication_slot('mine')");
    assert.deepEqual(await query(superuser, SLOTS), ['ours', 'theirs']);
    await query(at('other'), "select pg_drop_replication_slot('theirs')");
  });

  it('load no library, make no failover slot, and leave the slots of our own copies free', async () => {
    await refuses(
      branch.uri,
      '0A000',
      "pg_create_logical_replication_slot('mine', '/tmp/library')",
      "pg_create_logical_replication_slot('mine', 'auto_explain')",
      "pg_create_logical_replication_slot('mine', 'pgoutput', failover => true)",
    );
    await query(branch.uri, "select pg_create_logical_replication_slot('full', 'pgoutput')");
    await refuses(
      branch.uri,
      '0A000',
      "pg_copy_logical_replication_slot('full', 'mine', false, '/tmp/library')",
    );
    await query(
      branch.uri,
      "select pg_copy_logical_replication_slot('full', 'full_' || n) from generate_series(1, 9) n",
    );
    await refuses(
      branch.uri,
      '53400',
      "pg_create_logical_replication_slot('mine', 'pgoutput')",
      "pg_copy_logical_replication_slot('full', 'mine')",
    );
    await query(branch.uri, 'select pg_drop_replication_slot(slot_name) from pg_replication_slots');
  });

  it('are for roles that may replicate, whatever they are called by', async () => {
    await runStatements(
      branch.uri,
      "create role by_sql login createrole createdb password 'x'",
      'grant create on schema public to by_sql',
      "select pg_create_logical_replication_slot('mine', 'pgoutput')",
    );
    const bySql = branch.uri.replace(/\/\/[^@]*@/, '//by_sql:x@');
    const drop = "pg_drop_replication_slot('mine')";
    const calls = [
      drop,
      "pg_create_logical_replication_slot('theirs', 'pgoutput')",
      "pg_logical_slot_peek_binary_changes('mine', null, null)",
      "pg_replication_slot_advance('mine', pg_current_wal_lsn())",
    ];
    await refuses(bySql, '42501', ...calls);
    const renamed = calls.map((call) => `service_${call}`);
    for (const uri of [bySql, branch.uri]) await refuses(uri, '42501', ...renamed);
    // A function of the role, called by the owner.
    await runStatements(
      bySql,
      `create function trap() returns void security definer language sql as 'select ${drop.replaceAll("'", "''")}'`,
    );
    await refuses(branch.uri, '42501', 'trap()');
    const password = await branch.service.engine.startForReader('br-main', branch.compute.id);
    await refuses(branch.uri.replace(/\/\/[^@]*@/, `//service_reader:${password}@`), '42501', ...calls);
    await assert.rejects(
      query(branch.uri, 'alter function pg_drop_replication_slot(name) security invoker'),
      { code: '42501' },
    );
    await query(branch.uri, `select ${drop}`);
  });

  it('use no functions and operators of an owner', async () => {
    const uri = at('other');
    await runStatements(
      uri,
      'create schema trap',
      `create function trap.equal(name, name) returns bool language plpgsql as 'begin raise exception ''trapped''; end'`,
      'create operator trap.= (function = trap.equal, leftarg = name, rightarg = name)',
      `create function trap.service_check_slot(name, name, bool, bool) returns void language plpgsql as 'begin raise exception ''trapped''; end'`,
      'create temporary table pg_replication_slots (slot_name name, database name)',
      'set search_path = trap, pg_temp, pg_catalog',
      "select pg_catalog.pg_create_logical_replication_slot('mine', 'pgoutput')",
      "select pg_catalog.pg_drop_replication_slot('mine')",
    );
  });

  it('have only rights that pg_dump takes for those of initdb', async () => {
    const [different] = await query(
      branch.uri,
      `select count(*)::int from pg_proc p left join pg_init_privs i on i.objoid = p.oid and classoid = 'pg_proc'::regclass
       where pronamespace = 'pg_catalog'::regnamespace and proacl is distinct from initprivs`,
    );
    assert.equal(different, 0);
  });

  it('are there after a restart, in copies and without replication, but do nothing there', async () => {
    const { service, compute } = branch;
    await service.engine.suspend(compute.id);
    await query(branch.uri, "select pg_create_logical_replication_slot('kept', 'pgoutput')");
    await service.engine.createBranch({ id: 'br-copy', parentId: 'br-main' });
    const off = await service.uri(await service.create({ branchId: 'br-copy' }));
    await refuses(off, '55000', "pg_create_logical_replication_slot('mine', 'pgoutput')");
    await refuses(off, '42704', "pg_drop_replication_slot('kept')");
    const replica = await service.create({ type: 'read_only', logicalReplication: true });
    await refuses(
      await service.uri(replica),
      '0A000',
      "pg_create_logical_replication_slot('mine', 'pgoutput')",
    );
    await query(branch.uri, "select pg_drop_replication_slot('kept')");
  });
});

describe('Without logical replication, functions of SQL for slots', () => {
  it('are those of Postgres', async () => {
    const service = await startControlPlane();
    const uri = await service.uri(await service.create());
    await assert.rejects(query(uri, "select pg_drop_replication_slot('mine')"), { code: '42501' });
    assert.deepEqual(await query(uri, "select proname from pg_proc where proname ~ '^service_'"), []);
  });
});
