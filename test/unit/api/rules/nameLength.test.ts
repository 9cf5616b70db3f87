import assert from 'node:assert/strict';
import { isName } from '../../../../src/api/rules/nameLength.ts';

describe('The length of a name', () => {
  it('counts characters, of which some have two code units', () => {
    assert(isName('𝛼'.repeat(64), 64));
    assert(!isName('𝛼'.repeat(65), 64));
  });
});
