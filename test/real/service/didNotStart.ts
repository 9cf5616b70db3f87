import assert from 'node:assert/strict';
import { DidNotStart } from '../../helpers/localService.ts';

/** For `assert.rejects`: the service did not start, with this exit code and a message of one line. */
export const didNotStart = (exitCode: number, message: RegExp) => (error: unknown) => {
  assert(error instanceof DidNotStart, String(error));
  assert.equal(error.exitCode, exitCode, error.stderr);
  assert.match(error.stderr, message);
  assert.equal(error.stderr.trim().split('\n').length, 1, error.stderr);
  return true;
};
