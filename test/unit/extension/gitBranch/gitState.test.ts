import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createGitRunner } from '../../../../src/base/git/runGit.ts';
import {
  isDefaultBranch,
  readGitBranches,
  readGitState,
  type GitState,
} from '../../../../src/extension/gitBranch/gitState.ts';
import { findRepository } from '../../../../src/base/git/repository.ts';
import { createRepository, type GitRepository } from '../../../helpers/gitRepository.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';

const runGit = createGitRunner(() => 'git');

async function stateOf(folder: string): Promise<GitState> {
  const repository = await findRepository(folder);
  assert.ok(repository);
  return await readGitState(repository, runGit);
}

describe('readGitState', () => {
  let repository: GitRepository;
  const { git, file, commit, state } = {
    git: (...args: string[]) => repository.git(...args),
    file: (name: string, text: string) => writeFileSync(path.join(repository.folder, name), text),
    commit: (text: string) => {
      file('a.txt', text);
      git('add', 'a.txt');
      git('commit', '--quiet', `--message=${text}`);
    },
    state: () => stateOf(repository.folder),
  };
  /** Two branches that change the same line. */
  const diverge = () => {
    git('switch', '--quiet', '--create', 'other');
    commit('theirs');
    git('switch', '--quiet', 'main');
    commit('ours');
  };

  beforeEach(() => {
    repository = createRepository();
  });

  it('returns the branch, also before its first commit', async () => {
    assert.deepEqual(await state(), { branch: 'main', pause: undefined });
    git('switch', '--quiet', '--create', 'feature/Größe');
    assert.deepEqual(await state(), { branch: 'feature/Größe', pause: undefined });
    git('switch', '--quiet', '--orphan', 'new');
    assert.deepEqual(await state(), { branch: 'new', pause: undefined });
  });

  // Git from 2.45 on. The test machine's git may be older.
  it('asks git in a repository with reftable', async () => {
    writeFileSync(path.join(repository.folder, '.git', 'HEAD'), 'ref: refs/heads/.invalid\n');
    const found = await findRepository(repository.folder);
    assert.ok(found);
    const answer = (code: number, stdout: string) =>
      readGitState(found, async (_, ...args) => {
        assert.deepEqual(args, ['symbolic-ref', '--quiet', 'HEAD']);
        return { code, stdout, stderr: '' };
      });
    assert.deepEqual(await answer(0, 'refs/heads/feature/login\n'), {
      branch: 'feature/login',
      pause: undefined,
    });
    assert.deepEqual(await answer(1, ''), { branch: undefined, pause: 'detached' });
  });

  it('finds the repository from a folder inside it that may be gone or a file by now, and none outside', async () => {
    const inside = path.join(repository.folder, 'a', 'b');
    mkdirSync(inside, { recursive: true });
    file('c', '');
    for (const folder of [inside, path.join(inside, 'gone'), path.join(repository.folder, 'c')])
      assert.equal((await findRepository(folder))?.worktree, repository.folder);
    assert.equal(await findRepository(temporaryFolder()), undefined);
  });

  it('reports a detached HEAD, also at a tag or another reference than a branch', async () => {
    git('tag', 'v1');
    git('checkout', '--quiet', 'v1');
    assert.deepEqual(await state(), { branch: undefined, pause: 'detached' });
    git('symbolic-ref', 'HEAD', 'refs/stack/one');
    assert.deepEqual(await state(), { branch: undefined, pause: 'detached' });
  });

  it('reports a rebase that has stopped, and its end', async () => {
    diverge();
    assert.throws(() => git('rebase', '--quiet', 'other'));
    assert.equal((await state()).pause, 'rebase');
    git('rebase', '--abort');
    assert.throws(() => git('rebase', '--quiet', '--apply', 'other'));
    assert.equal((await state()).pause, 'rebase');
    git('rebase', '--abort');
    assert.deepEqual(await state(), { branch: 'main', pause: undefined });
  });

  it('reports a merge, a cherry-pick and a revert that have stopped', async () => {
    diverge();
    assert.throws(() => git('merge', '--quiet', 'other'));
    assert.deepEqual(await state(), { branch: 'main', pause: 'merge' });
    git('merge', '--abort');
    assert.throws(() => git('cherry-pick', 'other'));
    assert.equal((await state()).pause, 'cherryPick');
    git('cherry-pick', '--abort');
    commit('later');
    assert.throws(() => git('revert', '--no-edit', 'HEAD~1'));
    assert.equal((await state()).pause, 'revert');
    git('revert', '--abort');
    assert.equal((await state()).pause, undefined);
  });

  it('reports a bisection, although its first step leaves HEAD on a branch', async () => {
    git('bisect', 'start');
    assert.equal((await state()).pause, 'bisect');
    git('bisect', 'reset');
    assert.equal((await state()).pause, undefined);
  });

  it('reads a linked worktree separately, with the configuration of the first one', async () => {
    const folder = path.join(repository.folder, '..', 'linked');
    git('worktree', 'add', '--quiet', '-b', 'linked', folder);
    assert.deepEqual(await stateOf(folder), { branch: 'linked', pause: undefined });
    assert.deepEqual(await state(), { branch: 'main', pause: undefined });
    const [main, linked] = [await findRepository(repository.folder), await findRepository(folder)];
    assert.equal(linked?.commonDir, main?.gitDir);
    assert.notEqual(linked?.gitDir, main?.gitDir);
  });

  it('reads a submodule as a separate repository', async () => {
    const source = createRepository();
    git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source.folder, 'part');
    repository.at(path.join(repository.folder, 'part')).git('switch', '--quiet', '--create', 'inner');
    assert.equal((await stateOf(path.join(repository.folder, 'part'))).branch, 'inner');
    assert.equal((await state()).branch, 'main');
  });

  it('asks git in a repository with reftable', async function () {
    const folder = temporaryFolder();
    try {
      repository.at(folder).git('init', '--quiet', '--ref-format=reftable', '--initial-branch=tables');
    } catch {
      return this.skip(); // Git is older than 2.45.
    }
    assert.deepEqual(await stateOf(folder), { branch: 'tables', pause: undefined });
  });
});

