import assert from 'node:assert/strict';
import { runEachCommand } from './eachCommand.ts';

describe('Without an account', () => {
  it('every command asks or explains itself, and ends', async () => {
    assert.deepEqual(await runEachCommand(['hostedPostgres.localService.start']), []);
  });
});
