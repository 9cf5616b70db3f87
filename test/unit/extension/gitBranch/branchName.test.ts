import assert from 'node:assert/strict';
import { databaseBranchName, distinctBranchName } from '../../../../src/extension/gitBranch/branchName.ts';

const names: readonly (readonly [gitBranch: string, name: string])[] = [
  ['main', 'main'],
  ['feature/billing-ui', 'feature/billing-ui'],
  ['Feature/PROJ-123_Add  Billing!!', 'feature/proj-123-add-billing'],
  ['--feature--/__billing__', 'feature/billing'],
  ['feature/é/x', 'feature/x'],
  ['Größe', 'gr-e'],
  ['日本', 'branch'],
  ['a'.repeat(300), 'a'.repeat(256)],
  [`${'a'.repeat(255)}/b`, 'a'.repeat(255)],
];

describe('databaseBranchName', () => {
  for (const [gitBranch, name] of names)
    it(`makes ${name.slice(0, 30)} of ${gitBranch.slice(0, 30)}`, () => {
      assert.equal(databaseBranchName(gitBranch), name);
    });
});

describe('distinctBranchName', () => {
  it('differs for git branches whose names are equal once they are safe', () => {
    const [one, other] = [distinctBranchName('fix/a_b'), distinctBranchName('fix/a.b')];
    assert.match(one, /^fix\/a-b-[0-9a-f]{4}$/);
    assert.notEqual(one, other);
    assert.equal(distinctBranchName('a'.repeat(300)).length, 256);
  });
});
