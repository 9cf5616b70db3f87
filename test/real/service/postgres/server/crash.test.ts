/** A Postgres one of whose processes crashes. */
import assert from 'node:assert/strict';
import { eventually, query } from '../clients.ts';
import { superuserUri } from '../controlPlane.ts';
import { useBranch } from '../useBranch.ts';

describe('a crash of a process of Postgres', () => {
  const branch = useBranch();

  it('ends the server, which is reported, stopped at once, and started by the next client', async () => {
    const { service, compute, uri } = branch;
    await query(uri, 'create table kept as select n from generate_series(1, 1000) n');
    const writer = "select pid from pg_stat_activity where backend_type = 'walwriter'";
    const [pid] = await query(superuserUri(service, uri), writer);
    process.kill(Number(pid), 'SIGKILL');
    await eventually(() => service.crashed.length > 0);
    const reason = String(service.crashed[0]?.reason);
    // For an administrator of Windows, pg_ctl has started the server, and its exit code isn't known.
    if (process.platform === 'win32') assert.match(reason, /^Postgres (ended with code 1|has ended)/);
    else
      assert.match(
        reason,
        /^Postgres ended with code 1: WAL writer process \(PID \d+\) was terminated by signal 9: Killed$/,
      );
    await service.engine.suspend(compute.id);
    assert.ok(!service.log.some((line) => line.includes('immediate shutdown')), service.log.join('\n'));
    assert.deepEqual(await query(uri, 'select count(*)::int from kept'), [1000]);
  });
});
