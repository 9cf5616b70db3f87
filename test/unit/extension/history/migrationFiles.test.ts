import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createGitRunner } from '../../../../src/base/git/runGit.ts';
import { findRepository } from '../../../../src/base/git/repository.ts';
import { filesNotedAs } from '../../../../src/migrations/filesNotedAs.ts';
import { areUnchangedSince, readMigrationFiles } from '../../../../src/extension/history/migrationFiles.ts';
import { createRepository, type GitRepository } from '../../../helpers/gitRepository.ts';
import { writeFiles } from '../../../helpers/writeFiles.ts';

const runGit = createGitRunner(() => 'git');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('The migrations that a checkout has removed', () => {
  let repository: GitRepository;

  beforeEach(() => {
    repository = createRepository();
  });

  const write = (name: string, text = name) => writeFiles({ [name]: text }, repository.folder);
  const commit = () => {
    repository.git('add', '--all');
    repository.git('commit', '--quiet', '--message=Migration');
  };
  const found = async () => {
    const git = await findRepository(repository.folder);
    assert.ok(git);
    return git;
  };
  const read = async () => readMigrationFiles(runGit, await found());
  const removed = async () => (await read())?.removed.map(({ name }) => name);
  const checkout = (to: string) => repository.git('checkout', '--quiet', to);

  it('are the scripts of the commits that were left, in any folder', async () => {
    write('packages/db/migrations/1.js');
    write('src/db/sql/0001_b.sql');
    write('docs/2.md');
    commit();
    assert.equal(await removed(), undefined);
    checkout('HEAD~1');
    assert.deepEqual(await removed(), ['packages/db/migrations/1.js', 'src/db/sql/0001_b.sql']);
    write('later.sql');
    commit();
    assert.equal(await removed(), undefined);
  });

  it('are those of all commits that were left since something else moved HEAD', async () => {
    write('1.sql');
    commit();
    write('2.sql');
    commit();
    checkout('HEAD~1');
    repository.git('reset', '--quiet', '--hard', 'HEAD~1');
    assert.deepEqual((await removed())?.toSorted(), ['1.sql', '2.sql']);
  });

  for (const [where, change] of [
    ['in another folder', () => write('db/moved/1_b.sql', 'text')],
    ['by another name', () => (write('9_other.sql', 'text'), repository.git('add', '--all'))],
    ['untracked', () => write('db/1_b.sql', 'edited')],
    ['ignored', () => (write('.gitignore', '*.sql'), write('db/1_b.sql'))],
  ] as const)
    it(`leave out those that the working tree still has, ${where}`, async () => {
      write('db/1_b.sql', 'text');
      write('db/2_c.sql');
      commit();
      checkout('HEAD~1');
      assert.deepEqual(await removed(), ['db/1_b.sql', 'db/2_c.sql']);
      change();
      const files = await read();
      assert.ok(files);
      const isRemoved = files.removed.some(({ name }) => name === 'db/1_b.sql');
      assert.equal(isRemoved && filesNotedAs('1_b', files.present, files.hashes).length === 0, false);
    });

  it('are known by the hash of their text', async () => {
    write('sql/0_a.sql', 'a');
    commit();
    write('sql/1_b.sql', 'b');
    commit();
    checkout('HEAD~1');
    const { hashes } = (await read()) ?? {};
    assert.deepEqual(
      [hashes?.get(sha256('a')), hashes?.get(sha256('b'))],
      [['sql/0_a.sql'], ['sql/1_b.sql']],
    );
  });

  it('are not known without a repository or the commit', async () => {
    const parent = path.dirname(repository.folder);
    assert.equal(await readMigrationFiles(runGit, { worktree: parent, gitDir: parent }), undefined);
    write('1.sql');
    commit();
    checkout('HEAD~1');
    const { gitDir } = await found();
    const file = path.join(gitDir, 'logs', 'HEAD');
    const [left = ''] = /[0-9a-f]{40}(?= [0-9a-f]+ [^\n]*\tcheckout)/.exec(readFileSync(file, 'utf8')) ?? [];
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(left, '1'.repeat(40)));
    assert.equal(await removed(), undefined);
  });
});

describe('Migrations of a commit', () => {
  let repository: GitRepository;
  beforeEach(() => {
    repository = createRepository();
  });
  const write = (name: string, text: string) => writeFileSync(path.join(repository.folder, name), text);
  const commit = () => {
    repository.git('add', '--all');
    repository.git('commit', '--quiet', '--message=Migration');
  };
  const isUnchanged = async (since = 0) => {
    const git = await findRepository(repository.folder);
    assert.ok(git);
    return await areUnchangedSince(runGit, git, new Set(['1.sql']), since);
  };

  it('have the same text in all commits that were checked out since a time', async () => {
    write('1.sql', 'a');
    commit();
    write('2.sql', 'b');
    commit();
    write('2.sql', 'c');
    commit();
    assert.equal(await isUnchanged(), true);
    repository.git('checkout', '--quiet', 'HEAD~2');
    assert.equal(await isUnchanged(), true);
    write('1.sql', 'other');
    assert.equal(await isUnchanged(), false);
    commit();
    assert.equal(await isUnchanged(), false);
    assert.equal(await isUnchanged(Date.now() + 10_000), true);
    rmSync(path.join(repository.folder, '1.sql'));
    assert.equal(await isUnchanged(Date.now() + 10_000), false);
  });

  it('have changed if a commit of a rebase had other text in one', async () => {
    const git = (...args: string[]) => repository.git(...args);
    write('1.sql', 'create');
    commit();
    git('checkout', '--quiet', '-b', 'upstream');
    write('1.sql', 'create more');
    commit();
    git('checkout', '--quiet', '-');
    write('mine.txt', '');
    commit();
    // Upstream is checked out only by the rebase.
    const logFile = path.join(repository.folder, '.git', 'logs', 'HEAD');
    const last = readFileSync(logFile, 'utf8').trimEnd().split('\n').at(-1) ?? '';
    writeFileSync(logFile, `${last.replace(/^\w+/, '0'.repeat(40))}\n`);
    assert.equal(await isUnchanged(), true);
    git('rebase', '--quiet', 'upstream');
    git('reset', '--quiet', '--hard', 'ORIG_HEAD');
    assert.equal(await isUnchanged(), false);
  });
});
