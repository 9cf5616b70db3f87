import assert from 'node:assert/strict';
import { readCommandLine } from '../../../src/npm/options.ts';

describe('The command line of npx hosted-postgres', () => {
  const rehearsal = (...args: readonly string[]) => readCommandLine(['rehearse', ...args]).rehearsal;

  it('takes the folder of a rehearsal before, between and after the options', () => {
    for (const args of [
      ['migrations', '--from', 'main', '--json'],
      ['--from', 'main', 'migrations', '--json'],
      ['--from', 'main', '--json', 'migrations'],
      ['--from', 'main', '--json', '--', 'migrations'],
    ]) {
      const { folder, from, json } = rehearsal(...args) ?? {};
      assert.deepEqual({ folder, from, json }, { folder: 'migrations', from: 'main', json: true });
    }
  });

  it('takes no part of a command without quotes for the folder', () => {
    assert.throws(() => rehearsal('--run', 'npm', 'test'), {
      message: 'Quote the command of --run, or put test before it',
    });
    assert.throws(() => rehearsal('sql', '--down', 'make', 'down'), /Quote the command of --down/);
    assert.deepEqual(rehearsal('sql', '--run', 'npm test')?.folder, 'sql');
  });

  it('refuses a second folder, and words without a rehearsal', () => {
    assert.throws(() => rehearsal('one', '--json', 'two'), /takes one folder, but got one and two/);
    assert.throws(() => readCommandLine(['migrations']), /Unexpected argument 'migrations'/);
  });
});
