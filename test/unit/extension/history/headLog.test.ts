import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readHeadLog } from '../../../../src/extension/history/headLog.ts';
import { findRepository } from '../../../../src/extension/gitBranch/gitState.ts';
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
});
