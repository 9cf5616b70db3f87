import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gitRunner } from '../../../../src/base/runGit.ts';
import { findRepository } from '../../../../src/extension/gitBranch/gitState.ts';
import { areUnchangedSince, readMigrations } from '../../../../src/extension/history/migrationFiles.ts';
import { createRepository, type GitRepository } from '../../../helpers/gitRepository.ts';

const runGit = gitRunner(() => 'git');

describe('The migrations of a working tree', () => {
  let repository: GitRepository;

  beforeEach(() => {
    repository = createRepository();
  });

  const write = (name: string, text = '') => {
    const file = path.join(repository.folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const remove = (name: string) => rmSync(path.join(repository.folder, name));
  const commit = () => {
    repository.git('add', '--all');
    repository.git('commit', '--quiet', '--message=Migration');
  };
  const read = () => readMigrations(runGit, repository.folder);
  const isUnchanged = async (since = 0) => {
    const found = await findRepository(repository.folder);
    assert.ok(found);
    return await areUnchangedSince(runGit, repository.folder, found, since);
  };

  it('are the files in their folders that git has, as programs note them', async () => {
    for (const name of ['src/a.sql', 'migrations/README.md']) write(name);
    commit();
    write('migrations/1.sql');
    assert.deepEqual(await read(), []);
    remove('migrations/1.sql');
    write('prisma/migrations/0012_init/migration.sql', 'create');
    write('db/migrate/0007_users.rb');
    commit();
    remove('db/migrate/0007_users.rb');
    const hash = createHash('sha256').update('create').digest('hex');
    assert.deepEqual(await read(), [['migration.sql', 'migration', '0012_init', '', hash]]);
    write('db/migrate/0007_users.rb');
    assert.deepEqual((await read())?.[0]?.slice(0, 4), ['0007_users.rb', '0007_users', 'migrate', '7']);
  });

  it('have changed if a commit of a rebase had other text in one', async () => {
    const git = (...args: string[]) => repository.git(...args);
    write('migrations/1.sql', 'create');
    commit();
    git('checkout', '--quiet', '-b', 'upstream');
    write('migrations/1.sql', 'create more');
    commit();
    git('checkout', '--quiet', '-');
    write('mine.txt');
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

  it('are not known without a repository', async () => {
    assert.equal(await readMigrations(runGit, path.dirname(repository.folder)), undefined);
  });

  it('have the same text as in all commits that were checked out since a time', async () => {
    write('migrations/1.sql', 'a');
    commit();
    write('migrations/2.sql', 'b');
    write('other.txt', 'a');
    commit();
    write('other.txt', 'b');
    commit();
    assert.equal(await isUnchanged(), true);
    repository.git('checkout', '--quiet', 'HEAD~2');
    assert.equal(await isUnchanged(), true);
    write('migrations/1.sql', 'other');
    assert.equal(await isUnchanged(), false);
    commit();
    assert.equal(await isUnchanged(), false);
    assert.equal(await isUnchanged(Date.now() + 10_000), true);
    write('migrations/3.sql', 'git does not have it');
    assert.equal(await isUnchanged(Date.now() + 10_000), false);
  });
});
