/** What an owner and others must not reach by replication, although each of these works for a role with REPLICATION. */
import assert from 'node:assert/strict';
import { atEndOfTest } from '../../../../helpers/atEndOfTest.ts';
import { connectTo, query } from '../clients.ts';
import { superuserUri } from '../controlPlane.ts';
import { useBranch } from '../useBranch.ts';
import { replicate } from './replicate.ts';

describe('An owner with logical replication', () => {
  const branch = useBranch({ logicalReplication: true });
  const at = (database: string) => branch.uri.replace(/app$/, database);
  let superuser: string;
  before(async () => {
    superuser = superuserUri(branch.service, branch.uri);
    await query(branch.uri, 'create database other');
  });

  const refuses = async (uri: string, command: string, code: string) => {
    const client = await replicate(uri);
    await assert.rejects(client.query(command), { code }, command);
    // The connection is still usable.
    assert.equal((await client.query('select 1 as one')).rows[0]?.one, 1);
    await client.end();
  };

  it('has no right to replicate in Postgres, at no address of the server', async () => {
    const [isReplication] = await query(
      superuser,
      "select rolreplication from pg_roles where rolname = 'app_owner'",
    );
    assert.equal(isReplication, false);
    const [port] = await query(superuser, "select current_setting('port')");
    const direct = branch.uri.replace(/:\d+\//, `:${String(port)}/`);
    for (const replication of ['database', 'true'])
      await assert.rejects(connectTo(direct, { replication } as object), { code: /28000|42501/ });
    for (const sql of [
      "select pg_create_physical_replication_slot('mine')",
      "select pg_copy_physical_replication_slot('ours', 'mine')",
      'select pg_sync_replication_slots()',
      'alter role app_owner replication',
      'create role copier replication',
    ])
      await assert.rejects(query(branch.uri, sql), { code: '42501' }, sql);
  });

  it('gets no physical replication, and an error that says so', async () => {
    for (const replication of ['true', 'on', '1', 'YES'])
      await assert.rejects(connectTo(branch.uri, { replication } as object), {
        code: '28000',
        message: 'this address serves no physical replication',
      });
    for (const replication of ['t', 'Database', 'database '])
      await assert.rejects(connectTo(branch.uri, { replication } as object), { code: /28000|42501|22023/ });
  });

  it('gets no copy of the cluster, no physical slot, and no stream of one', async () => {
    const pause = await connectTo(superuser);
    await pause.query("select pg_create_physical_replication_slot('ours', true)");
    atEndOfTest(async () => query(superuser, "select pg_drop_replication_slot('ours')"));
    for (const command of [
      'BASE_BACKUP',
      'base_backup (checkpoint fast)',
      'BASE_BACKUP;',
      'UPLOAD_MANIFEST',
      'TIMELINE_HISTORY 1',
      'READ_REPLICATION_SLOT ours',
      'ALTER_REPLICATION_SLOT ours (FAILOVER true)',
      'CREATE_REPLICATION_SLOT mine PHYSICAL',
      'CREATE_REPLICATION_SLOT mine TEMPORARY PHYSICAL RESERVE_WAL',
      'CREATE_REPLICATION_SLOT mine LOGICAL pgoutput (FAILOVER true)',
      'CREATE_REPLICATION_SLOT mine LOGICAL "/tmp/library"',
      'CREATE_REPLICATION_SLOT mine LOGICAL pgoutput; BASE_BACKUP',
      'START_REPLICATION 0/0',
      'START_REPLICATION PHYSICAL 0/0',
      'START_REPLICATION SLOT ours PHYSICAL 0/0',
      'START_REPLICATION SLOT ours 0/0',
    ])
      await refuses(branch.uri, command, /TIMELINE|;/.test(command) ? codeOf(command) : '0A000');
    await refuses(branch.uri, 'START_REPLICATION SLOT ours LOGICAL 0/0', '55000');
    await refuses(branch.uri, 'DROP_REPLICATION_SLOT ours', '42704');
    for (const command of [
      '/**/ BASE_BACKUP',
      '; BASE_BACKUP',
      'select 1; BASE_BACKUP',
      '\uFEFFBASE_BACKUP',
      'BASE_BACKUP \\',
    ])
      await refuses(branch.uri, command, '42601');
    assert.deepEqual(await query(superuser, 'select slot_name from pg_replication_slots'), ['ours']);
  });

  it('reaches no slot of another database', async () => {
    const other = await replicate(at('other'));
    await other.query('CREATE_REPLICATION_SLOT theirs LOGICAL pgoutput');
    await refuses(branch.uri, 'DROP_REPLICATION_SLOT theirs', '42704');
    await refuses(branch.uri, 'DROP_REPLICATION_SLOT "theirs" WAIT', '42704');
    await refuses(
      branch.uri,
      "START_REPLICATION SLOT theirs LOGICAL 0/0 (proto_version '1', publication_names 'p')",
      '55000',
    );
    await other.query('DROP_REPLICATION_SLOT theirs');
    await other.end();
  });

  it('shares it with no role that SQL has created, and with no reader', async () => {
    await query(branch.uri, "create role by_sql login createrole createdb password 'x'");
    const bySql = branch.uri.replace(/\/\/[^@]*@/, '//by_sql:x@');
    for (const command of ['IDENTIFY_SYSTEM', 'CREATE_REPLICATION_SLOT mine LOGICAL pgoutput'])
      await refuses(bySql, command, '42501');
    await assert.rejects(query(branch.uri, 'grant pg_signal_backend to by_sql'), { code: '42501' });
    const password = await branch.service.engine.startForReader('br-main', branch.compute.id);
    await refuses(
      branch.uri.replace(/\/\/[^@]*@/, `//service_reader:${password}@`),
      'IDENTIFY_SYSTEM',
      '42501',
    );
    await assert.rejects(replicate(bySql.replace(':x@', ':wrong@')), { code: '28P01' });
  });

  it('is not mistaken for a part of the service', async () => {
    for (const options of [
      { application_name: 'Service_Rehearsal' },
      { options: '-c application_name=service_rehearsal' },
    ]) {
      const client = await replicate(branch.uri, options);
      await assert.rejects(client.query('IDENTIFY_SYSTEM'), { code: '42501' });
      await client.end();
    }
    const client = await replicate(branch.uri, { options: '-c application_name=service_rehearsal' });
    await client.query("set application_name = ''");
    await client.query('IDENTIFY_SYSTEM');
    assert.deepEqual(
      await query(
        superuser,
        "select application_name from pg_stat_activity where backend_type = 'walsender'",
      ),
      ['replication'],
    );
    await client.end();
  });

  it('leaves the slots of our own copies free', async () => {
    const client = await replicate(branch.uri);
    for (let slot = 0; slot < 10; slot += 1)
      await client.query(`CREATE_REPLICATION_SLOT full_${slot} LOGICAL pgoutput (SNAPSHOT 'nothing')`);
    await assert.rejects(client.query('CREATE_REPLICATION_SLOT full_10 LOGICAL pgoutput'), { code: '53400' });
    await branch.service.engine.createBranch({ id: 'br-copy', parentId: 'br-main' });
    for (let slot = 0; slot < 10; slot += 1) await client.query(`DROP_REPLICATION_SLOT full_${slot}`);
    const clients = [client];
    for (let count = 1; count < 10; count += 1) clients.push(await replicate(branch.uri));
    for (const each of clients) await each.query('IDENTIFY_SYSTEM');
    await refuses(branch.uri, 'IDENTIFY_SYSTEM', '53300');
    for (const each of clients) await each.end();
  });
});

/** Numbers and what follows the end of a command make it SQL, which ordinary sessions don't understand. */
const codeOf = (command: string): string => (/^\w+;$|^[^;]*; /.test(command) ? '0A000' : '42601');
