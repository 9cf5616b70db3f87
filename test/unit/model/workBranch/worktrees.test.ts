import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { findRepository } from '../../../../src/model/workBranch/gitState.ts';
import { otherWorktrees, worktreeOf } from '../../../../src/model/workBranch/worktrees.ts';
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

describe('otherWorktrees', () => {
  it('are all but this one, without entries that git has not finished', async () => {
    const repository = createRepository();
    const { folder } = repository;
    const [one, two] = ['one', 'two'].map((name) => path.join(folder, name)) as [string, string];
    for (const linked of [one, two]) repository.git('worktree', 'add', '--quiet', linked);
    mkdirSync(path.join(folder, '.git', 'worktrees', 'unfinished'));
    const others = async (of: string) =>
      (await otherWorktrees((await findRepository(of)) ?? assert.fail())).toSorted();
    assert.deepEqual(await others(folder), [one, two]);
    assert.deepEqual(await others(one), [folder, two]);
    // The same folder under another name, such as one with a lowercase drive on Windows.
    const link = path.join(temporaryFolder(), 'link');
    symlinkSync(folder, link, 'junction');
    assert.deepEqual(await others(link), [one, two]);
    rmSync(path.join(folder, '.git', 'worktrees'), { recursive: true });
    assert.deepEqual(await others(folder), []);
  });
});
