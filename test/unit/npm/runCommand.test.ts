import assert from 'node:assert/strict';
import { runShellCommand } from '../../../src/npm/runCommand.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const listeners = () => SIGNALS.map((signal) => process.listenerCount(signal));

describe('A command of npx', () => {
  it('gets the signals to this program only while it runs', async () => {
    const before = listeners();
    const command = runShellCommand(`"${process.execPath}" -e "process.exit(7)"`, process.env);
    assert.deepEqual(
      listeners(),
      before.map((count) => count + 1),
    );
    assert.equal(await command, 7);
    assert.deepEqual(listeners(), before);
  });
});
