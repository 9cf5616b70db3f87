import assert from 'node:assert/strict';
import { DidNotStart } from '../helpers/localService.ts';

/** For `assert.rejects`: a start that came to nothing, with this exit code and one line of words. */
export const didNotStart = (exitCode: number, words: RegExp) => (error: unknown) => {
  assert(error instanceof DidNotStart, String(error));
  assert.equal(error.exitCode, exitCode, error.stderr);
  assert.match(error.stderr, words);
  assert.equal(error.stderr.trim().split('\n').length, 1, error.stderr);
  return true;
};
