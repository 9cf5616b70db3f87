import assert from 'node:assert/strict';
import { runEachCommand } from './eachCommand.ts';

describe('the commands without an account', () => {
  it('prompt or show a message, and end', async () => {
    assert.deepEqual(await runEachCommand(['hostedPostgres.localService.start']), []);
  });
});
