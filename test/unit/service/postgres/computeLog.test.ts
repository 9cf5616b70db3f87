import assert from 'node:assert/strict';
import { ComputeLog } from '../../../../src/service/postgres/computeLog.ts';

describe('ComputeLog', () => {
  it('prints what is no routine, and keeps all with times', () => {
    const printed: string[] = [];
    const log = new ComputeLog((line) => printed.push(line));
    const onLine = log.listener();
    onLine('LOG:  database system is ready to accept connections');
    onLine('FATAL:  terminating autovacuum process due to administrator command');
    onLine('ERROR:  relation "a" does not exist');
    onLine('\tselect 1');
    log.note('Postgres exited with 1');
    assert.deepEqual(printed, [
      'ERROR:  relation "a" does not exist',
      '\tselect 1',
      'Postgres exited with 1',
    ]);
    const times = log.lines.map((line) => /^\d{4}-\d\d-\d\dT[\d:.]+Z (?=\S)/.test(line));
    assert.deepEqual(times, [true, true, true, false, true]);
  });

  it('keeps the last lines of an endless log', () => {
    const log = new ComputeLog(() => undefined);
    for (let number = 0; number < 1000; number += 1) log.keep(`${number} ${'x'.repeat(1000)}`);
    assert.match(log.lines.at(-1) ?? '', / 999 x/);
    assert.ok(log.lines.length > 150 && log.lines.length < 200, String(log.lines.length));
    log.keep('y'.repeat(300_000));
    assert.deepEqual(log.lines, []);
    log.keep('z');
    assert.equal(log.lines.length, 1);
  });
});
