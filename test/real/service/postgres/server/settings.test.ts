import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ComputeSpec } from '../../../../../src/service/core/computeEngine.ts';
import { connectTo, query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';

describe('size and settings of a compute', () => {
  let service: ControlPlane;
  let compute: ComputeSpec;
  before(async () => {
    service = await startControlPlane();
    compute = await service.create();
  });

  const show = async (name: string) => (await query(await service.uri(compute), `show ${name}`))[0];

  it('derives max_connections from the minimum size, and the expected cache from the maximum size', async () => {
    compute = await service.change(compute, { minCu: 0.5, maxCu: 4 });
    assert.equal(await show('max_connections'), '225');
    assert.equal(await show('shared_buffers'), '128MB');
    assert.equal(await show('effective_cache_size'), '13107MB');
  });

  it('drops connections when the size changes', async () => {
    const client = await connectTo(await service.uri(compute));
    const isRunning = once(client, 'notice');
    const query = assert.rejects(
      client.query("do $$ begin raise notice 'running'; perform pg_sleep(30); end $$"),
      { code: '57P01' },
    );
    await isRunning;
    compute = await service.change(compute, { minCu: 1, maxCu: 4 });
    await query;
    assert.equal(await show('max_connections'), '450');
  });

  it('keeps connections during a change without a restart', async () => {
    const client = await connectTo(await service.uri(compute));
    compute = await service.change(compute, {});
    assert.equal((await client.query('select 1 as one')).rows.length, 1);
  });

  it('applies pg_settings', async () => {
    compute = await service.change(compute, {
      pgSettings: {
        work_mem: '17MB',
        Statement_Timeout: '12345',
        jit: 'off',
        'app.note': "it's \\ here",
        // A language could have such a name, but no library has it.
        'platform.tenant_id': '7',
        'plpgsql.variable_conflict': 'use_column',
        'pg_stat_statements.track': 'all',
        autovacuum_naptime: '7min',
        max_locks_per_transaction: '65',
        log_min_duration_statement: '5s',
      },
    });
    assert.equal(await show('work_mem'), '17MB');
    assert.equal(await show('statement_timeout'), '12345ms');
    assert.equal(await show('jit'), 'off');
    assert.equal(await show('app.note'), "it's \\ here");
    assert.equal(await show('platform.tenant_id'), '7');
    // No session may set these, but an operator may.
    assert.equal(await show('plpgsql.variable_conflict'), 'use_column');
    assert.equal(await show('pg_stat_statements.track'), 'all');
    assert.equal(await show('autovacuum_naptime'), '7min');
    assert.equal(await show('max_locks_per_transaction'), '65');
    assert.equal(await show('log_min_duration_statement'), '5s');
  });

  for (const [what, pgSettings, message] of [
    ['an unknown setting', { work_memory: '1MB' }, /unrecognized configuration parameter "work_memory"/],
    ['a value of the wrong kind', { work_mem: 'much' }, /invalid value for parameter "work_mem": "much"/],
    ['a value out of range', { work_mem: '1kB' }, /1 kB is outside the valid range for parameter "work_mem"/],
    ['a value with a line in it', { 'app.x': "1'\nfsync = off" }, /invalid value for parameter "app.x"/],
    ['an invalid name', { "x = 1'": '1' }, /unrecognized configuration parameter/],
    ['max_connections', { max_connections: '7' }, /"max_connections" cannot be changed: .* compute size/],
    ['shared_buffers', { SHARED_BUFFERS: '1GB' }, /"shared_buffers" cannot be changed/],
    ['a listening address', { listen_addresses: '*' }, /"listen_addresses" cannot be changed/],
    ['the kind of its shared memory', { shared_memory_type: 'mmap' }, /it follows from the machine/],
    ['a program to run', { archive_command: 'touch /tmp/x' }, /"archive_command" cannot be changed/],
    [
      'a library to load',
      { session_preload_libraries: 'x' },
      /"session_preload_libraries" cannot be changed/,
    ],
    [
      'code of a language',
      { 'plperl.on_init': 'system("touch x")' },
      /may belong to the library plperl, which/,
    ],
    ['a function of a language', { 'PLTclU.start_proc': 'x' }, /"pltclu.start_proc" .* library pltcl, which/],
    ['a file of a library', { 'basic_archive.archive_directory': '/x' }, /library basic_archive, which/],
    ['another file to read', { include: '/etc/passwd' }, /unrecognized configuration parameter "include"/],
    [
      'what Postgres has for its developers',
      { allow_in_place_tablespaces: 'on' },
      /unrecognized configuration parameter "allow_in_place_tablespaces", or one .* leaves out/,
    ],
    ['what the service sets itself', { wal_recycle: 'on' }, /"wal_recycle" cannot be changed: the service/],
    [
      'what a crash does',
      { restart_after_crash: 'on' },
      /"restart_after_crash" cannot be .*the service sets it/,
    ],
    ['the form of the log', { log_error_verbosity: 'verbose' }, /"log_error_verbosity" cannot be/],
    [
      'what belongs to a group that is closed',
      { session_replication_role: 'replica' },
      /cannot be changed: only the service sets what Postgres counts as “Client Connection Defaults/,
    ],
    ['a name that every object of JavaScript has', { constructor: 'x' }, /unrecognized .* "constructor"/],
    ['a limit that breaks copies', { max_slot_wal_keep_size: '1MB' }, /"max_slot_wal_keep_size" cannot be/],
    [
      'the copy of slots to a standby',
      { sync_replication_slots: 'on' },
      /"sync_replication_slots" cannot be changed: the service copies/,
    ],
    [
      'a file that a replica deletes',
      { promote_trigger_file: '/x' },
      /"promote_trigger_file" cannot be changed/,
    ],
    ['unsafe commits', { fsync: 'off' }, /"fsync" cannot be changed/],
  ] as const) {
    it(`rejects ${what} and keeps running unchanged`, async () => {
      const client = await connectTo(await service.uri(compute));
      await assert.rejects(service.change(compute, { pgSettings }), (error: Error) => {
        assert.match(error.message, message);
        // The user can't change the service's file, so it is not named.
        assert.doesNotMatch(error.message, /skipping|\.conf|\bfile\b.*\bline\b/);
        return true;
      });
      assert.equal((await client.query('show work_mem')).rows[0]?.work_mem, '17MB');
    });
  }

  it('rejects what a compute was created with at each start', async () => {
    await service.engine.createBranch({ id: 'br-created' });
    const pgSettings = { archive_mode: 'on', archive_command: 'touch /tmp/x' };
    const created = await service.create({ branchId: 'br-created', pgSettings });
    for (const _ of ['first', 'second'])
      await assert.rejects(service.engine.start(created), /"archive_mode" cannot be changed/);
  });

  it('restores the old settings if Postgres fails to start with the new ones', async () => {
    // A lock table of 2 TB: valid, but more than the memory of any test machine.
    const pgSettings = { max_locks_per_transaction: '2000000000' };
    await assert.rejects(
      service.change(compute, { pgSettings }),
      /shared memory|out of memory|invalid memory|exceeds|overflow/i,
    );
    assert.equal(await show('work_mem'), '17MB');
  });

  it('rejects an invalid setting of an idle compute', async () => {
    await service.engine.suspend(compute.id);
    await assert.rejects(service.change(compute, { pgSettings: { work_mem: 'much' } }), /invalid value/);
    assert.equal(await show('work_mem'), '17MB');
  });
});
