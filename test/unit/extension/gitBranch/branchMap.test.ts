/** Timers: base/git/runGit.ts. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createGitRunner } from '../../../../src/base/git/runGit.ts';
import {
  branchMapWriter,
  type BranchMapWriter,
  EMPTY_MAP,
  isInMap,
  gitBranchNameInMap,
  readBranchMap,
} from '../../../../src/extension/gitBranch/branchMap.ts';
import { createRepository, type GitRepository } from '../../../helpers/gitRepository.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { withVariables } from '../../../helpers/withVariables.ts';
import type { BranchRef } from '../../../../src/extension/account/refs.ts';

const runGit = createGitRunner(() => 'git');
const ref = (branchId: string, account = 'local'): BranchRef => ({ account, projectId: 'shop-1', branchId });

describe('The map of git branches to database branches', () => {
  let repository: GitRepository;
  let writer: BranchMapWriter;
  const read = (folder = repository.folder) => readBranchMap(runGit, folder);
  const mapped = async () => [...(await read()).branches];

  beforeEach(() => {
    repository = createRepository();
    writer = branchMapWriter(runGit, repository.folder);
  });

  it('is empty at first', async () => {
    assert.deepEqual({ ...(await read()), ignoresCase: false }, EMPTY_MAP);
  });

  it('of another owner is read if the environment says that it is safe, or else throws what git says', async function () {
    if (process.getuid?.() !== 0) return this.skip();
    await writer.setBranch('one', ref('br-one'));
    execFileSync('chown', ['-R', '12345', repository.folder]);
    await assert.rejects(read(), /dubious ownership/);
    await assert.rejects(writer.setFollowed(true), /dubious ownership/);
    const count = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' };
    const file = path.join(temporaryFolder(), 'config');
    writeFileSync(file, '[safe]\n\tdirectory = *\n');
    for (const configuration of [count, { GIT_CONFIG_GLOBAL: file }, { GIT_CONFIG_SYSTEM: file }])
      await withVariables(configuration, async () =>
        assert.deepEqual(await mapped(), [['one', ref('br-one')]]),
      );
  });

  it('throws if git cannot read it or cannot be run', async () => {
    await assert.rejects(read(temporaryFolder()), /not a git repository/);
    const missing = createGitRunner(() => path.join(repository.folder, 'no-git'));
    await assert.rejects(readBranchMap(missing, repository.folder), /no-git ENOENT/);
  });

  it('throws if git is too slow, which is then ended', async function () {
    if (process.platform === 'win32') return this.skip();
    const slow = path.join(temporaryFolder(), 'git');
    writeFileSync(slow, '#!/bin/sh\nexec sleep 600\n', { mode: 0o700 });
    const run = createGitRunner(() => slow, 1);
    await assert.rejects(readBranchMap(run, repository.folder), /git didn't end in 0\.001 seconds/);
  });

  it('finds the name of a branch in another case only where file names ignore case', async () => {
    await writer.setBranch('Feature', ref('br-one'));
    for (const [ignoresCase, expected] of [
      ['false', ['Feature', 'feature', 'new']],
      ['true', ['Feature', 'Feature', 'new']],
    ] as const) {
      repository.git('config', 'core.ignoreCase', ignoresCase);
      const map = await read();
      assert.deepEqual(
        ['Feature', 'feature', 'new'].map((name) => gitBranchNameInMap(map, name)),
        expected,
      );
    }
  });

  it('is followed if git takes the entry for true', async () => {
    for (const [value, expected] of [
      ['yes', true],
      ['On', true],
      ['1', true],
      ['false', false],
      ['off', false],
      ['0', false],
    ] as const) {
      repository.git('config', 'hostedPostgres.follow', value);
      assert.equal((await read()).isFollowed, expected, value);
    }
    repository.git('config', 'hostedPostgres.follow', 'maybe');
    await assert.rejects(read(), /bad boolean config value 'maybe'/);
    repository.git('config', '--unset', 'hostedPostgres.follow');
    const file = path.join(repository.folder, '.git', 'config');
    appendFileSync(file, '[hostedPostgres]\n\tfollow\n[core]\n\tignoreCase = 2\n');
    const { isFollowed, ignoresCase } = await read();
    assert.deepEqual([isFollowed, ignoresCase], [true, true]);
  });

  it('throws what git says if it cannot be written', async () => {
    const outside = branchMapWriter(runGit, temporaryFolder());
    await assert.rejects(outside.setFollowed(true), /git/);
    const silent = branchMapWriter(async () => ({ code: 1, stdout: '', stderr: '' }), '');
    await assert.rejects(silent.setFollowed(true), { message: 'git failed' });
  });

  it('returns what was written', async () => {
    const account = 'https://console.example.com/api/v2#my work, 100 %';
    await writer.setBranch('feature/a.b', ref('br-one', account));
    await writer.setBranch('main', 'none');
    await writer.setParent(ref('br-root'));
    await writer.setFollowed(true);
    const created = { ...ref('br-one', account), gitBranch: 'feature/a.b' };
    await writer.addCreated(created);
    await writer.addCreated({ ...ref('br-two'), gitBranch: 'x' });
    assert.deepEqual(await read(), {
      ...EMPTY_MAP,
      isFollowed: true,
      branches: new Map<string, BranchRef | 'none'>([
        ['feature/a.b', ref('br-one', account)],
        ['main', 'none'],
      ]),
      parent: ref('br-root'),
      created: [created, { ...ref('br-two'), gitBranch: 'x' }],
    });
    await writer.removeCreated(created);
    assert.deepEqual((await read()).created, [{ ...ref('br-two'), gitBranch: 'x' }]);
  });

  it('is shared by all worktrees', async () => {
    const folder = path.join(repository.folder, '..', 'linked');
    repository.git('worktree', 'add', '--quiet', '-b', 'linked', folder);
    await branchMapWriter(runGit, folder).setBranch('linked', ref('br-one'));
    assert.deepEqual(await mapped(), [['linked', ref('br-one')]]);
  });

  it('keeps an entry when its git branch is renamed, and loses it with the branch', async () => {
    repository.git('branch', 'one');
    await writer.setBranch('one', ref('br-one'));
    repository.git('branch', '-m', 'one', 'Two');
    assert.deepEqual(await mapped(), [['Two', ref('br-one')]]);
    repository.git('branch', '-D', 'Two');
    repository.git('branch', 'Two');
    assert.deepEqual(await mapped(), []);
  });

  it('leaves out what is not valid', async () => {
    repository.git('config', 'hostedPostgres.parent', 'true');
    repository.git('config', '--add', 'hostedPostgres.created', 'local shop-1 br-one');
    for (const value of [
      'local shop-1',
      'local ../x br-one',
      'local shop-1 ep-one',
      '%E0%A4 shop-1 br-one',
      '',
    ]) {
      repository.git('config', 'branch.main.hostedPostgres', value);
      assert.deepEqual(await read(), EMPTY_MAP, value);
    }
  });

  it('contains its branches and the parent', async () => {
    await writer.setBranch('one', ref('br-one'));
    await writer.setParent(ref('br-root'));
    await writer.addCreated({ ...ref('br-old'), gitBranch: 'deleted' });
    const map = await read();
    const found = ['br-one', 'br-root', 'br-old', 'br-other'].map((id) => isInMap(map, ref(id)));
    assert.deepEqual(found, [true, true, true, false]);
    assert.equal(isInMap(map, ref('br-one', 'https://example.com')), false);
  });
});
