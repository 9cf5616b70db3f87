import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readCommitsSince, readHeadLog } from '../../../../src/extension/history/headLog.ts';
import { findRepository } from '../../../../src/base/git/repository.ts';
import { createRepository } from '../../../helpers/gitRepository.ts';

describe('The log of HEAD', () => {
  it('has the commits, checkouts, merges and resets of a worktree, with what was checked out', async () => {
    const repository = createRepository();
    repository.git('switch', '--quiet', '--create', 'roles');
    repository.git('commit', '--quiet', '--allow-empty', '--message=Add roles: all');
    repository.git('switch', '--quiet', 'main');
    repository.git('merge', '--quiet', 'roles');
    repository.git('reset', '--quiet', '--hard', 'HEAD~1');
    const found = await findRepository(repository.folder);
    assert.ok(found !== undefined);
    const events = await readHeadLog(found, 'main');
    assert.deepEqual(
      events.map(({ kind, text, gitBranch }) => [kind, text, gitBranch]),
      [
        ['reset', 'HEAD~1', 'main'],
        ['merge', 'roles', 'main'],
        ['checkout', 'main', 'main'],
        ['commit', 'Add roles: all', 'roles'],
        ['checkout', 'roles', 'roles'],
        ['commit', 'First', 'main'],
      ],
    );
    const [newest] = events;
    assert.equal(newest?.commit, repository.git('rev-parse', '--short=7', 'HEAD').trim());
    assert.ok(Math.abs((newest?.time ?? 0) - Date.now()) < 60_000);
  });

  it('is empty without the file, and skips other lines', async () => {
    const repository = createRepository();
    const found = await findRepository(repository.folder);
    assert.ok(found !== undefined);
    assert.deepEqual(await readHeadLog({ ...found, gitDir: repository.folder }, 'main'), []);
    writeFileSync(path.join(found.gitDir, 'logs', 'HEAD'), 'garbage\n0 1 x\n');
    assert.deepEqual(await readHeadLog(found, 'main'), []);
  });

  it('is read at its end if it is larger than what is read', async () => {
    const repository = createRepository();
    const found = await findRepository(repository.folder);
    assert.ok(found !== undefined);
    const file = path.join(found.gitDir, 'logs', 'HEAD');
    const last = readFileSync(file, 'utf8');
    const commit = repository.git('rev-parse', 'HEAD').trim();
    const older = `${'1'.repeat(40)} ${'2'.repeat(40)} A <a@example.com> 1700000000 +0000\tcommit: Older\n`;
    writeFileSync(file, older.repeat(20_000) + last);
    const events = await readHeadLog(found, 'main');
    assert.equal(events[0]?.text, 'First');
    const all = events.length;
    assert.ok(all > 5000 && all < 20_000, String(all));
    assert.ok(events.slice(1).every(({ text }) => text === 'Older'));
    assert.ok((await readCommitsSince(found, Date.now() - 60_000))?.has(commit));
    assert.equal(await readCommitsSince(found, 0), undefined);
  });

  it('says which commits HEAD had, unless it begins later or is missing', async () => {
    const repository = createRepository();
    repository.git('commit', '--quiet', '--allow-empty', '--message=Second');
    const found = await findRepository(repository.folder);
    assert.ok(found !== undefined);
    const commits = repository.git('log', '--format=%H').trim().split('\n');
    assert.deepEqual([...((await readCommitsSince(found, 0)) ?? [])].toSorted(), commits.toSorted());
    assert.equal(await readCommitsSince({ gitDir: repository.folder }, 0), undefined);
    repository.git('reflog', 'delete', 'HEAD@{1}');
    assert.equal(await readCommitsSince(found, 0), undefined);
  });
});
