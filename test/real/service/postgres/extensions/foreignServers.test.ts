/**
 * What owners reach by extensions that connect to other servers or read documents: no file and no socket of the machine, and
 * no database without its password.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { storageOf } from '../../../../helpers/branchCalls.ts';
import { query, runStatements } from '../clients.ts';
import { useOwner } from './useOwner.ts';

describe('extensions that reach other servers', () => {
  const owner = useOwner();
  const { values, rejects, create } = owner;

  it('reach no file and no socket of the machine', async function () {
    if (process.platform === 'win32') return this.skip(); // It has no folder of sockets.
    for (const name of ['dblink', 'postgres_fdw', 'xml2']) await create(name);
    const sockets = path.join(storageOf(owner.service), 'sockets');
    const folder = path.join(sockets, readdirSync(sockets)[0] ?? '');
    const { password } = new URL(owner.uri);
    const login = `user=app_owner password=${password} dbname=app port=${owner.compute.address.port}`;
    const log = path.join(owner.scratch, 'log');
    for (const text of [
      `host=127.0.0.1 ${login} sslmode=require sslkeylogfile=${log}`,
      `host=127.0.0.1 ${login} sslkeylogfile = '${log}'`,
      `host=127.0.0.1 application_name='x'sslkeylogfile='${log}' ${login}`,
      `host='127.0.0.1'\t${login}\nsslkeylogfile=${log}`,
      `host=127.0.0.1 application_name=a\\ b passfile=/etc/passwd ${login}`,
      `host=127.0.0.1 application_name='a\\' passfile=/etc/passwd ${login}`,
      `host=127.0.0.1 ${login} options='a\\'' service=local`,
      `host=${folder} ${login}`,
      `host='${folder}' ${login}`,
      `host=127.0.0.1,${folder} ${login}`,
      `host=@abstract ${login}`,
      `host=127.0.0.1, ${login}`,
      `host='' ${login}`,
      `service=local ${login}`,
      `sslkey=/etc/ssl/private/key ${login}`,
      `sslrootcert=/etc/passwd ${login}`,
      `postgresql://app_owner:x@127.0.0.1/app?sslkeylogfile=${log}`,
      `postgresql://app_owner:x@127.0.0.1/app?sslmode=require&sslkeylogfil%65=${log}`,
      `postgres://app_owner:x@${encodeURIComponent(folder)}/app`,
      `postgresql://app_owner:x@127.0.0.1,%2Ftmp/app`,
      `postgresql://app_owner:x@a,:5432/app`,
      `postgresql:///app?host=${folder}`,
      `postgresql://app_owner:x@127.0.0.1/app?service=local`,
      // libpq takes all before an `@` for the user, and what follows it for the host.
      `postgresql://127.0.0.1?application_name=x@${encodeURIComponent(folder)}/app`,
      `postgresql://127.0.0.1?application_name=x@127.0.0.1/app`,
      // And all up to a space for the first value.
      `host=127.0.0.1,bdbname=,${folder} ${login}`,
      `sslrootcert=systemdbname=app ${login}`,
    ])
      for (const call of DBLINK_CALLS)
        await assert.rejects(owner.query(`select ${call}`, [text]), { code: '23514' }, `${call} ${text}`);
    for (const wrapper of ['postgres_fdw', 'dblink_fdw']) {
      for (const option of [
        `host '${folder}'`,
        "host ''",
        "host '127.0.0.1,/tmp'",
        "host '127.0.0.1,'",
        "host '@x'",
        "hostaddr '/tmp'",
        "service 'local'",
        "passfile '/etc/passwd'",
        "sslkey '/etc/passwd'",
        "sslcert '/etc/passwd'",
        "sslcrl '/x'",
        "sslcrldir '/x'",
        "requirepeer 'none'",
        "sslrootcert '/etc/passwd'",
        `sslkeylogfile '${log}'`,
      ])
        await rejects(`create server s foreign data wrapper ${wrapper} options (${option})`);
      await owner.query(`create server s foreign data wrapper ${wrapper} options (host '127.0.0.1')`);
      await rejects(`alter server s options (set host '${folder}')`);
      await rejects("alter server s options (add service 'x')");
      await rejects("create user mapping for app_owner server s options (user 'x', sslkey '/etc/passwd')");
      await owner.query('drop server s cascade');
    }
    // Without a host, libpq would take the default socket.
    const loopback = { detail: /connection to server at "127\.0\.0\.1", port \d+ failed/ };
    await rejects("select dblink_connect('port=1 password=x')", loopback);
    await rejects("select dblink_connect('postgresql://a:b@:1/app')", { code: '23514' });
    await rejects("select dblink_connect('postgresql://a:b@/app?connect_timeout=2')", loopback);
    assert.equal(existsSync(log), false);
    const file = path.join(owner.scratch, 'secret');
    writeFileSync(file, 'a secret');
    const document = `<!DOCTYPE a [<!ENTITY e SYSTEM "file://${file}">]><a>&e;</a>`;
    const found = await values(`select xpath_string('${document}', '/a')`).catch(String);
    assert.doesNotMatch(String(found), /secret</);
    for (const sql of [
      `select xslt_process('<a/>', '<x:stylesheet xmlns:x="http://www.w3.org/1999/XSL/Transform" version="1.0"/>')`,
      `select pg_read_file('${file}')`,
      `copy things from '${file}'`,
      "copy things to program 'true'",
      "select pg_ls_dir('/')",
      `select lo_import('${file}')`,
    ])
      await rejects(sql);
  });

  it('connect to no database without its password', async () => {
    for (const name of ['dblink', 'postgres_fdw']) await create(name);
    const other = await owner.service.create({ branchId: 'br-other' });
    const otherUri = new URL(await owner.service.uri(other));
    await query(otherUri.href, 'create table secrets (word text)');
    const { password } = new URL(owner.uri);
    for (const [port, user, given] of [
      [owner.compute.address.port, 'postgres', 'x'],
      [owner.compute.address.port, 'postgres', ''],
      [owner.compute.address.port, 'replicator', password],
      [other.address.port, 'app_owner', password],
      [other.address.port, 'postgres', password],
    ] as const) {
      const text = `host=127.0.0.1 port=${port} dbname=app user=${user}${given && ` password=${given}`}`;
      await rejects(`select dblink_connect('${text}')`, { detail: /password/i });
      await owner.query(`create server s foreign data wrapper postgres_fdw options (host '127.0.0.1', port '${port}', dbname 'app');
        create user mapping for app_owner server s options (user '${user}'${given && `, password '${given}'`});
        create foreign table secrets (word text) server s`);
      await rejects('select * from secrets', (error: unknown) => /password/i.test(JSON.stringify(error)));
      await rejects(
        "alter user mapping for app_owner server s options (add password_required 'false')",
        /password_required=false is superuser-only/,
      );
      await owner.query('drop server s cascade');
    }
    // The extensions do what they are for, once they have the password.
    const target = `host=127.0.0.1 port=${other.address.port} dbname=app user=app_owner password=${otherUri.password}`;
    assert.deepEqual(await values(`select * from dblink('${target}', 'select 7') as t (n int)`), [7]);
    const insert = `select dblink_exec('${otherUri.href}', 'insert into secrets values (1)')`;
    assert.deepEqual(await values(insert), ['INSERT 0 1']);
    assert.deepEqual(await values(`select dblink_connect('name', '${target} sslmode=require')`), ['OK']);
    const named = "select n from dblink('name'::text, 'select 8'::text) as t (n int)";
    assert.deepEqual(await values(named), [8]);
    assert.deepEqual(await values("select dblink_disconnect('name')"), ['OK']);
  });

  it('belong to a role that can be deleted, with its servers', async () => {
    const { engine } = owner.service;
    const { password } = await engine.changeCatalog('br-main', {
      kind: 'createRole',
      name: 'leaver',
      canLogin: true,
    });
    await runStatements(
      owner.uri,
      'grant create on database app to leaver; create schema of_leaver; grant all on schema of_leaver to leaver',
    );
    const leaver = owner.uri.replace(/\/\/.*@/, `//leaver:${password}@`);
    await runStatements(owner.uri, 'drop extension if exists postgres_fdw cascade');
    await runStatements(
      leaver,
      `create extension postgres_fdw schema of_leaver; create server s foreign data wrapper postgres_fdw;
        create user mapping for public server s options (user 'x', password 'y')`,
    );
    await engine.changeCatalog('br-main', { kind: 'deleteRole', name: 'leaver' });
    assert.deepEqual(
      await query(owner.uri, "select srvowner::regrole::text from pg_foreign_server where srvname = 's'"),
      ['app_owner'],
    );
  });

  it('leave the rows of other servers alone when a copy of the schema is made', async () => {
    const rows = await owner.service.create({ branchId: 'br-rows' });
    const rowsUri = new URL(await owner.service.uri(rows));
    await runStatements(rowsUri.href, 'create table part (n int); insert into part values (7)');
    const source = await owner.service.create({ branchId: 'br-source' });
    const sourceUri = await owner.service.uri(source);
    await runStatements(
      sourceUri,
      `create extension postgres_fdw;
        create server s foreign data wrapper postgres_fdw options (host '127.0.0.1', port '${rows.address.port}', dbname 'app');
        create user mapping for public server s options (user 'app_owner', password '${rowsUri.password}');
        create table whole (n int) partition by range (n);
        create foreign table part partition of whole for values from (5) to (9) server s;
        create table own partition of whole for values from (1) to (5); insert into own values (2)`,
    );
    assert.deepEqual(await query(sourceUri, 'select * from whole order by n'), [2, 7]);
    await owner.service.engine.createBranch({ id: 'br-schema', parentId: 'br-source', isSchemaOnly: true });
    const copy = await owner.service.create({ branchId: 'br-schema' });
    const copyUri = sourceUri.replace(/:\d+\/app$/, `:${copy.address.port}/app`);
    assert.deepEqual(await query(copyUri, 'select * from whole'), [7]);
    assert.deepEqual(await query(rowsUri.href, 'select * from part'), [7]);
  });
});

const DBLINK_CALLS = [
  'dblink_connect($1)',
  "dblink_connect('a', $1)",
  "dblink_exec($1, 'select 1')",
  "dblink_exec($1, 'select 1', true)",
  "(select x from dblink($1, 'select 1') as t (x int))",
  "(select x from dblink($1, 'select 1', false) as t (x int))",
];