describe('readGitBranches', () => {
  it('returns all branches, also those checked out in a worktree before their first commit', async () => {
    const repository = createRepository();
    repository.git('branch', 'feature/Ü');
    const folder = path.join(temporaryFolder(), 'linked');
    repository.git('worktree', 'add', '--quiet', '-b', 'linked', folder);
    repository.at(folder).git('switch', '--quiet', '--orphan', 'unborn');
    const branches = await readGitBranches(runGit, repository.folder);
    assert.deepEqual([...branches].toSorted(), ['feature/Ü', 'linked', 'main', 'unborn']);
  });

  it('throws instead of returning none if git fails', async () => {
    await assert.rejects(readGitBranches(runGit, temporaryFolder()), /not a git repository/);
    const silent = async () => ({ code: 1, stdout: '', stderr: '' });
    await assert.rejects(readGitBranches(silent, ''), { message: 'git failed' });
  });
});

describe('isDefaultBranch', () => {
  const isDefault = async ({ folder }: GitRepository, branch: string, ignoresCase = false) => {
    const found = await findRepository(folder);
    assert.ok(found);
    return await isDefaultBranch(found, branch, { ignoresCase }, runGit);
  };

  it('takes the usual names and the configured one without a remote', async () => {
    const repository = createRepository();
    repository.git('config', 'init.defaultBranch', 'trunk');
    const names = ['main', 'master', 'trunk', 'feature'];
    const found = await Promise.all(names.map((name) => isDefault(repository, name)));
    assert.deepEqual(found, [true, true, true, false]);
  });

  it("takes the remote's one", async () => {
    const remote = createRepository();
    remote.git('branch', '-m', 'develop');
    const folder = temporaryFolder();
    remote.git('clone', '--quiet', remote.folder, folder);
    assert.equal(await isDefault(remote.at(folder), 'develop'), true);
    assert.equal(await isDefault(remote.at(folder), 'main'), false);
    assert.equal(await isDefault(remote.at(folder), 'Develop'), false);
    assert.equal(await isDefault(remote.at(folder), 'Develop', true), true);
  });

  it("takes origin's one if there are several remotes, or else that of any", async () => {
    const repository = createRepository();
    const defaultOf = (remote: string, branch: string) =>
      repository.git('symbolic-ref', `refs/remotes/${remote}/HEAD`, `refs/remotes/${remote}/${branch}`);
    const found = () =>
      Promise.all(['main', 'trunk', 'develop'].map((branch) => isDefault(repository, branch)));
    defaultOf('upstream', 'trunk');
    assert.deepEqual(await found(), [false, true, false]);
    defaultOf('mine', 'develop');
    assert.deepEqual(await found(), [false, true, true]);
    defaultOf('origin', 'main');
    assert.deepEqual(await found(), [true, false, false]);
  });
});
