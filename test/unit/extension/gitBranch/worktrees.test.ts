import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findRepository } from '../../../../src/base/git/repository.ts';
import { listOtherWorktrees, findWorktree } from '../../../../src/extension/gitBranch/worktrees.ts';
import { createRepository } from '../../../helpers/gitRepository.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';

describe('findWorktree', () => {
  it('returns the innermost worktree around a folder', async () => {
    const repository = createRepository();
    const { folder } = repository;
    const inner = path.join(folder, '.claude', 'worktrees', 'task');
    repository.git('worktree', 'add', '--quiet', inner);
    for (const root of [folder, inner]) {
      mkdirSync(path.join(root, 'packages', 'api'), { recursive: true });
      assert.equal(await findWorktree(path.join(root, 'packages', 'api')), root);
      assert.equal(await findWorktree(root), root);
    }
  });

  it('returns a folder that is not in a repository, or does not exist', async () => {
    const folder = realpathSync(temporaryFolder());
    assert.equal(await findWorktree(folder), folder);
    assert.equal(await findWorktree(path.join(folder, 'missing')), path.join(folder, 'missing'));
  });
});

function withLinkedWorktree() {
  const repository = createRepository();
  const linked = path.join(repository.folder, '..', 'linked');
  repository.git('worktree', 'add', '--quiet', linked);
  return { repository, linked };
}

const repositoryOf = async (folder: string) => (await findRepository(folder)) ?? assert.fail();

describe('listOtherWorktrees', () => {
  it('are all but this one, without entries that git has not finished', async () => {
    const repository = createRepository();
    const { folder } = repository;
    const [one, two] = ['one', 'two'].map((name) => path.join(folder, name)) as [string, string];
    for (const linked of [one, two]) repository.git('worktree', 'add', '--quiet', linked);
    mkdirSync(path.join(folder, '.git', 'worktrees', 'unfinished'));
    const others = async (of: string) => (await listOtherWorktrees(await repositoryOf(of))).toSorted();
    assert.deepEqual(await others(folder), [one, two]);
    assert.deepEqual(await others(one), [folder, two]);
    // The same folder under another name, such as one with a lowercase drive on Windows.
    const link = path.join(temporaryFolder(), 'link');
    symlinkSync(folder, link, 'junction');
    assert.deepEqual(await others(link), [one, two]);
    rmSync(path.join(folder, '.git', 'worktrees'), { recursive: true });
    assert.deepEqual(await others(folder), []);
  });

  it('reads the relative paths that git 2.48 writes', async () => {
    const { repository, linked } = withLinkedWorktree();
    const entry = path.join(repository.folder, '.git', 'worktrees', 'linked');
    writeFileSync(path.join(entry, 'gitdir'), `${path.relative(entry, path.join(linked, '.git'))}\n`);
    writeFileSync(path.join(linked, '.git'), `gitdir: ${path.relative(linked, entry)}\n`);
    assert.equal(repository.at(linked).git('branch', '--show-current'), 'linked\n');
    assert.deepEqual(await listOtherWorktrees(await repositoryOf(repository.folder)), [linked]);
    assert.deepEqual(await listOtherWorktrees(await repositoryOf(linked)), [repository.folder]);
  });

  it('skips an entry whose file is a FIFO or a link out of it', async function () {
    if (process.platform === 'win32') return this.skip();
    const { repository } = withLinkedWorktree();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'link'])
      mkdirSync(path.join(repository.folder, '.git', 'worktrees', name));
    const file = (name: string) => path.join(repository.folder, '.git', 'worktrees', name, 'gitdir');
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) execFileSync('mkfifo', [file(name)]);
    symlinkSync('/dev/zero', file('link'));
    assert.equal((await listOtherWorktrees(await repositoryOf(repository.folder))).length, 1);
  });
});
