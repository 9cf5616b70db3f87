/** The role that reads: where it shows, what it needs, and on which branches it is. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runSql } from '../../../../../src/extension/agents/runSql.ts';
import { SUPERUSER } from '../../../../../src/service/core/systemNames.ts';
import { storageOf } from '../../../../helpers/branchCalls.ts';
import { connectTo, query } from '../clients.ts';
import { useBranch } from '../useBranch.ts';
import { readerOf } from '../../../extension/database/sql/readerOf.ts';

const never = new AbortController().signal;

describe('The role that reads', () => {
  const branch = useBranch();

  const read = async (sql: string, of = branch.compute, database = 'app') => {
    const login = await readerOf(branch.service, of, database);
    return (await runSql(login, { sql, write: false, maxRows: 10 }, never)).rows.flat();
  };
  const asSuperuser = async (sql: string): Promise<void> => {
    const file = path.join(storageOf(branch.service), 'logins.json');
    const { superuser: password } = JSON.parse(readFileSync(file, 'utf8'));
    const client = await connectTo(branch.uri, {
      connectionString: `postgresql://${SUPERUSER}:${password}@127.0.0.1:${branch.compute.address.port}/app`,
    });
    await client.query(sql);
    await client.end();
  };
  const restart = async () => {
    await branch.service.engine.suspend(branch.compute.id);
    await query(branch.uri, 'select 1');
  };

  it('starts the compute, has limits, and is in no list, dump or count of changes', async () => {
    await branch.service.engine.suspend(branch.compute.id);
    const timestamp = new Date().toISOString();
    assert.deepEqual(await read('show temp_file_limit'), ['2GB']);
    assert.deepEqual(await read('select rolconnlimit from pg_roles where rolname = current_user'), ['20']);
    assert.deepEqual(
      (await branch.service.engine.catalog('br-main')).roles.map(({ name }) => name),
      ['app_owner'],
    );
    assert.doesNotMatch(
      (await branch.service.engine.schema('br-main', 'app', 'sql')).sql ?? '',
      /service_reader/,
    );
    const [changes] = await branch.service.engine.changesSince('br-main', [
      { branchId: 'br-main', timestamp },
    ]);
    assert.deepEqual(changes ?? [], []);
  });

  it('starts the compute also while it is being suspended', async () => {
    const { engine } = branch.service;
    await engine.start(branch.compute);
    const [, password] = await Promise.all([
      engine.suspend(branch.compute.id),
      engine.startForReader('br-main', branch.compute.id),
    ]);
    assert.notEqual(password, '');
  });

  it('is created on a branch that lacks it', async () => {
    await asSuperuser('drop owned by service_reader; drop role service_reader');
    await restart();
    assert.deepEqual(await read('select current_user'), ['service_reader']);
  });

  it('reads from copies of a branch, and after the branch was restored', async () => {
    await query(branch.uri, 'create table kept (id int)');
    await branch.service.engine.createBranch({ id: 'br-child', parentId: 'br-main' });
    const child = await branch.service.create({ branchId: 'br-child' });
    assert.deepEqual(await read('select count(*) from kept', child), ['0']);
    await branch.service.engine.suspend(child.id);
    await branch.service.engine.restoreBranch({ id: 'br-child', sourceId: 'br-main' });
    assert.deepEqual(await read('select count(*) from kept', child), ['0']);
    await branch.service.engine.suspend(child.id);
  });

  it('has the name of no role of a user, and is a member of none', async () => {
    await asSuperuser('drop owned by service_reader; drop role service_reader');
    await query(branch.uri, 'create role service_reader');
    await restart();
    await assert.rejects(read('select 1'), /reserved\. Rename your role: ALTER ROLE service_reader RENAME/);
    await query(branch.uri, 'alter role service_reader rename to mine');
    assert.deepEqual(await read('select 1'), ['1']);
    await query(branch.uri, 'grant mine to service_reader');
    await restart();
    await assert.rejects(read('select 1'), /Run: REVOKE "mine" FROM service_reader/);
    await query(branch.uri, 'revoke mine from service_reader');
    assert.deepEqual(await read('select 1'), ['1']);
    for (const sql of [
      'alter role service_reader superuser',
      "alter role service_reader password 'known'",
      'drop role service_reader',
      'grant service_reader to mine',
      'set role service_reader',
      'grant pg_signal_backend to service_reader',
      'grant app_owner to service_reader',
    ])
      await assert.rejects(query(branch.uri, sql), { code: '42501' }, sql);
  });

  it('may connect to a database that is closed to others', async () => {
    await query(branch.uri, 'create database closed');
    await query(branch.uri, 'revoke connect on database closed from public');
    await restart();
    assert.deepEqual(await read('select current_database()', branch.compute, 'closed'), ['closed']);
  });

  it('finds names where the owner finds them', async () => {
    for (const [setting, reset] of [
      ['alter role app_owner set search_path = a, "B c"', 'alter role app_owner reset search_path'],
      [
        'alter role app_owner in database app set search_path = d',
        'alter role app_owner in database app reset all',
      ],
      ['alter database app set search_path = e', 'alter database app reset search_path'],
      ['select 1', 'select 1'],
    ] as const) {
      await query(branch.uri, setting);
      const [expected] = await query(branch.uri, 'show search_path');
      assert.deepEqual(await read('show search_path'), [String(expected).replace('"$user"', 'app_owner')]);
      await query(branch.uri, reset);
    }
    await query(branch.uri, 'create schema app_owner');
    await query(branch.uri, 'create table app_owner.own (id int)');
    assert.deepEqual(await read('select count(*) from own'), ['0']);
  });
});
