import assert from 'node:assert/strict';
import { mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { worktreeOf } from '../../../../src/model/workBranch/worktrees.ts';
import { createRepository } from '../../../helpers/gitRepository.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';

describe('worktreeOf', () => {
  it('returns the innermost worktree around a folder', async () => {
    const repository = createRepository();
    const { folder } = repository;
    const inner = path.join(folder, '.claude', 'worktrees', 'task');
    repository.git('worktree', 'add', '--quiet', inner);
    for (const root of [folder, inner]) {
      mkdirSync(path.join(root, 'packages', 'api'), { recursive: true });
      assert.equal(await worktreeOf(path.join(root, 'packages', 'api')), root);
      assert.equal(await worktreeOf(root), root);
    }
  });

  it('returns a folder that is not in a repository, or does not exist', async () => {
    const folder = realpathSync(temporaryFolder());
    assert.equal(await worktreeOf(folder), folder);
    assert.equal(await worktreeOf(path.join(folder, 'missing')), path.join(folder, 'missing'));
  });
});
