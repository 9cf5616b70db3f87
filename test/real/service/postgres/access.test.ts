import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { connectTo, eventually, query } from './clients.ts';
import { useBranch } from './useBranch.ts';

describe('access to a compute', () => {
  const branch = useBranch();
  before(async () => {
    await query(branch.uri, 'select 1');
  });

  const as = (user: string, password: string) => branch.uri.replace(/\/\/.*@/, `//${user}:${password}@`);

  const passwordOf = async (role: string) => (await branch.service.engine.catalog('br-main', role)).password;

  it('requires a password from every role', async () => {
    for (const [user, password] of [
      ['app_owner', 'wrong'],
      ['postgres', 'postgres'],
      ['service_replicator', 'wrong'],
      ['nobody', 'x'],
    ] as const) {
      await assert.rejects(query(as(user, password), 'select 1'), { code: '28P01' }, user);
    }
    await assert.rejects(query(branch.uri.replace(/:[^:@/]+@/, '@'), 'select 1'), /password/i);
  });

  it('gives the branch role rights on its database, but not on the server and its files', async () => {
    assert.deepEqual(await query(branch.uri, 'select current_user::text'), ['app_owner']);
    await query(branch.uri, 'create table public.mine (id int)');
    for (const sql of [
      'alter system set work_mem = 1',
      "copy (select 1) to '/tmp/out'",
      "copy (select 1) to program 'true'",
      "select pg_read_file('postgresql.conf')",
      'select rolpassword from pg_authid',
      'alter role postgres password null',
    ]) {
      await assert.rejects(query(branch.uri, sql), { code: '42501' }, sql);
    }
  });

  it('logs no data from errors', async () => {
    await query(branch.uri, "create table public.held as select 'word of a row' as word");
    await query(branch.uri, 'create unique index on public.held (word)');
    for (const statement of [
      "insert into public.held values ('word of a row')",
      "select 'word of a statement'::int",
      "do $$ begin raise warning 'word of a warning'; end $$",
    ])
      await query(branch.uri, statement).catch(() => undefined);
    // This failed login is logged, so earlier lines would be in the log by then.
    await assert.rejects(query(as('stranger', 'x'), 'select 1'));
    await eventually(() => branch.service.log.some((line) => line.includes('"stranger"')));
    assert.ok(!branch.service.log.some((line) => line.includes('word of')), branch.service.log.join('\n'));
  });

  it('uses different passwords on each branch', async () => {
    const other = await branch.service.create({ branchId: 'br-other' });
    const password = await passwordOf('app_owner');
    const wrong = `postgresql://app_owner:${password}@127.0.0.1:${other.address.port}/app`;
    await assert.rejects(query(wrong, 'select 1'), { code: '28P01' });
  });

  it('creates only private folders and files', function () {
    if (process.platform === 'win32') return this.skip(); // It has no modes.
    const root = path.join(branch.service.dataDir, 'postgres');
    const open = [
      root,
      ...readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => path.join(root, name)),
    ].filter((file) => ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
    assert.deepEqual(open, []);
  });

  it('runs servers that listen on loopback only', async function () {
    if (process.platform !== 'linux') return this.skip();
    const client = await connectTo(branch.uri);
    const [row] = (await client.query('show listen_addresses')).rows;
    assert.deepEqual(row, { listen_addresses: '127.0.0.1' });
    await client.end();
    // No password on any command line.
    const password = await passwordOf('app_owner');
    assert.ok(password && !execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes(password));
  });
});
